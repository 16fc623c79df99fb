package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/linearizability/history"
	"purgelab/linearizability/invariant"
	"purgelab/model/op"
)

const (
	tickMillis     = 10
	heartbeatTicks = 5
	electionTicks  = 30 // not a power of two: see timers
	restTicks      = 15 // in which everybody hears of what was committed
	patienceTicks  = 600
	drainLimit     = 2000 // more work than that at one instant has no end
)

// world is one partition of a cluster, with its replicas and what is asked of it.
// Nothing in it is drawn.
type world struct {
	*cluster
	id    op.Partition // in files
	nodes []*node      // by id, from 1
	queue []replica.Message
	turn  int // who worked last

	intents   []replica.Intent
	clients   []*client
	calls     []*call      // not answered
	shard     op.Partition // in histories: another one when it is created again, and when its op numbers begin anew
	deleted   bool
	committed op.Number
	incarnations
}

// cluster is what the partitions have in common.
type cluster struct {
	s       *Scenario
	design  replica.Design
	policy  replica.Policy
	defects defect.Set
	plane   *plane // nil: no replica loses its memory

	all       []*world
	cut       [][]bool // from, to
	now       int64
	boots     uint64
	token     uint64
	processes int
	shards    op.Partition // given out

	rec      history.Recorder
	place    int // of the last answer in the history
	watch    *invariant.Checker
	restless bool // some work had no end
}

// machine has a disk that outlives its replicas.
type machine struct {
	id     int
	disk   *crashfs.Disk
	faults *faultfs.Set
	power  bool // what the armed crash is
	left   int  // calls until then
	up     bool
	downs  int
	dark   bool // without power
	losses uint64
}

// node is the replica of a partition on a machine.
type node struct {
	*machine
	member *replica.Replica // nil: down
	work   bool
	ended  error // why the replica stopped by itself

	// Of which incarnation it is, from whose op numbers to those of the line it is
	// that many.
	incarnation     op.Incarnation
	shift           op.Number
	sealed, copying bool
	stood           *replica.Standing // as the plane was told
	members         int               // how many members it has been, after the first one
}

// newWorld gives the first partition of a new cluster.
func newWorld(s *Scenario, way Way, defects defect.Set) *world {
	d := way.Design
	c := &cluster{s: s, design: d, policy: way.Policy, defects: defects, watch: invariant.New(s.Replicas, s.Partitions+len(s.Steps), len(s.clients)+1)}
	c.watch.Design(d)
	c.watch.Promises(c.policy.Messages == replica.Persisted, c.policy.Bookmarks == replica.Persisted)
	c.watch.Policy(c.policy)
	if !s.damages && !s.replaces {
		c.watch.Sound()
	}
	if s.forgetful(way) {
		c.plane = newPlane(c)
	}
	c.cut = make([][]bool, s.Replicas+1)
	for i := range c.cut {
		c.cut[i] = make([]bool, s.Replicas+1)
	}
	machines := make([]*machine, s.Replicas+1)
	for id := 1; id <= s.Replicas; id++ {
		machines[id] = &machine{id: id, disk: crashfs.New(), faults: faultfs.NewSet()}
	}
	for p := range s.Partitions {
		w := &world{cluster: c, id: op.Partition(p), nodes: make([]*node, s.Replicas+1)}
		w.shard = w.newShard()
		w.latest, w.began = 1, 1
		c.all = append(c.all, w)
		for i := range len(s.clients) + 1 {
			w.clients = append(w.clients, &client{index: i, process: c.processes})
			c.processes++
		}
		for id := 1; id <= s.Replicas; id++ {
			w.nodes[id] = &node{machine: machines[id]}
			w.boot(w.nodes[id])
		}
	}
	return c.all[0]
}

func (c *cluster) newShard() op.Partition {
	c.shards++
	return c.shards - 1
}

// dirOf is where a replica of an incarnation lives on its disk.
func (w *world) dirOf(i op.Incarnation) string {
	if i == 1 {
		return fmt.Sprintf("p%d", w.id)
	}
	return fmt.Sprintf("p%d-i%d", w.id, i)
}

// mkdir makes that folder, if it is not there.
func (w *world) mkdir(n *node) {
	fs := n.disk.FS()
	if _, err := fs.List(w.dirOf(n.incarnation)); err == nil {
		return
	}
	if err := errors.Join(fs.Mkdir("scenario", w.dirOf(n.incarnation)), fs.SyncDir("scenario", ".")); err != nil {
		panic(err) // nothing breaks a disk in memory but what was armed
	}
}

// recreate deletes the partition and creates it again under its name.
func (w *world) recreate() {
	w.shard = w.newShard()
	w.latest++
	w.deleted = false
	w.queue, w.intents, w.committed = nil, nil, 0
	for _, c := range w.clients {
		c.session = 0
	}
	for _, n := range w.nodes[1:] {
		n.member, n.work = nil, false
		n.disk.Arm(nil)
		if n.up {
			w.boot(n)
		}
	}
}

// remove deletes the partition.
func (w *world) remove() {
	w.deleted = true
	w.queue = nil
	for _, n := range w.nodes[1:] {
		n.member, n.work = nil, false
	}
}

// timers makes every election timer the longest, so that ticks alone decide who
// campaigns; the rest of its numbers name a boot and count.
type timers struct{ boot, count uint64 }

func (t *timers) Uint64() uint64 {
	t.count++
	return 0xfff<<52 | t.boot&0xfff<<40 | t.count
}

func (w *world) boot(n *node) {
	w.boots++
	n.up, n.dark = true, false
	was := n.incarnation
	n.incarnation = w.present(n)
	n.member, n.stood, n.sealed = nil, nil, false
	w.mkdir(n)
	c := w.config(n)
	if n.incarnation != was { // of this one nothing was there
		fresh := c
		if fresh.FS = n.disk.FS(); replica.Format(fresh) != nil {
			panic("scenario: a disk in memory failed")
		}
	}
	c.HeartbeatTicks, c.ElectionTicks, c.Sessions = heartbeatTicks, electionTicks, 64
	c.CheckpointOps, c.SegmentBytes, c.JournalBytes = w.s.Checkpoint, w.s.Segment, w.s.Journal
	c.Compact.Ops = w.s.Compact
	c.Rand, c.Sink, c.Defects = rand.New(&timers{boot: w.boots}), sink{w, n.id, w.shard}, w.defects
	r, err := replica.Open(c)
	if err != nil {
		w.stopped(n, err)
		return
	}
	n.member, n.work, n.ended = r, true, nil
	if w.ran(n); n.member != nil && len(w.intents) > 0 {
		w.step(n, replica.Input{Intents: w.intents})
	}
}

// present is the incarnation that a machine is to run, as far as it knows.
func (w *world) present(n *node) op.Incarnation {
	if w.plane == nil {
		return w.latest
	}
	return w.decided(n).Incarnation
}

// sink is what a replica tells to those who watch.
type sink struct {
	w     *world
	id    int
	shard op.Partition
}

func (s sink) Observe(e observe.Event) {
	e.Time, e.Replica, e.Partition = s.w.now, s.id, s.shard
	switch e.Action {
	case "Commit":
		s.w.committed = max(s.w.committed, e.Op)
	case "NewIncarnation":
		s.w.beginning(&e)
	case "Rejoin":
		s.w.nodes[s.id].members++
	}
	s.w.watch.Observe(e)
}

// step gives one input to a replica and spreads what comes out.
func (w *world) step(n *node, in replica.Input) {
	if n.member == nil {
		return
	}
	in.Now = w.now
	out, err := n.member.Step(in)
	if err != nil {
		w.stopped(n, err)
		return
	}
	for _, m := range out.Messages {
		if m.Raft.GetType() == raftpb.MsgAppResp && !m.Raft.GetReject() {
			w.watch.Acknowledged(n.id, w.shard, op.Number(m.Raft.GetIndex())+n.shift)
		}
		w.queue = append(w.queue, m)
	}
	n.work = out.Work
	if n.copying {
		w.ran(n)
	}
	if w.s.Replicas == 1 && n.member != nil {
		w.watch.Acknowledged(1, w.shard, n.member.View().Committed)
	}
	for i := range out.Answers {
		w.answered(n, &out.Answers[i])
	}
	if n.member != nil {
		w.watch.Stepped(w.now, n.id, w.shard, n.member)
	}
}
