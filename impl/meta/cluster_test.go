package meta

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/consensus"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// plane is a metadata plane in one loop: rounds of ticks, disk work and
// deliveries. A link may be cut; nothing else is lost.
type plane struct {
	t       testing.TB
	cfg     Config
	disks   []*crashfs.Disk
	members []*Machine // nil: down
	cut     []bool     // machines that nobody reaches
	boots   uint64
	inbox   []Message
	answers map[uint64]Reply
	token   uint64
	rand    *rand.Rand
}

func newPlane(t testing.TB, n int, seed uint64) *plane {
	p := &plane{t: t, answers: map[uint64]Reply{}, cut: make([]bool, n), rand: rand.New(rand.NewPCG(seed, 9))}
	p.cfg = Config{Cluster: 1, Dir: "meta", Sessions: 8, GapEvery: 5, HeartbeatTicks: 2, ElectionTicks: 10, JournalBytes: 1 << 10,
		Initial: []Placement{{0, 0}, {0, 1}, {7, 2}}}
	for i := range n {
		p.cfg.Members = append(p.cfg.Members, i+1)
		d := crashfs.New()
		require.NoError(t, d.FS().Mkdir("test", "meta"))
		require.NoError(t, d.FS().SyncDir("test", "."))
		cfg := p.cfg
		cfg.ID, cfg.FS = i+1, d.FS()
		require.NoError(t, Format(cfg))
		p.disks, p.members = append(p.disks, d), append(p.members, nil)
	}
	for i := range n {
		p.boot(i + 1)
	}
	return p
}

func (p *plane) boot(id int) {
	cfg := p.cfg
	p.boots++
	cfg.ID, cfg.FS, cfg.Rand = id, p.disks[id-1].FS(), rand.New(rand.NewPCG(uint64(id), p.boots))
	m, err := Open(cfg)
	require.NoError(p.t, err)
	p.members[id-1] = m
}

// crash takes a machine down, boot brings it back.
func (p *plane) crash(id int, power bool) {
	p.members[id-1] = nil
	if power {
		p.disks[id-1].PowerLoss(p.rand)
	} else {
		p.disks[id-1].ProcessCrash()
	}
}

func (p *plane) step(id int, in Input) {
	m := p.members[id-1]
	if m == nil {
		return
	}
	out, err := m.Step(in)
	if errors.Is(err, vfs.ErrCrashed) {
		p.members[id-1] = nil
		return
	}
	require.NoError(p.t, err)
	for _, x := range out.Messages {
		if !p.cut[id-1] {
			p.inbox = append(p.inbox, x)
		}
	}
	for _, a := range out.Answers {
		p.answers[a.Token] = a.Reply
	}
}

func (p *plane) rounds(n int) {
	for range n {
		for id := range p.members {
			p.step(id+1, Input{Tick: true})
			p.step(id+1, Input{Work: true})
		}
		inbox := p.inbox
		p.inbox = nil
		for i := range inbox {
			if !p.cut[inbox[i].To-1] {
				p.step(inbox[i].To, Input{Message: &inbox[i]})
			}
		}
	}
}

func (p *plane) leader() int {
	best, term := 0, uint64(0)
	for id, m := range p.members {
		if m != nil && !p.cut[id] {
			if v := m.View(); v.Role == consensus.Leader && v.Term > term {
				best, term = id+1, v.Term
			}
		}
	}
	return best
}

// send gives a command to the leader once; the answer may never come.
func (p *plane) send(r *Request) uint64 {
	for range 200 {
		if p.leader() != 0 {
			break
		}
		p.rounds(1)
	}
	require.NotZero(p.t, p.leader(), "nobody leads")
	p.token++
	p.step(p.leader(), Input{Call: &Call{Token: p.token, Request: r}})
	return p.token
}

// do repeats a command until it is answered.
func (p *plane) do(r Request) Reply {
	for range 50 {
		token := p.send(&r)
		for range 60 {
			if a, ok := p.answers[token]; ok {
				if a.Code.Retriable() {
					break
				}
				return a
			}
			p.rounds(1)
		}
	}
	require.Fail(p.t, "not answered", "%v", r)
	return Reply{}
}

// caller is a client with a session.
type caller struct {
	p       *plane
	session op.Session
	last    op.Sequence
}

func (p *plane) caller() *caller {
	return &caller{p: p, session: p.do(Request{Kind: Register}).Session}
}

func (c *caller) next(r Request) Request {
	c.last++
	r.Session, r.Sequence = c.session, c.last
	return r
}

func (c *caller) do(r Request) Reply { return c.p.do(c.next(r)) }

// one is the only result of a reply.
func one(t testing.TB, r Reply) Result {
	require.Equal(t, op.OK, r.Code)
	require.Len(t, r.Results, 1)
	return r.Results[0]
}

// agree brings everybody up and to the same state, and returns it.
func (p *plane) agree() *State {
	for id := range p.members {
		p.cut[id] = false
		if p.members[id] == nil {
			p.disks[id].ProcessCrash()
			p.boot(id + 1)
		}
	}
	for range 300 {
		p.rounds(1)
		if p.same() {
			break
		}
	}
	first := p.members[0].State()
	for _, m := range p.members[1:] {
		require.Equal(p.t, first, m.State())
	}
	return first
}

func (p *plane) same() bool {
	if p.leader() == 0 {
		return false
	}
	for _, m := range p.members {
		if v := m.View(); v.Applied != v.Last || v.Last != p.members[0].View().Last || v.Pending {
			return false
		}
	}
	return true
}
