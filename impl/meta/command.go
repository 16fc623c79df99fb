package meta

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"purgelab/impl/corrupt"
	"purgelab/model/op"
)

// Kind is what a command asks for.
type Kind uint8

const (
	// Register opens a session; its reply carries the number. It is the only
	// command that needs none, and it cannot be repeated: a second one opens a
	// second session.
	Register Kind = iota + 1
	// CreatePartition creates a partition that does not exist. One that existed
	// before under that number gets the next incarnation.
	CreatePartition
	// DeletePartition removes a partition with everything in it.
	DeletePartition
	// RecreatePartition deletes a partition and creates it again, in one step.
	RecreatePartition
	// PurgePartition commits an intent to purge a partition.
	PurgePartition
	// PurgeTopic commits an intent for each partition of a topic.
	PurgeTopic
	// ReportStanding tells how the member of a machine stands, and SealPartition
	// ends an incarnation whose majority lost its memory. Machines send them; they
	// need no session, since a repeat changes nothing.
	ReportStanding
	SealPartition
	// ForceIncarnation begins the next incarnation of a partition from what is
	// known, without waiting for the members that have not answered. What they hold
	// is lost.
	ForceIncarnation
)

// repeatable: the command needs no session.
func (k Kind) repeatable() bool { return k == ReportStanding || k == SealPartition }

var kindNames = [...]string{"", "register", "create-partition", "delete-partition", "recreate-partition", "purge-partition", "purge-topic", "report-standing", "seal-partition", "force-incarnation"}

func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Topic numbers the topics from 0.
type Topic uint32

// Placement says which topic a partition belongs to. Partitions are numbered
// across the cluster, so each number belongs to one topic for ever.
type Placement struct {
	Topic     Topic
	Partition op.Partition
}

// Request is one command. Fields that a command does not use are zero.
type Request struct {
	Kind      Kind         `cbor:"1,keyasint"`
	Topic     Topic        `cbor:"2,keyasint,omitempty"`
	Partition op.Partition `cbor:"3,keyasint,omitempty"`
	// Session and Sequence identify the command, so that a repeat is answered and
	// not executed again. A session has one command at a time.
	Session  op.Session  `cbor:"4,keyasint,omitempty"`
	Sequence op.Sequence `cbor:"5,keyasint,omitempty"`
	// Incarnation that the caller believes in; 0: any.
	Incarnation op.Incarnation `cbor:"6,keyasint,omitempty"`
	// Expected goes with the intent of PurgePartition: the partition compares it
	// when the purge takes effect.
	Expected *op.Position `cbor:"7,keyasint,omitempty"`
	// Believed are the incarnations that the caller of PurgeTopic believes in;
	// those of partitions that it does not name may be any.
	Believed []Belief `cbor:"8,keyasint,omitempty"`
	// Standing is that of ReportStanding.
	Standing *Standing `cbor:"9,keyasint,omitempty"`
}

// Belief is the incarnation of a partition as a caller knows it.
type Belief struct {
	Partition   op.Partition   `cbor:"1,keyasint"`
	Incarnation op.Incarnation `cbor:"2,keyasint"`
}

// valid refuses what no state could make legal.
func (r *Request) valid() bool {
	switch r.Kind {
	case Register:
		return true
	case ReportStanding, SealPartition:
		return r.Incarnation != 0 && (r.Standing != nil) == (r.Kind == ReportStanding)
	case CreatePartition, DeletePartition, RecreatePartition, PurgePartition, PurgeTopic, ForceIncarnation:
		return r.Session != 0 && r.Sequence != 0 && r.Partition != OwnPartition
	}
	return false
}

// Reply is the answer to a command: OK, SessionExpired, StaleSequence,
// BadRequest, or one of the refusals that promise no effect (NotLeader,
// Transient). What came of each partition is in Results.
type Reply struct {
	Code    op.Code    `cbor:"1,keyasint,omitempty"`
	Session op.Session `cbor:"2,keyasint,omitempty"` // that Register opened
	Results []Result   `cbor:"3,keyasint,omitempty"`
}

// Result is what a command did to one partition.
type Result struct {
	Partition op.Partition `cbor:"1,keyasint"`
	// Code is OK, UnknownPartition, StaleIncarnation, or PolicyViolation for what
	// the plane does not allow: to create what exists or belongs to another topic.
	Code        op.Code        `cbor:"2,keyasint,omitempty"`
	Incarnation op.Incarnation `cbor:"3,keyasint,omitempty"`
	// Serial of the incarnation, Generation of the intent.
	Serial     Serial        `cbor:"4,keyasint,omitempty"`
	Generation op.Generation `cbor:"5,keyasint,omitempty"`
}

// Serial numbers everything that was ever created, from 0, in the order of the
// log: it names a partition in one incarnation.
type Serial uint32

// command is the data of a log entry.
type command struct {
	_ struct{} `cbor:",toarray"`
	// Origin and Number name the proposal.
	Origin, Number uint64
	Request        Request
}

var encMode = func() cbor.EncMode {
	m, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err)
	}
	return m
}()

func encode(c *command) []byte {
	b, err := encMode.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("meta: encode command: %v", err)) // a command has no type that cannot be encoded
	}
	return b
}

func decode(n op.Number, data []byte) (*command, error) {
	c := new(command)
	if err := cbor.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("op %d: command: %w: %w", n, corrupt.ErrCorrupt, err)
	}
	return c, nil
}
