package consensus

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// cluster runs members under faults, all drawn from one seed: messages are
// lost, duplicated, delayed and so reordered, links are cut one way, members
// crash between any two durable steps, lose power, and come back. It checks
// that
//
//   - no two members lead in one term,
//   - no two members commit different entries at one op, and none leaves one out,
//   - a read is answered with an index at or above all that was committed
//     anywhere when it began,
//   - no member forgets a change of membership that it has acted upon,
//   - no member comes back suspect or panics.
type cluster struct {
	options
	rand    *rand.Rand
	now     int
	members []*member
	wire    []parcel
	cut     [6][6]bool // from, to
	healthy bool       // no more faults

	leaders   map[uint64]uint64 // by term
	committed []raftlog.Entry   // the first is op 2
	digest    hash.Hash64
	reads     uint64
	violation error

	// What happened, so that a test can tell that it happened at all.
	elections, crashes, losses, answered, proposed, rejoined int

	fetches            []fetch
	compacted, fetched int
}

type options struct {
	seed    uint64
	voters  int
	defects defect.Set
	noSync  bool // the caller never syncs, whatever a batch asks for
	// replicated: only term, vote and membership are synced. A member that loses
	// power comes back under another id, unless sameID.
	replicated, sameID bool
	// compact: members drop what they have applied, and fetch what others dropped.
	compact bool
}

type parcel struct {
	at    int
	to    uint64
	bytes []byte
}

type member struct {
	id      uint64 // machine + 10 × the times that it lost its memory
	joining bool   // it lost its memory, and is not a voter again
	changes []Changed
	log     *memLog
	node    *Node // nil: down
	batch   *Batch
	syncAt  int
	upAt    int
	boots   uint64
	applied op.Number // handed out in this boot
	kept    op.Number // applied and durable
	reads   map[uint64]op.Number
}

const (
	heartbeatTicks = 5
	electionTicks  = 30
)

func newCluster(o options) *cluster {
	c := &cluster{options: o, rand: rand.New(rand.NewPCG(o.seed, 1)), leaders: map[uint64]uint64{}, digest: fnv.New64a()}
	for id := range o.voters {
		m := &member{id: uint64(id + 1), log: &memLog{}}
		c.members = append(c.members, m)
		c.boot(m)
	}
	return c
}

func (c *cluster) boot(m *member) {
	m.boots++
	m.applied, m.reads, m.batch = max(m.kept, 1), map[uint64]op.Number{}, nil
	var voters []uint64
	for i := range c.voters {
		voters = append(voters, uint64(i+1))
	}
	members := Membership{Voters: voters}
	var acted op.Number
	for _, ch := range m.changes {
		acted = max(acted, ch.Op)
		if ch.Op <= m.kept {
			members = ch.Members
		}
	}
	var persisted func(*raftlog.Entry) bool
	if c.replicated {
		persisted = func(*raftlog.Entry) bool { return false }
	}
	n, err := New(Config{
		ID: m.id, Members: members, Log: m.log, Applied: m.kept, Persisted: persisted,
		Rand:           rand.New(rand.NewPCG(c.seed, m.id<<32|m.boots)),
		HeartbeatTicks: heartbeatTicks, ElectionTicks: electionTicks, Defects: c.defects,
	})
	if err != nil {
		c.fail(fmt.Errorf("member %d: %w", m.id, err))
		return
	}
	if commit := n.Status().Commit; commit < acted {
		c.fail(fmt.Errorf("member %d acted upon the change at op %d, and starts from op %d", m.id, acted, commit))
	}
	m.node = n
}

// run runs for ticks and then, faults over, until all is at rest.
func (c *cluster) run(ticks int) error {
	for c.now < ticks && c.violation == nil {
		c.tick()
	}
	c.healthy = true
	c.cut = [6][6]bool{}
	for range 2000 {
		if c.violation != nil {
			return c.violation
		}
		if c.tick(); c.atRest() {
			return c.violation
		}
	}
	c.fail(fmt.Errorf("not at rest 2000 ticks after the last fault"))
	return c.violation
}

// atRest tells that every member is up and handed out all that is committed,
// under one leader whose own entry is among it.
func (c *cluster) atRest() bool {
	var leader *member
	for _, m := range c.members {
		if m.node == nil || m.joining || int(m.applied) != len(c.committed)+1 || len(m.reads) > 0 {
			return false
		}
		if s := m.node.Status(); s.Role == Leader && s.OwnTermEntry > 0 && m.applied >= s.OwnTermEntry {
			leader = m
		}
	}
	if leader == nil {
		return false
	}
	for _, m := range c.members {
		if s, l := m.node.Status(), leader.node.Status(); s.Leader != leader.id || s.Term != l.Term {
			return false
		}
	}
	return true
}

func (c *cluster) tick() {
	c.now++
	if !c.healthy && c.chance(50) {
		a, b := c.rand.IntN(c.voters)+1, c.rand.IntN(c.voters)+1
		c.cut[a][b] = c.chance(2)
	}
	for _, m := range c.members {
		switch {
		case m.node == nil:
			if c.now >= m.upAt {
				c.boot(m)
			}
		case c.fault(400):
			c.crash(m)
		default:
			c.guard(m, func() { c.drive(m) })
		}
	}
	c.deliver()
	c.fetch()
}

// drive lets one tick of one member pass: time, work of clients, batches.
func (c *cluster) drive(m *member) {
	m.node.Tick()
	if s := m.node.Status(); s.Role == Leader {
		if other, ok := c.leaders[s.Term]; ok && other != m.id {
			c.fail(fmt.Errorf("members %d and %d both lead in term %d", other, m.id, s.Term))
		}
		if c.leaders[s.Term] == 0 {
			c.elections++
		}
		c.leaders[s.Term] = m.id
		if !c.healthy && c.chance(3) {
			c.proposed++
			_ = m.node.Propose(fmt.Appendf(nil, "proposal %d", c.proposed))
		}
		if !c.healthy && c.chance(20) {
			c.reads++
			if m.node.ReadIndex(c.reads) == nil {
				m.reads[c.reads] = op.Number(len(c.committed) + 1)
			}
		}
	} else {
		clear(m.reads) // lost with the leadership, or answered late and ignored
	}
	c.rejoin(m)
	if c.compact {
		c.drop(m)
	}
	c.pump(m)
}

// rejoin lets a leader take members in that lost their memory, and tells those
// that are voters again.
func (c *cluster) rejoin(m *member) {
	if now := m.node.Members(); m.joining && now.Voter(m.id) && !now.Joint() {
		m.joining = false
		c.rejoined++
	}
	if s := m.node.Status(); s.Role != Leader || m.applied < s.OwnTermEntry || s.OwnTermEntry == 0 || c.now%20 != 0 {
		return
	}
	for _, j := range c.members {
		now := m.node.Members()
		if !j.joining || j.node == nil || now.Joint() || now.Voter(j.id) {
			continue
		}
		change := Change{Add: j.id, Learner: true}
		if match, ok := m.node.Match(j.id); ok && match >= m.node.Status().Commit {
			change.Learner = false
		} else if now.Has(j.id) {
			continue
		}
		for _, id := range append(slices.Clone(now.Voters), now.Learners...) {
			if id%10 == j.id%10 && id != j.id && !(change.Learner && now.Voter(id)) {
				change.Remove = append(change.Remove, id)
			}
		}
		_ = m.node.ProposeChange(change)
	}
}

// pump takes batches through their steps as far as the disk allows.
func (c *cluster) pump(m *member) {
	for {
		if m.batch == nil {
			b, ok := m.node.Ready()
			if !ok {
				return
			}
			m.log.Append(b.State, b.Entries)
			m.log.Append(b.After, nil)
			if c.fault(500) {
				c.crash(m)
				return
			}
			c.send(b.Early)
			m.batch, m.syncAt = &b, c.now
			if b.MustSync {
				m.syncAt += c.rand.IntN(3)
			}
		}
		b := m.batch
		if c.now < m.syncAt {
			return
		}
		if c.fault(500) {
			c.crash(m)
			return
		}
		if b.MustSync && !c.noSync {
			m.log.Sync()
		}
		if c.fault(500) {
			c.crash(m)
			return
		}
		c.send(b.Late)
		m.changes = append(m.changes, m.node.Advance()...)
		m.batch = nil
		c.apply(m, b)
	}
}

func (c *cluster) apply(m *member, b *Batch) {
	for _, e := range b.Committed {
		if e.Op != m.applied+1 {
			c.fail(fmt.Errorf("member %d commits op %d after %d", m.id, e.Op, m.applied))
			return
		}
		m.applied = e.Op
		k := int(e.Op) - 2
		if k == len(c.committed) {
			c.committed = append(c.committed, e)
		}
		if was := c.committed[k]; was.Term != e.Term || string(was.Data) != string(e.Data) {
			c.fail(fmt.Errorf("member %d commits %q of term %d at op %d, another one %q of term %d", m.id, e.Data, e.Term, e.Op, was.Data, was.Term))
		}
		c.note(uint64(c.now), m.id, uint64(e.Op), e.Term)
	}
	if len(b.Committed) > 0 && c.chance(10) {
		m.kept = m.applied
	}
	for _, r := range b.Reads {
		floor, ok := m.reads[r.Ctx]
		if ok && r.Index < floor {
			c.fail(fmt.Errorf("member %d answers a read with op %d, %d was committed when it began", m.id, r.Index, floor))
		}
		delete(m.reads, r.Ctx)
		c.answered++
		c.note(uint64(c.now), m.id, r.Ctx, uint64(r.Index))
	}
}

func (c *cluster) send(ms []*raftpb.Message) {
	for _, msg := range ms {
		bytes, err := proto.Marshal(msg)
		if err != nil {
			panic(err)
		}
		_, _ = c.digest.Write(bytes)
		if c.cut[msg.GetFrom()%10][msg.GetTo()%10] || c.fault(10) {
			continue
		}
		for copies := 1; copies > 0; copies-- {
			at := c.now + c.rand.IntN(3)
			if c.fault(10) {
				at += c.rand.IntN(60)
			}
			if c.fault(10) {
				copies++
			}
			c.wire = append(c.wire, parcel{at: at, to: msg.GetTo(), bytes: bytes})
		}
	}
}

func (c *cluster) deliver() {
	wire := c.wire
	c.wire = nil
	for _, p := range wire {
		m := c.members[p.to%10-1]
		if p.at > c.now {
			c.wire = append(c.wire, p)
			continue
		}
		if m.node == nil {
			continue
		}
		msg := &raftpb.Message{}
		if err := proto.Unmarshal(p.bytes, msg); err != nil {
			panic(err)
		}
		c.guard(m, func() {
			if err := m.node.Step(msg); err != nil && !c.replicated {
				c.fail(err)
			}
			if o, ok := m.node.Offered(); ok {
				c.fetches = append(c.fetches, fetch{Offer: o, by: m.id, boot: m.boots, at: c.now + 1 + c.rand.IntN(60<<(2*c.rand.IntN(3)))})
			}
			c.pump(m)
		})
	}
}

func (c *cluster) crash(m *member) {
	m.node, m.batch = nil, nil
	m.upAt = c.now + 1 + c.rand.IntN(100)
	c.crashes++
	if c.chance(2) && c.mayLose(m) {
		c.losses++
		m.log.PowerLoss(c.rand)
		if c.replicated && !c.sameID {
			m.id, m.joining, m.log, m.kept, m.changes = m.id+10, true, &memLog{}, 0, nil
		}
	}
}

// mayLose: no majority is without its memory.
func (c *cluster) mayLose(m *member) bool {
	n := 1
	for _, j := range c.members {
		if j.joining && j != m {
			n++
		}
	}
	return !c.replicated || n <= (c.voters-1)/2
}

// guard is the boundary at which a panic stops a member.
func (c *cluster) guard(m *member, f func()) {
	n := m.node
	defer func() {
		if v := recover(); v != nil {
			c.fail(fmt.Errorf("member %d: %w", m.id, n.Recovered(v)))
		}
	}()
	f()
}

func (c *cluster) fail(err error) {
	if c.violation == nil {
		c.violation = fmt.Errorf("seed %d, tick %d: %w", c.seed, c.now, err)
	}
}

func (c *cluster) chance(oneIn int) bool { return c.rand.IntN(oneIn) == 0 }
func (c *cluster) fault(oneIn int) bool  { return !c.healthy && c.chance(oneIn) }

func (c *cluster) note(vs ...uint64) {
	for _, v := range vs {
		_, _ = c.digest.Write(binary.BigEndian.AppendUint64(nil, v))
	}
}
