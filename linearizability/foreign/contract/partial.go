package contract

import (
	"fmt"
	"math"
	"slices"

	"purgelab/linearizability/history"
	"purgelab/model"
	"purgelab/model/op"
)

// noMax is the max of a poll that does not tell how many records it wanted.
const noMax = math.MaxUint32

// gaps are what answers of docs/contract.md leave out that others of the same history tell.
type gaps struct {
	partial         bool // a position, or the bounds of a refusal
	nameless        bool // the position of a purge that begins a generation
	tagged, bare    bool // some positions name a generation, some do not
	timed, untimed  bool // some messages have a timestamp, some have none
	byTime          bool // something was asked by a timestamp
	lost            map[owner]bool
	dropped, opened int
}

// owner is a bookmark of a partition of which nobody knows where it is.
type owner struct {
	partition op.Partition
	key       op.Key
}

// gapsOf looks at all answers.
func (c *Contract) gapsOf(ops []history.Op) *gaps {
	g := &gaps{lost: map[owner]bool{}}
	for i := range ops {
		o := &ops[i]
		r, a := o.Request, o.Reply
		g.byTime = g.byTime || byTime(r)
		if a == nil || o.Partial {
			nameless := o.Partial && r.Kind == op.Purge && c.numbering == model.Restart
			g.nameless = g.nameless || nameless
			g.partial = g.partial || o.Partial && !nameless
			continue
		}
		if slices.Contains(bounded, a.Code) || tellsPlace(r, a) {
			g.tagged = g.tagged || a.Position.Incarnation != 0
			g.bare = g.bare || a.Position.Incarnation == 0
		}
		for k := range a.Records {
			g.stamp(a.Records[k].Timestamp)
		}
		if a.Code == op.OK && (r.Kind == op.Append || byTime(r) && r.Kind == op.ListOffsets && a.Found) {
			g.stamp(a.Timestamp)
		}
	}
	return g
}

func (g *gaps) stamp(t op.Timestamp) {
	g.timed = g.timed || t != 0
	g.untimed = g.untimed || t == 0
}

// tellsPlace tells whether an answer that was granted comes with a position that is compared.
func tellsPlace(r *op.Request, a *op.Reply) bool {
	if a.Code != op.OK && a.Code != op.Gone {
		return false
	}
	switch r.Kind {
	case op.Append, op.Poll, op.DeleteRecords, op.Purge:
		return true
	}
	return (r.Kind == op.GetBookmark || r.Kind == op.ListOffsets) && a.Found
}

func byTime(r *op.Request) bool {
	return r.Kind == op.Poll && r.Strategy == op.AtTimestamp || r.Kind == op.ListOffsets && r.Which == op.OffsetForTimestamp
}

// byPlace lets a poll by a timestamp that nobody can compare read where it did.
func byPlace(o *history.Op) {
	if r := o.Request; r.Kind == op.Poll && r.Strategy == op.AtTimestamp && tellsPlace(r, o.Reply) {
		at := *r
		at.Strategy, at.At, at.Bare, at.Timestamp = op.AtOffset, o.Reply.Position, o.Reply.Position.Incarnation == 0, 0
		o.Request = &at
	}
}

// settle rewrites operations so that they claim no more than their answers tell: a change
// without its position has an unknown outcome, another answer without it says nothing, and
// timestamps of which some are left out are all left out.
func (c *Contract) settle(ops []history.Op) ([]history.Op, []NotJudged) {
	g := c.gapsOf(ops)
	mixed, unstamped := g.tagged && g.bare, g.timed && g.untimed
	places := g.partial || mixed || g.tagged && g.nameless // without generations none is compared
	times := unstamped || !g.timed && g.byTime
	if places || times {
		var out []history.Op
		for _, o := range ops {
			if times {
				untime(&o)
			}
			r, a := o.Request, o.Reply
			lacks := o.Partial && (r.Kind != op.Purge || c.numbering == model.Continue || g.tagged) ||
				a != nil && mixed && a.Position.Incarnation == 0 && (slices.Contains(bounded, a.Code) || tellsPlace(r, a))
			switch {
			case times && r.Kind == op.ListOffsets && byTime(r):
				g.dropped++
			case !lacks:
				out = append(out, o)
			case o.Outcome == history.Accepted:
				o.Reply = nil
				o.Outcome, o.Return = history.Unknown, history.Never
				out = append(out, o)
			case g.open(&o):
				out = append(out, o)
			}
		}
		ops = out
	}
	ops = c.loosen(ops, g)
	var missing []NotJudged
	if unstamped {
		missing = append(missing, NotJudged{"timestamps", "some answers tell none"})
	}
	if g.opened > 0 {
		missing = append(missing, withoutPlace(g.opened))
	}
	return ops, note(missing, g.dropped)
}

// untime takes all timestamps from an answer.
func untime(o *history.Op) {
	if o.Reply == nil {
		return
	}
	byPlace(o)
	a := *o.Reply
	a.Timestamp = 0
	a.Records = slices.Clone(a.Records)
	for k := range a.Records {
		a.Records[k].Timestamp = 0
	}
	o.Reply = &a
}

// open makes an outcome unknown that lacks its position; false: it tells nothing at all.
func (g *gaps) open(o *history.Op) bool {
	r, a := o.Request, o.Reply
	if !r.Mutates() || slices.Contains(bounded, a.Code) {
		g.dropped++
		return false
	}
	if r.Kind == op.Poll {
		q := *r
		if q.Max = noMax; len(a.Records) > 0 {
			q.Max = uint32(len(a.Records))
		}
		o.Request = &q
	}
	g.opened++
	o.Reply, o.Outcome, o.Return = nil, history.Unknown, history.Never
	return true
}

// loosen takes from the operations that follow a bookmark what they say of it, where an
// unknown poll may have moved it nobody knows how far. What they read, and where, stays.
func (c *Contract) loosen(ops []history.Op, g *gaps) []history.Op {
	for i := range ops {
		o := &ops[i]
		r := o.Request
		if o.Outcome == history.Unknown && r.Kind == op.Poll && r.AutoCommit && (r.Max == noMax || r.Strategy == op.AtTimestamp && !g.timed || c.allows(shortPolls)) {
			g.lost[owner{r.Partition, r.Key}] = true
		}
	}
	if len(g.lost) == 0 {
		return ops
	}
	var out []history.Op
	for _, o := range ops {
		r := o.Request
		keyed := r.Kind == op.StoreBookmark || r.Kind == op.DeleteBookmark || r.Kind == op.GetBookmark ||
			r.Kind == op.Poll && (r.Strategy == op.Next || r.AutoCommit)
		if !keyed || !g.lost[owner{r.Partition, r.Key}] {
			out = append(out, o)
			continue
		}
		if r.Kind != op.Poll || o.Reply == nil || o.Reply.Code != op.OK || r.AutoCommit && r.Session != 0 {
			g.dropped++
			continue
		}
		q := *r
		q.Key, q.AutoCommit = op.Key{}, false
		if q.Strategy == op.Next {
			q.Strategy, q.At, q.Bare = op.AtOffset, o.Reply.Position, o.Reply.Position.Incarnation == 0
		}
		o.Request = &q
		out = append(out, o)
	}
	return out
}

func withoutPlace(n int) NotJudged {
	return NotJudged{"position of a change", fmt.Sprintf("%d were acknowledged without one: they are judged as if their outcome were unknown", n)}
}
