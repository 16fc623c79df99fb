package model

import (
	"fmt"
	"slices"

	"purgelab/model/op"
)

// begins is what a replay keeps of a history with new incarnations.
type begins struct {
	list      []*Operation // the new incarnations
	filling   *Operation   // the one that begins, after a cut; nil: none does
	old, kept *State       // before and after that cut
	since     []int32      // of each operation, its latest place + 1; 0: it has none
	cuts      []span       // places that were cut off, in their sequence
	// states are those after so many places to which a cut may go back: not below anchor.
	states map[int]*State
	anchor int
	wanted map[int]bool // nil: all
}

// span holds the places from one up to another.
type span struct{ from, to int }

func newBegins(ops []Operation) *begins {
	b := &begins{since: make([]int32, len(ops)), states: map[int]*State{}}
	for i := range ops {
		if o := &ops[i]; o.Request.Kind == op.NewIncarnation && o.Reply != nil {
			b.list = append(b.list, o)
		}
	}
	return b
}

// after is the new incarnation that follows one; nil: there is none.
func (b *begins) after(i op.Incarnation) *Operation {
	for _, o := range b.list {
		if o.Reply.Agreed.Incarnation == i {
			return o
		}
	}
	return nil
}

// only keeps the states to which an order goes back.
func (b *begins) only(order []Placed) {
	b.wanted = map[int]bool{}
	for _, x := range order {
		if x.As == Cut {
			b.wanted[int(x.Open)] = true
		}
	}
}

// Kept is the partition after so many places, nil if a cut may not go back there.
func (p *Proof) Kept(places int) *State {
	if p.begins == nil || places < p.begins.anchor {
		return nil
	}
	return p.begins.states[places]
}

// Since is the latest place of an operation, counted from 1, and whether what it did
// there was cut off; 0: it has none.
func (p *Proof) Since(i int32) (place int, lost bool) {
	return int(p.begins.since[i]), p.begins.lost(i)
}

// keep notes the state after all places so far, the latest of which is that of o.
func (b *begins) keep(p *Proof, o *Operation) {
	if o != nil && o.Request.Kind == op.NewIncarnation && b.filling == nil {
		b.anchor = p.places
	}
	if b.anchor == p.places {
		clear(b.states)
	}
	if b.wanted == nil || b.wanted[p.places] {
		b.states[p.places] = p.state
	}
}

// placed notes an operation that took effect.
func (b *begins) placed(p *Proof, x Placed, before *State) {
	o := &p.ops[x.Index]
	b.since[x.Index] = int32(p.places + 1)
	if o == b.filling {
		b.filling = nil
	}
	if next := b.after(before.incarnation); b.filling == nil && p.state != before && next != nil && !mayLose(next.Request.MayLose, o.Request.Kind) {
		b.anchor = p.places + 1
	}
}

// cut goes back to what the partition was after the first kept places, for o to begin
// there.
func (p *Proof) cut(o *Operation, kept int64) string {
	b := p.begins
	s := b.states[int(kept)]
	switch {
	case o.Request.Kind != op.NewIncarnation || o != b.after(p.state.incarnation):
		return fmt.Sprintf("it does not begin the incarnation that follows %d", p.state.incarnation)
	case b.filling != nil:
		return "a cut follows a cut"
	case kept < int64(b.anchor) || kept > int64(p.places) || s == nil:
		return fmt.Sprintf("a cut keeps %d to %d places here, not %d", b.anchor, p.places, kept)
	}
	b.old, b.kept = p.state, s
	p.state, b.filling = s, o
	b.cuts = append(b.cuts, span{int(kept), p.places})
	return ""
}

// disagrees tells what is wrong with the messages of the state in which o begins, after
// a cut: up to the position that was agreed on they are those of the incarnation before.
func (b *begins) disagrees(s *State, o *Operation) string {
	a := o.Reply.Agreed
	switch {
	case a.Generation != s.generation || b.kept.generation == a.Generation && b.kept.End() >= a.Offset:
		return ""
	case b.old.generation != a.Generation:
		return fmt.Sprintf("the cut keeps less than generation %d, which was agreed on up to %s and is over", a.Generation, a)
	}
	for i := b.kept.End(); i < min(a.Offset, s.End(), b.old.End()); i++ {
		if s.log.at(i).Payload != b.old.log.at(i).Payload {
			return fmt.Sprintf("another message is at offset %d, and %s was agreed on", i, a)
		}
	}
	return ""
}

// lost tells whether what an operation did was cut off.
func (b *begins) lost(i int32) bool {
	at := int(b.since[i]) - 1
	return at >= 0 && slices.ContainsFunc(b.cuts, func(s span) bool { return s.from <= at && at < s.to })
}

// again tells why another copy of an operation may not take effect; empty: it may. If
// what it did was cut off, one that was sent more than once may be somewhere else in the
// log from which the partition goes on. The intent of a purge is carried out until it is
// settled: again, if that was cut off, and in another incarnation than the one in which
// it is answered.
func (p *Proof) again(i int32) string {
	o, b := &p.ops[i], p.begins
	intent := o.Request.Kind == op.Purge && o.Request.Intent != 0 && p.sem.Numbering == Restart
	switch {
	case intent && (b.lost(i) || o.Reply != nil && b.overlaps(o)):
	case !o.Request.Mutates() || o.Request.Kind == op.NewIncarnation || !b.lost(i):
		return "what it did was not cut off, so it does not take effect again"
	case !o.Again && !intent:
		return "a single copy was sent"
	}
	return ""
}

// overlaps tells whether a new incarnation may have begun between the call and the
// return of an operation.
func (b *begins) overlaps(o *Operation) bool {
	return slices.ContainsFunc(b.list, func(x *Operation) bool { return x.Call < o.Return && o.Call < x.Return })
}
