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
	for _, r := range reply.Results {
		c.promise(token, r)
	}
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

// intent is one that the plane has answered.
type intent struct {
	partition   op.Partition
	incarnation op.Incarnation
	generation  op.Generation
}

// promise notes an answer: no other command ever gets the same intent.
func (c *Checker) promise(token uint64, r meta.Result) {
	if r.Code != op.OK {
		return
	}
	last := c.last[r.Partition]
	if r.Incarnation > last.incarnation {
		last = intent{incarnation: r.Incarnation}
	}
	if r.Incarnation == last.incarnation {
		last.generation = max(last.generation, r.Generation)
	}
	c.last[r.Partition] = last
	if r.Generation == 0 {
		return
	}
	in := intent{r.Partition, r.Incarnation, r.Generation}
	if by, again := c.intents[in]; again && by != token {
		c.report(c.parts[r.Partition], 0, "AckDurable", "the metadata plane answered two commands with intent %d of i%d: it forgot the first", r.Generation, r.Incarnation)
	}
	c.intents[in] = token
}

// Promised checks the state of the metadata plane at rest: it shows every intent and
// every incarnation that was answered.
func (c *Checker) Promised(at int64, s *meta.State) {
	c.now = at
	s.Each(func(p *meta.Partition) {
		last := c.last[p.ID]
		if p.Incarnation < last.incarnation || p.Incarnation == last.incarnation && !p.Deleted && p.Highest() < last.generation {
			c.report(c.parts[p.ID], 0, "AckDurable", "the metadata plane answered i%d and intent %d, and shows i%d and intent %d", last.incarnation, last.generation, p.Incarnation, p.Highest())
		}
	})
}
