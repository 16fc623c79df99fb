// Package meta is one replica of the metadata plane: which partitions exist, in
// which incarnation, and which purges of them are intended. It is a raft group
// of its own, and like a replica of a partition a deterministic machine: inputs
// in, outputs out, no goroutine, clock, socket or randomness of its own.
//
// # What it keeps true
//
//   - A command that was answered ok is committed, and survives what a quorum of
//     disks survives: everything here is synced before it is promised.
//   - A command is executed once. Its caller names it by (session, sequence) and
//     repeats it until it is answered; a repeat gets the first answer.
//   - The generation of an intent is higher than that of every intent of the
//     partition before it, and names the one right before it (Previous), so that
//     whoever learns intents can tell whether one is missing.
//   - A partition that is created again under its old number gets the next
//     incarnation, no intents, and a serial number of its own.
//   - A replica whose disk was replaced, or is damaged, neither votes nor
//     acknowledges any more: it joins again as another member. See member.go.
//   - A command that concerns several partitions has a result for each; one that
//     fails does not fail its siblings.
//
// An intent is only that: it is a fact of its partition when the partition's own
// log says so. The plane is never told; intents are few, so it keeps them until
// their partition goes.
//
// # State and disk
//
// The state is small and has no engine: it lives in memory and is rebuilt at
// each boot from the journal, which is never cut. After a boot it may for a
// moment be older than before the crash, since the commit index on the disk is
// a hint: it follows as soon as a leader is heard. So nobody may conclude from
// this state that something does not exist any more; only what it shows is so.
//
// Op 1, the bootstrap, creates the partitions of Config.Initial.
package meta

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/consensus"
	"purgelab/impl/defect"
	"purgelab/impl/journal"
	"purgelab/impl/raftlog"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// OwnPartition stands for the metadata plane in the identity of its files: no
// partition has this number.
const OwnPartition op.Partition = 1<<32 - 1

// Config says who a replica is and how it behaves.
type Config struct {
	ID      int   // 1-based
	Members []int // all replicas of the plane, ID among them
	Cluster uint64
	FS      vfs.FS
	Dir     string // of this replica on FS; exists
	// Initial are the partitions that exist from the beginning; the same on all
	// members. Their serial numbers are their indexes.
	Initial []Placement
	// Sessions bounds the session table; the least recently used one goes.
	Sessions int
	// GapEvery, if not 0, leaves out a generation at every intent whose op number
	// it divides, so that nobody comes to rely on dense numbers. The same on all
	// members.
	GapEvery                      int
	HeartbeatTicks, ElectionTicks int
	JournalBytes                  int
	Rand                          *rand.Rand
	Logger                        hclog.Logger
	Defects                       defect.Set
	// Damaged, if not nil, is why the replica before this one stopped: it met damage.
	Damaged error

	member memberRecord // that this replica is, as found on the disk
}

// Message is what one replica sends to another. The raft message must not be
// changed after it was sent.
type Message struct {
	From, To int
	Raft     *raftpb.Message
	Report   *Request // instead of Raft: how a member of the sender's machine stands
	// Instead of Raft, if not 0: the member that the sender wants to be, or that the
	// receiver wanted to be and was removed.
	Join uint64
}

// Call is a command that a client sends. Token is the driver's name for it.
type Call struct {
	Token   uint64
	Request *Request
}

// Answer is the reply to the call of that token. Leader is a hint, 0 when
// unknown.
type Answer struct {
	Token  uint64
	Reply  Reply
	Leader int
}

// Input is exactly one of a tick, a message, a call, or permission to do one
// piece of disk work.
type Input struct {
	Tick    bool
	Message *Message
	Call    *Call
	Work    bool
}

// Output is what a step leaves to be done. Its slices are valid until the next
// step.
type Output struct {
	Messages []Message
	Answers  []Answer
	// Work asks for another Step with Input.Work, after the time of a sync.
	Work bool
	// Changed: the state is another one than before the step.
	Changed bool
}

// Machine is the replica. Its methods are not safe for concurrent use.
type Machine struct {
	cfg   Config
	jr    *journal.Journal
	node  *consensus.Node
	state State
	out   Output

	batch   consensus.Batch // written, its sync is due
	pending bool

	applied op.Number
	origin  uint64 // of this boot, in every proposal
	counter uint64
	waiting map[uint64]uint64 // proposal number -> token, of this boot and term
	term    uint64
	leading bool

	local       []Local
	reportLater int
	dying       []dying

	suspect   error // why it is not the member that it was
	joinLater int   // ticks until it asks again to be taken in
	asked     int   // times
}

// Open boots a replica from its disk. What is committed for certain is applied
// before it returns, as far as the disk knows that it is committed. A replica that
// cannot use its memory is another member from now on, which joins the group; one
// that is alone, or whose disk is that of another replica, is refused with the error
// that says why.
func Open(cfg Config) (*Machine, error) {
	err := cfg.findMember()
	if err == nil {
		err = cfg.Damaged
	}
	if err == nil {
		var m *Machine
		if m, err = openMember(cfg); err == nil {
			return m, nil
		}
	}
	if !suspicious(err) || len(cfg.Members) == 1 {
		return nil, fmt.Errorf("meta %d: %w", cfg.ID, err)
	}
	if e := cfg.renounce(); e != nil {
		return nil, fmt.Errorf("meta %d: renounce a member: %w", cfg.ID, errors.Join(e, err))
	}
	m, e := openMember(cfg)
	if e != nil {
		return nil, fmt.Errorf("meta %d: %w", cfg.ID, e)
	}
	m.suspect = err
	return m, nil
}

// openMember boots the member that the configuration names.
func openMember(cfg Config) (*Machine, error) {
	m := &Machine{cfg: cfg, applied: journal.Bootstrap, waiting: map[uint64]uint64{}, origin: cfg.Rand.Uint64()}
	m.state = newState(cfg.Initial, cfg.Members, cfg.Sessions, cfg.GapEvery)
	m.state.defects = cfg.Defects
	var err error
	if m.jr, _, err = journal.Open(journal.Options{FS: cfg.FS, Dir: cfg.home() + "/journal", Identity: cfg.identity(), FileBytes: cfg.JournalBytes}); err != nil {
		return nil, err
	}
	members := make([]uint64, len(cfg.Members))
	for i, v := range cfg.Members {
		members[i] = uint64(v)
	}
	m.node, err = consensus.New(consensus.Config{
		ID: cfg.member.ID, Members: consensus.Membership{Voters: members}, Log: m.jr, Rand: cfg.Rand,
		HeartbeatTicks: cfg.HeartbeatTicks, ElectionTicks: cfg.ElectionTicks, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	if err := m.catchUp(); err != nil {
		return nil, err
	}
	if m.Joining() {
		return m, nil
	}
	return m, m.cfg.removeOthers()
}

// catchUp applies what the disk knows to be committed.
func (m *Machine) catchUp() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = m.node.Recovered(v)
		}
	}()
	return m.advance()
}

// Step takes one input. An error stops the replica for good: it must be opened
// again. What it promised before is on its disk.
func (m *Machine) Step(in Input) (out Output, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = Output{}, fmt.Errorf("meta %d: %w", m.cfg.ID, m.node.Recovered(v))
		}
	}()
	m.out.Messages, m.out.Answers, m.out.Work, m.out.Changed = m.out.Messages[:0], m.out.Answers[:0], false, false
	switch {
	case in.Tick:
		m.node.Tick()
		m.tell()
		m.watch()
		m.join()
	case in.Message != nil && in.Message.Report != nil:
		m.heard(in.Message.Report)
	case in.Message != nil && in.Message.Join != 0:
		err = m.takeJoin(in.Message.Join)
	case in.Message != nil:
		_ = m.node.Step(in.Message.Raft) // what raft refuses has no effect
	case in.Call != nil:
		m.call(in.Call)
	case in.Work && m.pending:
		if err = m.jr.Sync(); err == nil {
			err = m.done()
		}
	}
	if err == nil {
		err = m.advance()
	}
	if err != nil {
		return Output{}, fmt.Errorf("meta %d: %w", m.cfg.ID, err)
	}
	m.followRole()
	m.out.Work = m.pending
	return m.out, nil
}

// advance takes batches from raft as far as it goes without a sync: write and
// send what promises nothing; then the sync is due. Most batches (heartbeats)
// have nothing to write.
func (m *Machine) advance() error {
	for !m.pending && m.node.HasReady() {
		b, ok := m.node.Ready()
		if !ok {
			return nil
		}
		if b.State != nil || len(b.Entries) > 0 {
			if err := m.jr.Append(b.State, b.Entries); err != nil {
				return err
			}
			if err := m.jr.Append(b.After, nil); err != nil {
				return err
			}
		}
		m.send(b.Early)
		m.batch, m.pending = b, true
		if b.MustSync {
			return nil
		}
		if err := m.done(); err != nil {
			return err
		}
	}
	return nil
}

// done ends a batch that is durable.
func (m *Machine) done() error {
	b := m.batch
	m.batch, m.pending = consensus.Batch{}, false
	m.send(b.Late)
	for i := range b.Committed {
		if err := m.apply(&b.Committed[i]); err != nil {
			return err
		}
	}
	return m.changed(m.node.Advance())
}

func (m *Machine) send(ms []*raftpb.Message) {
	for _, r := range ms {
		m.out.Messages = append(m.out.Messages, Message{From: m.cfg.ID, To: machineOf(r.GetTo()), Raft: r})
	}
}

// call proposes a command. A refusal is definite: it never takes effect.
func (m *Machine) call(c *Call) {
	if !m.leading {
		m.answer(c.Token, Reply{Code: op.NotLeader})
		return
	}
	if !c.Request.valid() {
		m.answer(c.Token, Reply{Code: op.BadRequest})
		return
	}
	m.counter++
	if err := m.node.Propose(encode(&command{Origin: m.origin, Number: m.counter, Request: *c.Request})); err != nil {
		m.answer(c.Token, Reply{Code: op.Transient})
		return
	}
	m.waiting[m.counter] = c.Token
}

// apply executes one committed op.
func (m *Machine) apply(e *raftlog.Entry) error {
	m.applied = e.Op
	if e.Type != raftlog.Normal || len(e.Data) == 0 {
		return nil
	}
	c, err := decode(e.Op, e.Data)
	if err != nil {
		return err
	}
	reply, changed := m.state.execute(e.Op, &c.Request)
	m.out.Changed = m.out.Changed || changed
	if c.Origin != m.origin {
		return nil
	}
	if token, ok := m.waiting[c.Number]; ok {
		delete(m.waiting, c.Number)
		m.answer(token, reply)
	}
	return nil
}

// followRole forgets who waits for the answers of a leadership that ended: their
// outcome is unknown here.
func (m *Machine) followRole() {
	st := m.node.Status()
	leading := st.Role == consensus.Leader
	if st.Term == m.term && leading == m.leading {
		return
	}
	if m.leading {
		m.waiting = map[uint64]uint64{}
	}
	m.term, m.leading = st.Term, leading
}

func (m *Machine) answer(token uint64, r Reply) {
	m.out.Answers = append(m.out.Answers, Answer{Token: token, Reply: r, Leader: machineOf(m.node.Status().Leader)})
}

// State as of the last op applied. It must only be read, and not kept over a
// step.
func (m *Machine) State() *State { return &m.state }

// View is what may be read from a replica without changing it.
type View struct {
	Role          consensus.Role
	Term          uint64
	Applied, Last op.Number // Last is the end of the journal
	Committed     op.Number
	Pending       bool // a sync is due
}

// View reads the replica.
func (m *Machine) View() View {
	st := m.node.Status()
	return View{Role: st.Role, Term: st.Term, Applied: m.applied, Last: m.jr.Last(), Committed: st.Commit, Pending: m.pending}
}
