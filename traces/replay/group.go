package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/consensus"
	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// group leads several replicas through a behaviour. They talk to each other by the
// messages of raft, which the driver holds back, cuts and drops: a follower is brought
// as much of the log as the behaviour needs and a leader hears of as much.
type group struct {
	design  replica.Design
	policy  replica.Policy
	defects defect.Set
	members []*member // by id, from 1
	plane   *plane
	queue   []replica.Message
	aside   []replica.Message // of other things than raft's
	answers []replica.Answer
	lead    int // who leads, 0: nobody
	// has is how much of its log the leader knows or could know a follower to have, since
	// it leads.
	has   []uint64
	watch Watch  // nil: nobody else looks
	moves *moves // states that they take from each other, nil: they take none

	incarnation op.Incarnation
	goesOn      *replica.Base // that it goes on from, nil in the first one
	begun       []int         // ops of the specification with which later ones began
	basis       op.Number     // the last op of the ones before, 1 if there are none
	change      change        // of members, the last that was proposed
	most        []op.Position // up to where they can agree with the ones before
	claimed     *Difference   // a replica says that one agrees further
	agreed      *agreed       // that it is led through AgreedLog, nil: it is not
}

// member is one of them with its machine.
type member struct {
	g     *group
	id    int
	disk  *crashfs.Disk
	r     *replica.Replica // nil: down
	boots uint64
	seen  []observe.Event
	pull  pulling
	saved op.Number // its last checkpoint

	home      string // of its files
	losses    uint64 // of power
	formatted bool   // the folder of its present incarnation
	apart     bool   // it is no member: it is brought nothing
	dark      bool   // it lost power since it was booted
}

// base is how many ops of the implementation come before the specification's first: the
// bootstrap, the empty one of the first leader, and the registration of the session.
const base = 3

const electionTicks, heartbeatTicks = 30, 1

const journalBytes = 1 << 16 // more than a journal comes to

// newGroup is a group whose first replica leads, and nobody asked anything. If it moves,
// they take each other's state.
func newGroup(n int, design replica.Design, policy replica.Policy, defects defect.Set, moving bool) (*group, error) {
	g := &group{design: design, policy: policy, defects: defects}
	if moving {
		g.moves = newMoves()
	}
	if err := g.begin(n); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return g, nil
}

// begin makes a group that was just made one of n replicas.
func (g *group) begin(n int) error {
	g.members, g.incarnation, g.basis = make([]*member, n+1), 1, 1
	var err error
	if g.plane, err = newPlane(n, g.defects); err != nil {
		return err
	}
	for _, id := range machines(n) {
		g.members[id] = &member{g: g, id: id, disk: crashfs.New()}
	}
	for _, m := range g.members[1:] {
		if err := m.makeDir(); err != nil {
			return err
		}
		if err := m.boot(); err != nil {
			return err
		}
	}
	if err := g.elect(1); err != nil {
		return err
	}
	if err := g.ask(registering, &op.Request{Kind: op.Register}); err != nil {
		return err
	}
	if err := g.commit(0); err != nil {
		return err
	}
	for id := 1; id <= n; id++ {
		if err := g.known(id, 0); err != nil {
			return err
		}
		if err := g.members[id].applyTo(0); err != nil {
			return err
		}
	}
	return nil
}

// Observe implements observe.Sink.
func (m *member) Observe(e observe.Event) {
	m.seen = append(m.seen, e)
	m.pulls(e)
	m.saves(e)
	if e.Action == "NewIncarnation" {
		m.g.claims(&e)
	}
	if m.g.watch != nil {
		m.g.watch.Observe(e)
	}
}

func (m *member) config() replica.Config {
	cfg := replica.Config{
		ID: m.id, Members: machines(len(m.g.members) - 1), Cluster: identity.Cluster, Design: m.g.design, Policy: m.g.policy, FS: m.disk.FS(), Dir: m.dir(),
		Incarnation: m.g.incarnation, Base: m.g.goesOn, BootID: 1 + m.losses,
		HeartbeatTicks: heartbeatTicks, ElectionTicks: electionTicks, CheckpointOps: 1 << 20, Sessions: 1, JournalBytes: journalBytes,
		Rand: rand.New(&alike{boot: m.boots, id: uint64(m.id)}), Sink: m, Defects: m.g.defects,
	}
	if m.g.moves != nil {
		m.g.moves.configure(&cfg)
	}
	return cfg
}

// alike makes every election timer a little longer than the shortest, so that ticks alone
// decide who campaigns: who gets as many as make a follower forget its leader does not.
// The rest of its numbers name a boot and count.
type alike struct{ id, boot, count uint64 }

func (l *alike) Uint64() uint64 {
	l.count++
	return 0x155<<52 | l.id<<48 | l.boot&0xff<<40 | l.count
}

// open opens the replica, which may have no base yet.
func (m *member) open() error {
	m.boots++
	m.pull.interrupted()
	r, err := replica.Open(m.config())
	if err != nil {
		return &stopped{m.id, err}
	}
	m.r, m.dark = r, false
	if m.g.watch != nil {
		m.g.watch.Booted(m.id, m.r)
	}
	return nil
}

func (m *member) boot() error {
	err := m.open()
	if err == nil {
		err = m.g.copyBases()
	}
	if err == nil {
		m.home = m.r.View().Home
		err = m.g.agree(m)
	}
	if err == nil && m.r.View().Committed >= base {
		err = m.applyTo(0)
	}
	return err
}

// step gives one input, and takes what comes out on its way.
func (g *group) step(m *member, in replica.Input) error {
	out, err := m.r.Step(in)
	g.answers = append(g.answers, out.Answers...)
	if g.watch != nil {
		g.watch.Stepped(m.id, m.r, out.Answers)
	}
	if err != nil {
		err = &stopped{m.id, err}
	}
	for _, x := range out.Messages {
		switch {
		case x.Raft != nil:
			g.queue = append(g.queue, x)
			g.agreed.acknowledged(g, &x)
		case x.Transfer != nil && g.moves != nil:
			if c := x.Transfer.Chunk; c != nil && g.watch != nil {
				g.watch.Served(m.id, c.Data)
			}
			if g.moves.sent(m, x); g.moves.freely {
				g.queue = append(g.queue, x)
			}
		default:
			g.aside = append(g.aside, x)
		}
	}
	return err
}

// agree does the work of consensus that there is.
func (g *group) agree(m *member) error {
	for m.r.View().Agreeing {
		if err := g.step(m, replica.Input{Work: true, Job: replica.Agree}); err != nil {
			return err
		}
	}
	return nil
}

// pass hands over what is under way between two of them, one way, and drops what is not
// wanted.
func (g *group) pass(from, to int, wanted func(*raftpb.Message) bool) error {
	list := g.queue
	g.queue = nil
	for _, x := range list {
		if x.From != from || x.To != to || !wanted(x.Raft) {
			continue
		}
		m := g.members[to]
		if err := g.step(m, replica.Input{Message: &x}); err != nil {
			return err
		}
		if err := g.write(m); err != nil {
			return err
		}
	}
	return nil
}

// rounds is more than any exchange takes: the longest is that with one whom the leader has
// offered its state, and of whom it hears no more.
const rounds = 150

// bring has the leader bring a follower all ops up to n and no more. The leader hears of
// those up to heard.
func (g *group) bring(to, n, heard int) error {
	if g.lead == 0 {
		return &missing{"BecomeLeader"}
	}
	if g.members[to].r == nil {
		return errDown
	}
	upTo, hears := g.own(n), g.own(heard)
	for range rounds {
		if err := g.step(g.members[g.lead], replica.Input{Tick: true}); err != nil {
			return err
		}
		if err := g.agree(g.members[g.lead]); err != nil {
			return err
		}
		for range 3 { // a heartbeat, what it asks for, and what comes of that
			err := g.pass(g.lead, to, func(m *raftpb.Message) bool { return cut(m, upTo) })
			if err != nil {
				return err
			}
			err = g.pass(to, g.lead, func(m *raftpb.Message) bool {
				if m.GetType() == raftpb.MsgAppResp && !m.GetReject() {
					g.has[to] = max(g.has[to], m.GetIndex())
					m.Index = ptr(min(m.GetIndex(), hears))
				}
				return true
			})
			if err != nil {
				return err
			}
		}
		if g.has[to] >= upTo && g.members[to].r.View().Committed >= min(g.line(heard), g.members[g.lead].r.View().Committed) {
			return nil
		}
	}
	return &missing{observe.Action(fmt.Sprintf("bringing op %d to replica %d", n, to))}
}

// cut leaves of a message the ops up to n. One that is left with none is refused by who
// lacks what comes before, and so the leader learns where to begin again. So it does from who
// has what it offers instead.
func cut(m *raftpb.Message, n uint64) bool {
	for i, e := range m.Entries {
		if e.GetIndex() > n {
			m.Entries = m.Entries[:i]
			break
		}
	}
	return m.GetType() == raftpb.MsgApp || m.GetType() == raftpb.MsgHeartbeat || m.GetType() == raftpb.MsgSnap
}

// followers are the members that are up and do not lead, those that count in a majority
// first.
func (g *group) followers() []int {
	var voters, others []int
	for _, m := range g.members[1:] {
		switch {
		case m.r == nil || m.id == g.lead || m.apart:
		case m.r.View().Joining:
			others = append(others, m.id)
		default:
			voters = append(voters, m.id)
		}
	}
	return append(voters, others...)
}

// commit has op n committed: all that run have it then, but those that cannot be brought it.
func (g *group) commit(n int, without ...int) error {
	if err := g.agree(g.members[g.lead]); err != nil {
		return err
	}
	for _, id := range g.followers() {
		if slices.Contains(without, id) {
			continue
		}
		// One by one, so that a loss of power can take each.
		for k := int(g.reached(g.members[id].r.View().Last)) + 1; k < n; k++ {
			if err := g.bring(id, k, k); err != nil {
				return err
			}
		}
		if err := g.bring(id, n, n); err != nil {
			return err
		}
	}
	return g.taken(n)
}

// known lets a replica know that op n is committed.
func (g *group) known(id, n int) error {
	if id == g.lead || g.members[id].r.View().Committed >= g.line(n) {
		return nil
	}
	return g.bring(id, n, n)
}

// elect has a replica campaign until it leads. Whoever leads now does not hear of it before
// that.
func (g *group) elect(id int) error {
	return g.electBy(id, slices.DeleteFunc(g.followers(), func(x int) bool { return x == id }))
}

// electBy is elect by the votes of these.
func (g *group) electBy(id int, voters []int) error {
	was := g.lead
	m := g.members[id]
	g.queue = nil
	for tick := range 4 * electionTicks {
		for _, x := range append([]int{id}, voters...) {
			if x != id && tick >= electionTicks {
				continue
			}
			if err := g.step(g.members[x], replica.Input{Tick: true}); err != nil {
				return err
			}
		}
		for {
			if m.r.View().Role == consensus.Leader {
				g.lead, g.has = id, make([]uint64, len(g.members))
				return g.stepDown(was)
			}
			if m.r.View().Agreeing {
				if err := g.step(m, replica.Input{Work: true, Job: replica.Agree}); err != nil {
					return err
				}
				continue
			}
			if len(g.queue) == 0 {
				break
			}
			if err := g.ballot(id, voters); err != nil {
				return err
			}
		}
	}
	g.lead = was
	return &missing{"BecomeLeader"}
}

// stepDown lets who led hear of who leads now.
func (g *group) stepDown(was int) error {
	if was == 0 || was == g.lead {
		return nil
	}
	err := g.hears(g.members[was])
	g.queue = nil
	return err
}

// ballot hands over what is under way between a candidate and those who vote.
func (g *group) ballot(id int, voters []int) error {
	list := g.queue
	g.queue = nil
	for _, x := range list {
		if x.From != id && x.To != id || x.To != id && !slices.Contains(voters, x.To) || g.members[id].r.View().Role == consensus.Leader {
			continue
		}
		if err := g.step(g.members[x.To], replica.Input{Message: &x}); err != nil {
			return err
		}
		if x.To != id {
			if err := g.agree(g.members[x.To]); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyTo applies all ops up to n, which is an op that is no purge or one that is a
// duplicate.
func (m *member) applyTo(n int) error {
	for m.r.View().Facts.Applied < m.g.line(n) {
		was := m.r.View().Facts.Applied
		if err := m.g.step(m, replica.Input{Work: true, Job: replica.ApplyOne}); err != nil {
			return err
		}
		if m.r.View().Facts.Applied == was {
			return &missing{"Materialize"}
		}
	}
	return nil
}

// took tells whether it showed an action since it was asked last, of an op if that is
// not 0.
func (m *member) took(a observe.Action, n int) bool {
	defer func() { m.seen = m.seen[:0] }()
	return slices.ContainsFunc(m.seen, func(e observe.Event) bool { return e.Action == a && (n == 0 || e.Op == m.g.line(n)) })
}

// of is the member that an action is of.
func (g *group) of(a *behaviours.Act) *member { return g.members[a.Replica] }
