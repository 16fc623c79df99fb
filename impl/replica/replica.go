// Package replica is one replica of one partition: a deterministic machine that
// turns inputs (a tick, a message, a request, a piece of disk work) into outputs
// (messages, answers). It has no goroutine, clock, socket or randomness of its
// own; whoever drives it decides what happens when.
//
// It joins three parts that do not know each other: consensus decides the order
// of ops, the journal keeps them, the engine materializes them. One op of the
// log passes through these steps:
//
//	request ─ propose ─ journal write ─ send ─ journal sync ─ acknowledge
//	        ─ committed ─ materialize ─ answer
//
// Materializing goes at its own pace behind consensus: a purge takes several
// durable steps, and while they are taken the group goes on agreeing on later
// ops. Ops after the purge are not materialized before it is complete, and
// nothing is served from a state older than what the disk already shows (Front).
//
// Invariants:
//
//	engine.Applied <= committed <= journal.Last
//	an answer "ok" to a mutation is sent after the op was materialized here
//	a read is answered from a state that holds every op committed when it came
package replica

import (
	"fmt"
	"math/rand/v2"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/consensus"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/journal"
	"purgelab/impl/observe"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Config says who a replica is and how it behaves. Ticks are calls of
// Step with Input.Tick.
type Config struct {
	ID        int   // 1-based
	Members   []int // all replicas of the partition, ID among them
	Partition op.Partition
	// Incarnation of the partition; 0 means 1. What comes from another one, or is
	// meant for it, has no effect here.
	Incarnation op.Incarnation
	Cluster     uint64
	Design      Design
	FS          vfs.FS
	Dir         string // of this replica on FS; exists
	// BootID is a number of the machine's boot that changes when it loses power,
	// and at no other time; 0 if nobody knows it: then each boot may be another one.
	BootID uint64
	// Damaged, if not nil, is why the replica before this one stopped: it met damage.
	Damaged error
	// Base, if not nil, is what the incarnation goes on from.
	Base *Base

	member  memberRecord // that this machine is, as found on the disk
	staging string       // the folder that a transfer fills, if there is one
	copied  bool         // it has just got its base, a state
	suspect error        // why it is not the one that it was
	forgot  bool         // it is the one that it was only because of a defect

	HeartbeatTicks, ElectionTicks int
	// CheckpointOps is how many ops are materialized between checkpoints.
	CheckpointOps int
	// Sessions bounds the session table; the least recently used one goes.
	Sessions int
	// Plane says that there is a metadata plane, which tells every intent. Then a
	// client that waits for a conditional one does not make it known here: it may
	// come before a lower one, which must be settled first.
	Plane bool
	// Hold makes a leader put appends and changes of bookmarks off while a purge
	// that it proposed is outstanding, so that nothing piles up behind it. The
	// order of the log keeps them safe without it, too.
	Hold bool
	// Variants of the design.
	Variants Variants
	// Policy says what must be synced before it is acknowledged.
	Policy Policy
	// SyncBeside hands the syncs of the journal out, see Output.Sync, so that a disk
	// can be slow while other steps are taken.
	SyncBeside bool
	// Compact says when the journal drops what a checkpoint covers. Whoever needs that
	// gets a checkpoint instead, as Transfer says.
	Compact  Compaction
	Transfer TransferOptions
	// SegmentBytes and JournalBytes are the sizes at which files roll. JournalRoom
	// makes the journal's as long from the beginning.
	SegmentBytes, JournalBytes int
	JournalRoom                bool

	Rand    *rand.Rand // election timer and identities of this boot
	Sink    observe.Sink
	Defects defect.Set
	Logger  hclog.Logger
}

// Message is what one replica sends to another. The raft message must not be
// changed after it was sent.
type Message struct {
	From, To    int
	Partition   op.Partition
	Incarnation op.Incarnation
	Raft        *raftpb.Message
	// Instead of Raft: if not 0, the member that the sender wants to be, or that the
	// receiver wanted to be and was removed; a part of
	// the base, or the request for one.
	Join uint64
	Base *BasePart
	// Or a message of a transfer, which Member sends.
	Member   uint64
	Transfer *transfer.Message
}

// Request is a client's operation. Token is the driver's name for it.
type Request struct {
	Token uint64
	// Incarnation that the client believes in; 0: any.
	Incarnation op.Incarnation
	Op          *op.Request
}

// Answer is the reply to the request of that token. Leader is a hint, 0 when
// unknown. Op is that of the mutation that is answered, 0 for any other answer.
type Answer struct {
	Token  uint64
	Reply  op.Reply
	Leader int
	Op     op.Number
}

// Intent is a purge that the metadata plane has committed: it must be settled
// on this partition sooner or later.
type Intent struct {
	Generation op.Generation
	// Previous is the intent before it on this partition, 0 if it is the first or
	// if that is not known.
	Previous op.Generation
	Expected *op.Position
}

// Input is exactly one of a tick, a message, a request, the intents known to
// the metadata plane, permission to do one piece of disk work, or what came of a
// sync.
type Input struct {
	Now     int64 // milliseconds, never falling
	Tick    bool
	Message *Message
	Request *Request
	Intents []Intent
	// Seal: the incarnation is to end.
	Seal bool
	Work bool
	Job  Job // that Work is to be; by itself the replica chooses
	Sync *SyncResult
}

// SyncResult is what came of the call that Output.Sync asked for.
type SyncResult struct{ Err error }

// Output is what a step leaves to be done. Its slices are valid until the next
// step.
type Output struct {
	Messages []Message
	Answers  []Answer
	// Work asks for another Step with Input.Work, after the time that a disk
	// needs; Synced says that this step synced something.
	Work, Synced bool
	// Sync, if not nil, is a call to make: it syncs the journal. Other steps may be
	// taken while it runs, and one with Input.Sync must follow it. Nothing that
	// depends on the sync leaves before that step. One at a time is asked for, and
	// only with Config.SyncBeside.
	Sync func() error
}

// Replica is the machine. Its methods are not safe for concurrent use.
type Replica struct {
	cfg  Config
	log  hclog.Logger
	jr   *journal.Journal
	eng  engine.Engine
	node *consensus.Node
	rep  Report

	now int64
	out Output

	// Consensus pipeline: at most one batch between Ready and Advance.
	batch   consensus.Batch
	stage   stage
	applied op.Number // == eng.Facts().Applied, kept here because it is read often

	committed op.Number // highest op handed over by consensus
	queue     entryQueue
	line      *line     // what ops are counted along, but in consensus and its journal
	answering op.Number // the op that is being answered, if it is one

	copy   *copying // nil once there is a base; until then there is little else
	ending bool     // it is to be sealed when the sync under way is over
	sealed bool
	word   Standing // of one that is sealed: what its disk shows

	sessions sessions
	// The membership as of applied, whether it ever changed, and the changes that
	// are in force and not materialized.
	members consensus.Membership
	moved   bool
	ahead   []consensus.Changed
	// Not a voter yet; ticks until it asks again to become one, and how often it has.
	// Ticks during which a change of membership that this leader proposed may still
	// come.
	joining          bool
	joinLater, asked int
	changing         int

	origin  uint64 // identity of this boot, in every proposal
	counter uint64
	waiting map[uint64]uint64 // proposal number -> token, of this boot and term
	// proposals of this boot and term, in order, that were not committed yet.
	proposals []proposal
	term      uint64
	leading   bool
	serving   bool

	reads    reads
	intents  []Intent // unsettled, ascending
	purges   []purgeWaiter
	held     []Request // not proposed, until the outstanding purge is over
	proposed uint64    // proposal number of the outstanding purge, 0 none
	purge    *purgeInFlight
	// During a cleanup: ops and its steps take turns; ticks until a step that
	// failed is taken again; the next op is a change of a bookmark and waits.
	cleanTurn  bool
	cleanLater int
	blocked    bool
	checkpoint engine.Task
	saving     op.Number // what the checkpoint under way is as of
	since      int       // ops materialized since the last checkpoint began
	reclaim    bool
	check      bool // messages that the boot took on trust are to be read
	// The state as of op durable is durable; the journal may be longer than it should
	// be; it left files behind.
	durable      op.Number
	trim, unlink bool
	// Transfers: what this replica offers, and who goes on from such; what it fetches; a
	// home that is being filled; there may be others that are not needed.
	sender    *transfer.Sender
	catching  []catching
	fetch     *fetching
	staged    staged
	homes     bool
	localTurn bool
	tooLarge  bool // it was told that the state is too large to be offered, since the last offer

	// Ticks to wait after a disk failed: pause before the next op is materialized
	// or purge step taken, later before a checkpoint or a reclaim goes on.
	pause, later int
	// still counts ticks during which something was committed and not
	// materialized, and Applied stood at stoodAt.
	still   int
	stoodAt op.Number
}

// Step takes one input. An error stops the replica for good: it must be opened
// again. What it acknowledged before is on its disk.
func (r *Replica) Step(in Input) (out Output, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = Output{}, fmt.Errorf("replica %d: %w", r.cfg.ID, stopped(consensus.Recovered(r.node, v)))
		}
	}()
	r.now = in.Now
	r.out.Messages, r.out.Answers, r.out.Work, r.out.Synced = r.out.Messages[:0], r.out.Answers[:0], false, false
	r.out.Sync = nil
	switch {
	case r.sealed:
		return r.out, nil
	case in.Seal && r.stage == syncing:
		r.ending = true // what comes of the sync decides what it holds
	case in.Seal:
		if err = r.seal(); err == nil {
			return r.out, nil
		}
	case r.copy != nil:
		if err = r.stepCopy(in); err == nil && r.copy != nil {
			r.out.Work = r.hasWork()
			return r.out, nil
		}
	case in.Tick:
		r.tick()
	case in.Message != nil && in.Message.Incarnation != r.cfg.Incarnation:
		r.otherIncarnation(in.Message)
	case in.Message != nil && in.Message.Transfer != nil:
		err = r.takeTransfer(in.Message)
	case in.Message != nil && in.Message.Base != nil:
		if in.Message.Base.Segments == nil {
			err = r.sendPart(in.Message.From, in.Message.Base.From)
		}
	case in.Message != nil && in.Message.Join != 0:
		if err = r.takeJoin(in.Message.Join); err == nil && r.copy != nil {
			r.out.Work = r.hasWork()
			return r.out, nil
		}
	case in.Message != nil:
		// raft refuses what it cannot use (an unknown sender, say); that is an
		// answer, not a fault of this replica.
		if e := r.node.Step(in.Message.Raft); e != nil {
			r.log.Debug("message refused", "from", in.Message.From, "error", e)
		}
		if o, ok := r.node.Offered(); ok {
			r.offered(o.From)
		}
	case in.Request != nil:
		r.request(*in.Request)
	case in.Intents != nil:
		r.learnIntents(in.Intents)
	case in.Work && in.Job != NextJob:
		err = r.do(in.Job)
	case in.Work:
		err = r.work()
	case in.Sync != nil && r.ending:
		if err = r.synced(in.Sync.Err); err == nil {
			if err = r.seal(); err == nil {
				return r.out, nil
			}
		}
	case in.Sync != nil:
		err = r.synced(in.Sync.Err)
	}
	if err != nil {
		r.doubt(err)
		return Output{}, fmt.Errorf("replica %d: %w", r.cfg.ID, stopped(err))
	}
	r.followRole()
	r.release()
	r.reconcile()
	r.out.Work = r.hasWork()
	return r.out, nil
}

// Report of the boot.
func (r *Replica) Report() Report { return r.rep }

func (r *Replica) tick() {
	r.watchProgress()
	r.node.Tick()
	r.retryReads()
	r.changing = max(0, r.changing-1)
	r.joinGroup()
	if r.cfg.Defects.Has(defect.CompactPastCheckpoint) {
		r.snapshot(r.applied)
	}
	r.tickFetch()
	r.tickServe()
}

// followRole drops what belonged to a leadership that ended: the answers to its
// proposals will never be known here, so their outcome is unknown.
func (r *Replica) followRole() {
	st := r.node.Status()
	leading := st.Role == consensus.Leader
	if st.Term == r.term && leading == r.leading {
		return
	}
	if leading {
		r.forgetIntents()
		r.emit(observe.Event{Action: "BecomeLeader", Term: st.Term})
	}
	if r.leading {
		r.waiting, r.proposals = map[uint64]uint64{}, nil
		if !r.cfg.Defects.Has(defect.SettledAtProposal) {
			r.proposed = 0
		}
		r.failReads()
		r.failPurges()
		r.refuseHeld()
		r.stopServing()
	}
	r.term, r.leading, r.changing = st.Term, leading, 0
}

// checkServing reports once per boot that nothing on the disk is ahead of the
// materialized state any more.
func (r *Replica) checkServing() {
	if r.serving || r.purge != nil || r.cfg.Design == ResetRecord && r.intended() > r.eng.Facts().Settled {
		return
	}
	if r.applied >= max(r.eng.Facts().Front, r.line.baseLast()) {
		r.serving = true
		r.emit(observe.Event{Action: "Serve"})
	}
}

// intended is the highest intent known, 0 if none is waiting.
func (r *Replica) intended() op.Generation {
	if n := len(r.intents); n > 0 {
		return r.intents[n-1].Generation
	}
	return 0
}

func (r *Replica) answer(token uint64, reply op.Reply) {
	r.out.Answers = append(r.out.Answers, Answer{Token: token, Reply: reply, Leader: machineOf(r.node.Status().Leader), Op: r.answering})
}

// emit completes and passes on an event.
func (r *Replica) emit(e observe.Event) {
	if r.cfg.Sink == nil {
		return
	}
	f := r.eng.Facts()
	e.Time, e.Replica, e.Partition = r.now, r.cfg.ID, r.cfg.Partition
	if r.cfg.Base != nil {
		e.Incarnation = r.cfg.Incarnation
	}
	e.Applied, e.Start, e.End = f.Applied, f.Start, f.End
	// A removal names its own generation, which may be 0.
	if e.Generation == 0 && e.Action != "Reclaim" {
		e.Generation = f.Generation
	}
	r.cfg.Sink.Observe(e)
}
