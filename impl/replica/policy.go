package replica

import "fmt"

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
