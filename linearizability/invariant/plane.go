package invariant

import (
	"slices"

	"purgelab/impl/meta"
	"purgelab/model/op"
)

// Planned checks an answer of the metadata plane: a repeated command gets the first
// answer, and of a command that concerns several partitions one that is gone takes
// nothing from the others. s is the state after it.
func (c *Checker) Planned(at int64, token uint64, reply *meta.Reply, s *meta.State) {
	if reply.Code != op.OK || len(reply.Results) == 0 {
		return
	}
	c.now = at
	first, again := c.planned[token]
	if !again {
		c.planned[token] = slices.Clone(reply.Results)
	} else if !slices.Equal(first, reply.Results) {
		c.report(c.parts[reply.Results[0].Partition], 0, "RetryIdempotent", "a command of the metadata plane was answered %v, and then %v", first, reply.Results)
	}
	if len(reply.Results) == 1 {
		return
	}
	for _, r := range reply.Results {
		// A partition in its first incarnation has never been deleted.
		refused := r.Code == op.UnknownPartition || r.Code == op.StaleIncarnation
		if p := s.Partition(r.Partition); refused && p != nil && !p.Deleted && p.Incarnation == 1 {
			c.report(c.parts[r.Partition], 0, "SiblingsIndependent", "the purge of a topic was refused for this partition, which exists: %v", reply.Results)
		}
	}
}
