// Package op is the vocabulary that the sequential model, the replica, the
// judges and the command line share: the names and shapes of client
// operations and of their results, and nothing that decides a result. It is a
// leaf: it imports no other package of this project, so that the model and
// the implementation can share words without sharing code.
//
// One partition is a replicated message log with its bookmarks. Messages have
// dense offsets that start at 0 in each generation; a generation begins with a
// purge. A position names a message for ever: incarnation, generation, offset.
package op

import (
	"fmt"
	"strconv"
)

// Number spaces. They are separate types because mixing them is the bug that
// this project looks for.
type (
	// Incarnation identifies one sequence of op numbers; the first is 1.
	Incarnation uint32
	// Generation is the number of the latest purge in a partition's history;
	// 0 before the first purge. Numbers may be skipped.
	Generation uint32
	// Offset is the public, dense number of a message within a generation,
	// starting at 0. -1 means "the end" where an operation says so.
	Offset int64
	// Number is an op number: the 1-based index of an operation in the
	// replicated log of one incarnation.
	Number uint64
	// Timestamp is the simulated or real time, in milliseconds, at which a
	// message was proposed, clamped so that it never falls within a partition.
	Timestamp int64
	// Session identifies a registered client session; 0 means none. Its value
	// is the number of the op that registered it.
	Session uint64
	// Sequence numbers the mutations of a session from 1, increasing, with
	// gaps allowed; 0 means unnumbered.
	Sequence uint64
	// Partition numbers the partitions of a cluster from 0.
	Partition uint32
	// Payload is the content of one message. Workloads make each one unique.
	Payload string
)

// Position is the full name of a message.
type Position struct {
	Incarnation Incarnation `json:"i" cbor:"1,keyasint"`
	Generation  Generation  `json:"g" cbor:"2,keyasint"`
	Offset      Offset      `json:"o" cbor:"3,keyasint"`
}

// String prints a position as i1:g3:42.
func (p Position) String() string {
	return fmt.Sprintf("i%d:g%d:%d", p.Incarnation, p.Generation, p.Offset)
}

// ParsePosition reads what String prints.
func ParsePosition(s string) (Position, error) {
	var p Position
	var rest string
	if n, err := fmt.Sscanf(s+" .", "i%d:g%d:%d %s", &p.Incarnation, &p.Generation, &p.Offset, &rest); n != 4 || err != nil || rest != "." {
		return Position{}, fmt.Errorf("position %q: want i<incarnation>:g<generation>:<offset>", s)
	}
	return p, nil
}

// ConsumerKind tells the two kinds of bookmark owners apart; the same rules
// hold for both.
type ConsumerKind uint8

const (
	Consumer ConsumerKind = iota
	Group
)

func (k ConsumerKind) String() string {
	if k == Group {
		return "group"
	}
	return "consumer"
}

// Key names the owner of a bookmark.
type Key struct {
	Kind ConsumerKind `json:"kind" cbor:"1,keyasint"`
	ID   uint32       `json:"id" cbor:"2,keyasint"`
}

// String prints a key as consumer-3 or group-3.
func (k Key) String() string { return k.Kind.String() + "-" + strconv.FormatUint(uint64(k.ID), 10) }

// Less orders keys: consumers before groups, then by id.
func (k Key) Less(o Key) bool {
	if k.Kind != o.Kind {
		return k.Kind < o.Kind
	}
	return k.ID < o.ID
}

// Kind is the operation that a request asks for.
type Kind uint8

const (
	// Register opens a session; its reply carries the session's number.
	Register Kind = iota + 1
	// Append stores a batch of payloads: all or nothing.
	Append
	// Poll reads records, and with AutoCommit raises the bookmark.
	Poll
	// StoreBookmark sets a bookmark; it may move back.
	StoreBookmark
	// DeleteBookmark removes a bookmark.
	DeleteBookmark
	// GetBookmark reads a bookmark.
	GetBookmark
	// ListOffsets answers the earliest offset, the latest (the end), or the
	// first one at or after a timestamp.
	ListOffsets
	// DeleteRecords moves the start up to a cutoff; -1 means the end at the
	// instant of effect.
	DeleteRecords
	// Purge drops every message and every bookmark and begins a generation.
	Purge
	// NewIncarnation is asked by no client: a majority of the replicas lost their
	// memory, and the partition goes on under new op numbers from what the log of
	// one of them holds.
	NewIncarnation
)

var kindNames = [...]string{"", "register", "append", "poll", "store-bookmark", "delete-bookmark", "get-bookmark", "list-offsets", "delete-records", "purge", "new-incarnation"}

func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// ParseKind reads what String prints.
func ParseKind(s string) (Kind, error) {
	for k := Register; int(k) < len(kindNames); k++ {
		if kindNames[k] == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("operation %q: want one of %v", s, kindNames[1:])
}

// Mutates tells whether the request is an op of the log. A poll with
// auto-commit is one; every other read is not.
func (r *Request) Mutates() bool {
	switch r.Kind {
	case Poll:
		return r.AutoCommit
	case GetBookmark, ListOffsets:
		return false
	}
	return true
}

// Strategy says where a poll starts.
type Strategy uint8

const (
	// Next starts after the bookmark of Key, or at the start without one.
	Next Strategy = iota
	// AtOffset starts at At.
	AtOffset
	// First starts at the start of the log.
	First
	// Last reads the last Max records.
	Last
	// AtTimestamp starts at the first record at or after Timestamp.
	AtTimestamp
)

var strategyNames = [...]string{"next", "offset", "first", "last", "timestamp"}

func (s Strategy) String() string { return strategyNames[s] }

// ParseStrategy reads what String prints.
func ParseStrategy(s string) (Strategy, error) {
	for i, n := range strategyNames {
		if n == s {
			return Strategy(i), nil
		}
	}
	return 0, fmt.Errorf("strategy %q: want one of %v", s, strategyNames)
}

// Reset decides what a poll by Next does when the next offset lies below the
// start because records were deleted.
type Reset uint8

const (
	// Earliest reads at the start.
	Earliest Reset = iota
	// Latest reads at the end, so finds nothing.
	Latest
	// Fail answers OffsetOutOfRange.
	Fail
)

var resetNames = [...]string{"earliest", "latest", "error"}

func (r Reset) String() string { return resetNames[r] }

// ParseReset reads what String prints.
func ParseReset(s string) (Reset, error) {
	for i, n := range resetNames {
		if n == s {
			return Reset(i), nil
		}
	}
	return 0, fmt.Errorf("reset %q: want one of %v", s, resetNames)
}

// Which selects what ListOffsets answers.
type Which uint8

const (
	EarliestOffset Which = iota
	LatestOffset
	OffsetForTimestamp
)

var whichNames = [...]string{"earliest", "latest", "timestamp"}

func (w Which) String() string { return whichNames[w] }

// ParseWhich reads what String prints.
func ParseWhich(s string) (Which, error) {
	for i, n := range whichNames {
		if n == s {
			return Which(i), nil
		}
	}
	return 0, fmt.Errorf("offset kind %q: want one of %v", s, whichNames)
}

// Losses is a set of what a new incarnation may lack, though it took effect in
// the one before.
type Losses uint8

const (
	// LosesMessages: ops whose durability is that of messages, which is
	// replicated: register, append, delete-records. A purge takes bookmarks too: it
	// may be lacking if both are replicated.
	LosesMessages Losses = 1 << iota
	// LosesBookmarks: ops whose durability is that of bookmarks, which is
	// replicated: store, delete, poll with auto-commit.
	LosesBookmarks
	// LosesSynced: anything. Disks are gone or damaged, or an operator did not
	// wait for all members to answer.
	LosesSynced
)

var lossNames = [...]string{"messages", "bookmarks", "synced"}

// Names lists the set.
func (l Losses) Names() []string {
	var out []string
	for i, n := range lossNames {
		if l&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// ParseLosses reads what Names lists.
func ParseLosses(names []string) (Losses, error) {
	var l Losses
next:
	for _, s := range names {
		for i, n := range lossNames {
			if n == s {
				l |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("loss %q: want one of %v", s, lossNames)
	}
	return l, nil
}

// Request is one client operation on one partition. Fields that an operation
// does not use are zero.
type Request struct {
	Kind      Kind      `cbor:"1,keyasint,omitempty"`
	Partition Partition `cbor:"2,keyasint,omitempty"`

	// Session and Sequence identify a mutation so that a repeat of it is
	// answered and not executed again. Both zero: unnumbered.
	Session  Session  `cbor:"3,keyasint,omitempty"`
	Sequence Sequence `cbor:"4,keyasint,omitempty"`

	// Payloads is the batch of an Append; never empty.
	Payloads []Payload `cbor:"5,keyasint,omitempty"`

	// Key is the bookmark owner of Poll by Next, and of bookmark operations.
	Key Key `cbor:"6,keyasint,omitempty"`
	// At is the position of Poll by AtOffset and of StoreBookmark, and the
	// cutoff of DeleteRecords (Offset -1: the end).
	At Position `cbor:"7,keyasint,omitempty"`
	// Bare says that At carries an offset only, as most brokers' clients send
	// it: incarnation and generation are not checked.
	Bare bool `cbor:"8,keyasint,omitempty"`

	Strategy   Strategy `cbor:"9,keyasint,omitempty"`
	Reset      Reset    `cbor:"10,keyasint,omitempty"`
	Max        uint32   `cbor:"11,keyasint,omitempty"` // of Poll: at most this many records, at least 1
	AutoCommit bool     `cbor:"12,keyasint,omitempty"` // of Poll: also raise the bookmark of Key to the last record read

	Which     Which     `cbor:"13,keyasint,omitempty"`
	Timestamp Timestamp `cbor:"14,keyasint,omitempty"` // of ListOffsets and Poll by AtTimestamp

	// Intent is the generation that the metadata plane gave to this purge.
	// 0 in a history of a system that does not reveal it.
	Intent Generation `cbor:"15,keyasint,omitempty"`
	// Expected, if not nil, makes a Purge or a DeleteRecords conditional: it
	// takes effect only while the position (incarnation, generation, end) of
	// the partition equals it; else the answer is Mismatch.
	Expected *Position `cbor:"16,keyasint,omitempty"`

	// Incarnation of the partition that the client believes in; 0: it names none.
	// In another one the request has no effect.
	Incarnation Incarnation `cbor:"17,keyasint,omitempty"`
	// MayLose is what a NewIncarnation may lack.
	MayLose Losses `cbor:"18,keyasint,omitempty"`
}

// Code classifies a reply.
type Code uint8

const (
	OK Code = iota
	// OffsetOutOfRange: below the start or above the end; the reply carries both.
	OffsetOutOfRange
	// InvalidOffset: a bookmark at or above the end.
	InvalidOffset
	// NotFound: deleting a bookmark that does not exist.
	NotFound
	// StaleGeneration: a position of another generation of this incarnation.
	StaleGeneration
	// StaleIncarnation: a position of an incarnation that does not reach here.
	StaleIncarnation
	// Mismatch: the expected position is not the partition's.
	Mismatch
	// Gone: the range of an auto-commit poll can no longer be read. The reply
	// carries the range; the bookmark was raised when the poll was applied.
	Gone
	// StaleSequence: a sequence below the session's last.
	StaleSequence
	// SessionExpired: the session is not, or no longer, in the table.
	SessionExpired
	// UnknownPartition: no such partition.
	UnknownPartition
	// PolicyViolation: the partition does not allow the operation.
	PolicyViolation
	// Transient, NotLeader and NotReady promise that the request had no effect.
	Transient
	NotLeader
	NotReady
	// StorageError: the replica's disk failed before the request had effect.
	StorageError
	// BadRequest: the request is malformed, so it has no effect: an append
	// without payloads, a poll of at most 0 records, half of an identity.
	BadRequest
)

var codeNames = [...]string{"ok", "offset-out-of-range", "invalid-offset", "not-found", "stale-generation", "stale-incarnation", "mismatch", "gone", "stale-sequence", "session-expired", "unknown-partition", "policy-violation", "transient", "not-leader", "not-ready", "storage-error", "bad-request"}

func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "code(" + strconv.Itoa(int(c)) + ")"
}

// ParseCode reads what String prints.
func ParseCode(s string) (Code, error) {
	for i, n := range codeNames {
		if n == s {
			return Code(i), nil
		}
	}
	return 0, fmt.Errorf("code %q: want one of %v", s, codeNames)
}

// Retriable tells whether the code promises that the request had no effect and
// that asking again, perhaps another replica, may succeed.
func (c Code) Retriable() bool { return c == Transient || c == NotLeader || c == NotReady }

// Record is one message as a reader sees it. Its offset follows from the
// reply's position.
type Record struct {
	Payload   Payload   `json:"p"`
	Timestamp Timestamp `json:"t"`
}

// Reply is the answer to one Request. Fields that an answer does not use are
// zero.
type Reply struct {
	Code Code `cbor:"1,keyasint,omitempty"`

	// Position is: of Append, the first record's; of Poll, the first record's
	// or, when there is none, where the next would be; of GetBookmark, the
	// bookmark, if Found; of ListOffsets, the offset, if Found; of
	// DeleteRecords, the new start (the low watermark; Offset -1 on an error);
	// of Purge, (incarnation, new generation, 0). With Start and End: the current
	// incarnation and generation, Offset -1.
	Position Position `cbor:"2,keyasint,omitempty"`
	// Found is false when GetBookmark or ListOffsets by timestamp found none.
	Found bool `cbor:"3,keyasint,omitempty"`
	// Timestamp is that of the appended batch, or of the record that
	// ListOffsets by timestamp found.
	Timestamp Timestamp `cbor:"4,keyasint,omitempty"`
	// Records are what a Poll read; Count is their number, also when they are
	// Gone.
	Records []Record `cbor:"5,keyasint,omitempty"`
	Count   uint32   `cbor:"6,keyasint,omitempty"`
	// Start and End come with OffsetOutOfRange, InvalidOffset, StaleGeneration,
	// StaleIncarnation and Mismatch: the current era's; and with NewIncarnation.
	Start Offset `cbor:"7,keyasint,omitempty"`
	End   Offset `cbor:"8,keyasint,omitempty"`
	// Session is what Register opened.
	Session Session `cbor:"9,keyasint,omitempty"`
	// Agreed comes with NewIncarnation: where the partition ended as of the last
	// op of the old incarnation that the new one knows to have been committed. At
	// and above it no position of the old one lives on.
	Agreed Position `cbor:"10,keyasint,omitempty"`
}
