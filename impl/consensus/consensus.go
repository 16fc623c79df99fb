// Package consensus drives one member of a raft group, go.etcd.io/raft's
// RawNode, as a value machine: ticks, messages, proposals and reads go in;
// what to write, to send, to apply and to answer comes out. It knows no disk,
// no clock and no socket, and the same inputs give the same outputs.
//
// # What the caller owes for each batch
//
//	for {
//		b, ok := node.Ready()
//		if !ok { break }
//		log.Append(b.State, b.Entries)     // write
//		log.Append(b.After, nil)           // in this order
//		send(b.Early)                      // needs nothing durable
//		if b.MustSync { log.Sync() }       // what must be synced is the caller's policy
//		send(b.Late)                       // votes and acknowledgements: durable now
//		node.Advance()                     // the member's own vote and acknowledgement count from here
//		queue(b.Committed, b.Reads)        // materialized later, at the caller's pace
//	}
//
// A crash anywhere in it is safe. A committed entry may be among the Entries
// of its own batch, so nothing is applied before that batch was synced. Inputs
// may arrive between Ready and Advance; there is one outstanding sync, and the
// entries that gather behind it share the next one.
//
// # Rules that are not raft's defaults
//
//   - Elections: raft's own election timer draws from the operating system, so
//     raft is ticked only while it leads. A seeded timer here decides when to
//     forget the leader (after the minimum timeout: until then a follower
//     refuses votes, as CheckQuorum asks) and when to campaign. It is drawn
//     anew when the leader of the current term was heard, when a real vote is
//     granted, and at each campaign; and at no other moment, so that stale
//     messages and refused candidates cannot put an election off.
//   - Boot: the commit index is max(saved, applied). A log that ends below it,
//     or a saved term below that of the last entry, means that something
//     acknowledged was lost: New answers ErrSuspect and never repairs.
//   - Reads: an answer names an index that is at least the first entry of the
//     leader's own term, for a group of one as well, where raft itself answers
//     with whatever commit index survived the restart.
//   - An acknowledgement of op 0 is dropped: it is not one, see acksNothing.
//   - Proposals are never forwarded. Propose answers an error only if the
//     proposal has no effect, ever.
//   - A snapshot message is an offer: raft never restores one, see Offered.
//   - A message that a member may not receive over the network is refused:
//     proposals, reads, local messages, and those of non-members.
//
// Membership is part of the log: a change of it takes effect when its batch is
// advanced, and before that the commit index that covers it is durable, so that a
// member never forgets a change that it has acted upon. The log begins with the
// bootstrap, op 1 of term 1, as if a snapshot had been taken there; the first
// entry is op 2. A member that joins starts from there too, with an empty log. A log
// may begin later than that: what it dropped the caller must have kept.
//
// The texts of raft's messages differ between builds. Nothing here stores or
// hashes them; the binary encoding is stable.
package consensus

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/raft/v3"

	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// Limits that bound the memory of a member, in bytes unless said otherwise.
const (
	maxMessageBytes     = 64 << 10  // of entries in one append message
	maxInflightMessages = 64        // append messages on the way to one follower
	maxUncommittedBytes = 4 << 20   // proposals beyond this are dropped
	maxCommittedBytes   = 256 << 10 // of committed entries in one batch
)

// bootstrapTerm is the term of op 1, and of a member that has seen nothing yet.
const bootstrapTerm = 1

// Config is what a member needs to start.
type Config struct {
	// ID of this member, not 0. Members are those as of Applied; it need not be
	// one of them: a member that joins gets the log first.
	ID      uint64
	Members Membership
	// Log is read here and appended to by the caller.
	Log raftlog.Log
	// Applied is the last op whose effect the caller kept; entries above it are
	// handed out again.
	Applied op.Number
	// Persisted tells which entries must be synced before they are acknowledged;
	// nil: all. Term and vote always must, and changes of membership.
	Persisted func(*raftlog.Entry) bool
	// Rand draws election timeouts; for this member alone.
	Rand *rand.Rand
	// HeartbeatTicks between a leader's heartbeats. ElectionTicks is the minimum
	// election timeout, a multiple of HeartbeatTicks and at least twice as long;
	// timeouts are drawn from [ElectionTicks, 2*ElectionTicks).
	HeartbeatTicks, ElectionTicks int
	// Forgot: the member lost its memory, and runs only because of a defect.
	Forgot bool
	// Defects: those of syncs and of suspects are read here.
	Defects defect.Set
	// Logger may be nil: silent. raft's own lines appear at debug and trace.
	Logger hclog.Logger
}

// ErrSuspect says that the log does not hold everything that this member once
// promised to hold: it must not vote or acknowledge under its old identity.
type ErrSuspect struct {
	What       string // the fact that is missing
	Have, Want uint64 // the log's value; the least value that would be sound
}

func (e *ErrSuspect) Error() string {
	return fmt.Sprintf("consensus: suspect member: %s is %d, want at least %d", e.What, e.Have, e.Want)
}

func (c *Config) validate() error {
	switch {
	case c.ID == 0 || len(c.Members.Voters) == 0:
		return fmt.Errorf("consensus: member %d of the voters %v: want a number, and some", c.ID, c.Members.Voters)
	case c.Log == nil || c.Rand == nil:
		return errors.New("consensus: a log and a source of randomness are needed")
	case c.HeartbeatTicks < 1 || c.ElectionTicks < 2*c.HeartbeatTicks || c.ElectionTicks%c.HeartbeatTicks != 0:
		return fmt.Errorf("consensus: election timeout %d: want a multiple of the heartbeat interval %d, at least twice it", c.ElectionTicks, c.HeartbeatTicks)
	}
	return nil
}

// New starts a member from its log. An *ErrSuspect means that it must not
// start; other errors are the log's, or a faulty Config.
func New(c Config) (n *Node, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	state, applied, err := bootState(c.Log, c.Applied, c.Defects.Has(defect.CommitClamped))
	if err != nil {
		return nil, err
	}
	n = &Node{
		id:        c.ID,
		log:       newStorage(c.Log, state, c.Members),
		rand:      c.Rand,
		heartbeat: c.HeartbeatTicks,
		election:  c.ElectionTicks,
		defects:   c.Defects,
		members:   c.Members,
		persisted: c.Persisted,
		forgot:    c.Forgot && c.Defects.Has(defect.SuspectVotes, defect.SuspectAcks, defect.CommitClamped),
		hard:      state,
		saved:     state,
	}
	defer func() {
		if v := recover(); v != nil {
			n, err = nil, n.Recovered(v)
		}
	}()
	n.raw, err = raft.NewRawNode(&raft.Config{
		ID:      c.ID,
		Storage: n.log,
		Applied: uint64(applied),
		// raft is ticked once per heartbeat interval.
		HeartbeatTick:             1,
		ElectionTick:              c.ElectionTicks / c.HeartbeatTicks,
		PreVote:                   true,
		CheckQuorum:               true,
		StepDownOnRemoval:         true,
		DisableProposalForwarding: true,
		MaxSizePerMsg:             maxMessageBytes,
		MaxInflightMsgs:           maxInflightMessages,
		MaxUncommittedEntriesSize: maxUncommittedBytes,
		MaxCommittedSizePerReady:  maxCommittedBytes,
		Logger:                    newLogger(c.Logger),
	})
	if err != nil {
		return nil, fmt.Errorf("consensus: start: %w", err)
	}
	n.refresh()
	n.redraw()
	n.dirty = true
	return n, nil
}

// bootState is the hard state and the applied op that raft starts from.
func bootState(log raftlog.Log, applied op.Number, clamp bool) (raftlog.State, op.Number, error) {
	base, last := log.First()-1, log.Last()
	state := log.State()
	if state == (raftlog.State{}) && last == base && base <= 1 {
		state.Term = bootstrapTerm
	}
	lastTerm, err := log.Term(last)
	if err != nil {
		return state, 0, fmt.Errorf("consensus: term of the last op %d: %w", last, err)
	}
	// Op 1 has no effect to keep, so having applied nothing is having applied it.
	if base > 1 && applied < base {
		return state, 0, &ErrSuspect{What: "the applied op, below the first op stored", Have: uint64(applied), Want: uint64(base)}
	}
	applied = max(applied, base)
	if clamp {
		applied, state.Commit = min(applied, last), min(state.Commit, last)
	}
	state.Commit = max(state.Commit, applied)
	if state.Commit > last {
		return state, 0, &ErrSuspect{What: "the last op, below what was committed", Have: uint64(last), Want: uint64(state.Commit)}
	}
	if state.Term < lastTerm {
		return state, 0, &ErrSuspect{What: "the saved term, below the last op's", Have: state.Term, Want: lastTerm}
	}
	return state, applied, nil
}
