package replica

import (
	"fmt"

	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// Durability says when an op counts toward the quorum that acknowledges it.
type Durability uint8

const (
	// Persisted: once this replica has synced it. What was acknowledged survives
	// any loss of power.
	Persisted Durability = iota
	// Replicated: once this replica's write has returned. What was acknowledged
	// survives the crash of processes, not a loss of power by a quorum.
	Replicated
)

var durabilityNames = [...]string{"persisted", "replicated"}

func (d Durability) String() string { return durabilityNames[d] }

// ParseDurability reads what String prints.
func ParseDurability(s string) (Durability, error) {
	for i, n := range durabilityNames {
		if n == s {
			return Durability(i), nil
		}
	}
	return 0, fmt.Errorf("durability %q: want one of %v", s, durabilityNames)
}

// Policy is the durability of a partition's two kinds of data. They share one
// log, so an op that is persisted makes everything before it so.
type Policy struct{ Messages, Bookmarks Durability }

// of tells the durability of a request as an op of the log. Sessions and deletions
// of records go with messages. A purge takes messages and bookmarks, so it is as
// durable as the stricter of the two; under the design reset-record it is no op.
func (p Policy) of(req *op.Request) Durability {
	switch req.Kind {
	case op.StoreBookmark, op.DeleteBookmark, op.Poll:
		return p.Bookmarks
	case op.Purge:
		return min(p.Messages, p.Bookmarks)
	}
	return p.Messages
}

// forgetful: a loss of power may take what was acknowledged.
func (p Policy) forgetful() bool { return p != (Policy{}) }

// replicatedMark comes before the command of an op that need not be synced before
// it is acknowledged. It is CBOR's null, with which no command begins. Whoever has
// the entry knows from it alone, whatever the leader was that proposed it.
const replicatedMark = 0xf6

// persisted is what consensus asks of each entry: nil if all are. The empty entry
// of a new term promises nothing.
func (p Policy) persisted() func(*raftlog.Entry) bool {
	if !p.forgetful() {
		return nil
	}
	return func(e *raftlog.Entry) bool { return len(e.Data) > 0 && e.Data[0] != replicatedMark }
}
