// Package invariant watches a simulated run from inside and reports where a
// named property of spec/Properties.tla does not hold. It reads the events of
// replicas, their state after a boot and now and then, and what clients are
// told; it draws no randomness and changes nothing, so a run with and without
// it is the same run.
//
// It sees earlier and names better what the linearizability check sees from
// outside, and it sees what no client happened to ask for.
//
//	log.go     committed ops and their effects: the same on every replica, dense,
//	           and each state the one before it plus the effect
//	boot.go    what a disk held after a crash, against what was promised before
//	client.go  what clients are told, against each other
//	progress.go  bookmarks: in which era they were computed, and what they cover
//	plane.go   what the metadata plane answers
//	reset.go   replicas that purge on their own
//
// For each partition it keeps its own small account of the log: what every op
// number means (the first replica to report it decides), the state after each,
// and the bookmarks as of each op. The account is built from replicas that are
// under suspicion, so it cannot see a mistake that all replicas make in the same
// way; the linearizability check can.
package invariant

import (
	"fmt"
	"slices"

	"purgelab/impl/meta"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// Violation is one property that did not hold at one place.
type Violation struct {
	Property  string       `json:"property"`
	At        int64        `json:"at"` // simulated milliseconds
	Replica   int          `json:"replica,omitempty"`
	Partition op.Partition `json:"partition"`
	Text      string       `json:"text"`
}

func (v Violation) String() string {
	who := "a client"
	if v.Replica != 0 {
		who = fmt.Sprintf("replica %d", v.Replica)
	}
	return fmt.Sprintf("%s: %s, partition %d, at %d ms: %s", v.Property, who, v.Partition, v.At, v.Text)
}

// keepAtMost bounds how many violations of each property are kept.
const keepAtMost = 4

// Checker watches one run.
type Checker struct {
	parts []*part
	// resets is nil unless the design is reset-record.
	resets  []*resetPart
	planned map[uint64][]meta.Result // by token: the first answer of the metadata plane
	intents map[intent]uint64        // by which token each was answered
	last    map[op.Partition]intent  // that was answered, in the last incarnation
	// promises of the policy over a loss of power by all machines: that messages,
	// that bookmarks outlive it.
	promises [2]bool
	policy   replica.Policy
	sound    bool
	list     []Violation
	now      int64
	quiet    bool // clients have done their work
}

// part is the account of one partition.
type part struct {
	id op.Partition
	// incarnation, if it goes on from another one, whose account before is until the
	// two were compared.
	incarnation op.Incarnation
	before      *part
	// aside is the account of one in between, in which nobody lived: replicas may have
	// made a state there that the next one goes on from.
	aside     *part
	agreed    *op.Position
	forced    bool   // what goes on from it may lack anything
	ops       []fact // by op number
	committed op.Number
	leaders   map[uint64]int // term -> replica that led in it
	proposed  map[proposal]op.Number
	purges    []purge // applied, ascending
	keys      map[op.Key][]mark
	replicas  []replicaState // by id
	clients   answers
	stores    account
}

// fact is what is known of one op number.
type fact struct {
	term  uint64 // 0: not known to be committed
	asked request
	asks  op.Kind // which request it is of, 0 if of none
	did   effect
	// after is the state when the op was materialized.
	after state
}

// request is what the op asks for, effect what it did: kind "" means not known.
type request struct {
	kind, key string
	offset    op.Offset
	count     int
	gen       op.Generation
}

type effect = request

type state struct {
	gen        op.Generation
	start, end op.Offset
}

type purge struct {
	gen op.Generation
	op  op.Number
}

// proposal is the purge of a generation by the leader of a term.
type proposal struct {
	gen  op.Generation
	term uint64
}

// mark is one change of a bookmark.
type mark struct {
	op      op.Number
	present bool
	offset  op.Offset
}

// replicaState is what one replica did and promised.
type replicaState struct {
	up       bool
	member   uint64        // of the group that it was last
	last     op.Number     // last op that took effect since the boot
	applied  op.Number     // highest op that took effect in any boot
	gen      op.Generation // highest generation whose purge it completed
	switched op.Generation // highest generation it switched to
	acked    op.Number     // end of the log as it last promised
	voted    uint64        // term of its last vote
	copied   bool          // it began with a state, and has not been looked at since
	home     string        // of its files, as it last booted or installed
}

// New prepares a checker for a cluster.
func New(replicas, partitions, clients int) *Checker {
	c := &Checker{planned: map[uint64][]meta.Result{}, intents: map[intent]uint64{}, last: map[op.Partition]intent{}}
	for p := 0; p < partitions; p++ {
		c.parts = append(c.parts, newPart(op.Partition(p), replicas, clients))
	}
	return c
}

func newPart(id op.Partition, replicas, clients int) *part {
	p := &part{
		id: id, ops: make([]fact, 2, 1024), leaders: map[uint64]int{}, proposed: map[proposal]op.Number{}, keys: map[op.Key][]mark{},
		replicas: make([]replicaState, replicas+1), clients: newAnswers(clients), stores: make(account, replicas+1),
	}
	for i := range p.stores {
		p.stores[i] = map[op.Key][]stored{}
	}
	return p
}

// Violations lists what was found, the first ones first.
func (c *Checker) Violations() []Violation { return c.list }

func (c *Checker) report(p *part, replica int, property, format string, args ...any) {
	seen := 0
	for i := range c.list {
		if c.list[i].Property == property {
			seen++
		}
	}
	if seen < keepAtMost {
		c.list = append(c.list, Violation{Property: property, At: c.now, Replica: replica, Partition: p.id, Text: fmt.Sprintf(format, args...)})
	}
}

func (p *part) fact(n op.Number) *fact {
	for int(n) >= len(p.ops) {
		p.ops = append(p.ops, fact{})
	}
	return &p.ops[n]
}

// boundary is the op of the purge that began a generation, 0 if unknown.
func (p *part) boundary(g op.Generation) op.Number {
	for _, u := range p.purges {
		if u.gen == g {
			return u.op
		}
	}
	return 0
}

// For lists the properties that a run of a design checks on replicas. Where a
// purge is a deletion of records there is one generation, without a boundary, so
// what speaks of those says nothing.
func For(d replica.Design) []string {
	switch d {
	case replica.Ordered:
		return Names
	case replica.ResetRecord:
		return append(slices.Clone(Names), "HeldCommits")
	}
	return slices.DeleteFunc(slices.Clone(Names), func(name string) bool {
		return slices.Contains([]string{"BoundaryAgreement", "BoundaryScope", "GenerationMonotone", "CompletionLast", "NoErrorNoAdvance", "OnePurgeOutstanding", "SiblingsIndependent"}, name)
	})
}

// Names lists the properties that a run checks on replicas. NoStuckReplica is
// decided by the run itself.
var Names = []string{
	"CommittedPrefixSafe", "AckDurable", "BoundaryAgreement", "BoundaryScope", "HistoryAgreement",
	"NoFreshLoss", "NoHiddenFresh", "NoResurrectedMessage", "NoResurrectedBookmark", "RetryIdempotent",
	"GenerationMonotone", "CompletionLast", "NoErrorNoAdvance", "CommittedOnlyDurable", "BookmarkBound",
	"NextContract", "NoLateProgress", "OffsetUnique", "SessionOnce", "StartMonotone", "LatestMonotone", "NoPhantomEmpty",
	"PurgeEventuallyApplied", "OnePurgeOutstanding", "SiblingsIndependent", "IncarnationIsolation", "NoStuckReplica",
}
