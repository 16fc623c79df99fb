package replica

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// cluster is replicas in one loop with nothing lost between them: what is under
// test is one replica's steps, not the network.
type cluster struct {
	t        testing.TB
	cfg      Config
	disks    []*crashfs.Disk
	replicas []*Replica // nil: down
	boots    int
	losses   map[int]uint64 // of power, by machine
	now      int64
	token    uint64
	answers  map[uint64]op.Reply
	events   []observe.Event
	inbox    []Message
	faults   []*faultfs.Set // per disk, nil: none
	stopped  map[int]error  // replicas that stopped although their disk did not crash
}

func (c *cluster) Observe(e observe.Event) { c.events = append(c.events, e) }

func newCluster(t testing.TB, n int, d defect.Set) *cluster {
	return newClusterOf(t, n, func(cfg *Config) { cfg.Defects = d })
}

func newClusterOf(t testing.TB, n int, change func(*Config)) *cluster {
	c := &cluster{t: t, answers: map[uint64]op.Reply{}, stopped: map[int]error{}, losses: map[int]uint64{}, faults: make([]*faultfs.Set, n)}
	c.cfg = Config{Cluster: 1, Dir: "p0", HeartbeatTicks: 5, ElectionTicks: 30, CheckpointOps: 1000, Sessions: 4,
		SegmentBytes: 1 << 12, JournalBytes: 1 << 16, Sink: c}
	change(&c.cfg)
	for i := range n {
		c.cfg.Members = append(c.cfg.Members, i+1)
		c.disks = append(c.disks, crashfs.New())
		fs := c.disks[i].FS()
		require.NoError(t, fs.Mkdir("test", "p0"))
		require.NoError(t, fs.SyncDir("test", "."))
		c.format(i + 1)
		c.replicas = append(c.replicas, nil)
	}
	for i := range n {
		require.NoError(t, c.boot(i+1))
	}
	return c
}

// format makes the disk of a replica that is created.
func (c *cluster) format(id int) {
	cfg := c.cfg
	cfg.ID, cfg.FS = id, c.disks[id-1].FS()
	require.NoError(c.t, Format(cfg))
}

func (c *cluster) boot(id int) error {
	cfg := c.cfg
	c.boots++
	cfg.BootID = 1 + c.losses[id]
	cfg.ID, cfg.FS, cfg.Rand = id, c.disks[id-1].FS(), rand.New(rand.NewPCG(uint64(id), uint64(c.boots)))
	if s := c.faults[id-1]; s != nil {
		cfg.FS = s.Wrap(cfg.FS)
	}
	r, err := Open(cfg)
	if err == nil {
		c.replicas[id-1] = r
		delete(c.stopped, id)
	}
	return err
}

func (c *cluster) crash(id int, power bool) {
	c.replicas[id-1] = nil
	if power {
		c.losses[id]++
		c.disks[id-1].PowerLoss(rand.New(rand.NewPCG(7, c.token)))
	} else {
		c.disks[id-1].ProcessCrash()
	}
}

// step gives one input; a crashed disk takes the replica down.
func (c *cluster) step(id int, in Input) (work bool) {
	r := c.replicas[id-1]
	if r == nil {
		return false
	}
	in.Now = c.now
	out, err := r.Step(in)
	if errors.Is(err, vfs.ErrCrashed) {
		c.replicas[id-1] = nil
		return false
	}
	if c.faults[id-1] != nil && err != nil {
		c.replicas[id-1], c.stopped[id] = nil, err
		return false
	}
	require.NoError(c.t, err)
	c.inbox = append(c.inbox, out.Messages...)
	for _, a := range out.Answers {
		c.answers[a.Token] = a.Reply
	}
	return out.Work
}

// settle delivers messages and does work until nothing is left to do.
func (c *cluster) settle() {
	for range 10000 {
		busy := false
		for id := range c.replicas {
			if r := c.replicas[id]; r != nil && r.hasWork() {
				c.step(id+1, Input{Work: true})
				busy = true
			}
		}
		inbox := c.inbox
		c.inbox = nil
		for i := range inbox {
			c.step(inbox[i].To, Input{Message: &inbox[i]})
			busy = true
		}
		if !busy {
			return
		}
	}
	c.t.Fatal("the cluster does not come to rest")
}

// turn lets a tick pass, and goes on until nothing is left to do, or until stop is so,
// which is asked before everything that is done. A message that lost is true of does not
// arrive.
func (c *cluster) turn(stop func() bool, lost func(m *Message) bool) {
	c.now += 10
	for id := range c.replicas {
		c.step(id+1, Input{Tick: true})
	}
	for busy := true; busy; {
		busy = false
		for id, r := range c.replicas {
			if !stop() && r.hasWork() {
				c.step(id+1, Input{Work: true})
				busy = true
			}
		}
		for len(c.inbox) > 0 && !stop() {
			m := c.inbox[0]
			c.inbox = c.inbox[1:]
			if !lost(&m) {
				c.step(m.To, Input{Message: &m})
				busy = true
			}
		}
	}
}

func never() bool        { return false }
func none(*Message) bool { return false }

func (c *cluster) leader() int {
	for id, r := range c.replicas {
		if r != nil && r.leading && r.readyToLead() {
			return id + 1
		}
	}
	return 0
}

// elect ticks until some replica leads.
func (c *cluster) elect() {
	for range 5000 {
		c.settle()
		if c.leader() != 0 {
			return
		}
		c.now += 10
		for id := range c.replicas {
			c.step(id+1, Input{Tick: true})
		}
	}
	c.t.Fatal("no leader")
}

// ask sends a request to the leader and does not wait.
func (c *cluster) ask(req *op.Request) uint64 {
	c.token++
	c.step(c.leader(), Input{Request: &Request{Token: c.token, Op: req}})
	return c.token
}

// do waits for the answer.
func (c *cluster) do(req *op.Request) op.Reply {
	token := c.ask(req)
	c.settle()
	reply, ok := c.answers[token]
	require.True(c.t, ok, "no answer to %v", req.Kind)
	return reply
}

func (c *cluster) append(ps ...string) op.Reply {
	req := &op.Request{Kind: op.Append}
	for _, p := range ps {
		req.Payloads = append(req.Payloads, op.Payload(p))
	}
	return c.do(req)
}

func (c *cluster) purge(g op.Generation) op.Reply {
	return c.do(&op.Request{Kind: op.Purge, Intent: g})
}

// first polls from the start and shows position and payloads.
func (c *cluster) first() string {
	return show(c.do(&op.Request{Kind: op.Poll, Strategy: op.First, Max: 100}))
}

func show(r op.Reply) string {
	var s []string
	for _, rec := range r.Records {
		s = append(s, string(rec.Payload))
	}
	return strings.TrimSpace(fmt.Sprintf("%v %v %s", r.Code, r.Position, strings.Join(s, " ")))
}

func (c *cluster) actions(id int) string {
	var s []string
	for _, e := range c.events {
		if e.Replica == id {
			a := string(e.Action)
			if e.Op > 0 {
				a += fmt.Sprintf("(%d)", e.Op)
			}
			s = append(s, a)
		}
	}
	return strings.Join(s, " ")
}
