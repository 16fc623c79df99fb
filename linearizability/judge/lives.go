package judge

import (
	"fmt"
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// life is one incarnation of a history with several: what was answered in it, what of
// unknown outcome may have taken effect in it, and, for the log from which it begins,
// what may have been on its way in the one before.
type life struct {
	*hints
	begins *model.Operation // nil: the partition was created
	ends   *model.Operation // the next new incarnation; nil: there is none
	of     []int32          // its operations in the whole; its own beginning is the first
	copied []bool           // it is another copy of an operation that is answered elsewhere
	late   []bool           // it may take effect before this life begins
	at     map[int32]int32  // where an operation of the whole is, itself
}

// lives divides a history by its new incarnations.
func (h *hints) lives() ([]*life, error) {
	all, err := h.chain()
	if err != nil {
		return nil, err
	}
	of := map[op.Incarnation]int{}
	for k, l := range all {
		of[l.born] = k
	}
	for i := range h.ops {
		o := &h.ops[i]
		switch {
		case o.Request.Kind == op.NewIncarnation:
		case o.Reply != nil:
			k, ok := of[incarnation(o)]
			if incarnation(o) == 0 {
				k, ok = at(all, o.Return), true
			}
			if !ok {
				return nil, fmt.Errorf("line %d: incarnation %d begins nowhere", o.Line, incarnation(o))
			}
			all[k].add(o, int32(i), false)
			h.copies(all, k, int32(i))
		case o.Request.Kind == op.Purge || o.Request.Incarnation == 0:
			h.everywhere(all, int32(i), false)
		default:
			if k, ok := of[o.Request.Incarnation]; ok {
				all[k].add(o, int32(i), false)
				if k+1 < len(all) && o.Call < all[k].ends.Return {
					all[k+1].add(o, int32(i), false)
				}
			}
		}
	}
	h.carry(all, of)
	for _, l := range all {
		if l.learn(); l.unfit != nil {
			return nil, l.unfit
		}
		l.events()
		if l.begins != nil {
			l.calls = slices.DeleteFunc(l.calls, func(i int32) bool { return i == 0 || l.late[i] })
			l.returns = slices.DeleteFunc(l.returns, func(i int32) bool { return i == 0 })
		}
	}
	for k := len(all) - 1; k > 0; k-- {
		if all[k-1].foresee(all[k]); all[k-1].unfit != nil {
			return nil, all[k-1].unfit
		}
		all[k-1].foreseeBookmarks(all[k])
	}
	return all, nil
}

// chain lists the incarnations, each of which follows the one before it.
func (h *hints) chain() ([]*life, error) {
	var all []*life
	begins := 0
	for i := range h.ops {
		o := &h.ops[i]
		if o.Request.Kind != op.NewIncarnation || o.Reply == nil {
			continue
		}
		begins++
		if all == nil {
			all = append(all, newLife(h.sem, o.Reply.Agreed.Incarnation))
		}
	}
	for k := 0; k < len(all); k++ {
		for i := range h.ops {
			o := &h.ops[i]
			if o.Request.Kind != op.NewIncarnation || o.Reply == nil || o.Reply.Agreed.Incarnation != all[k].born || o.Reply.Position.Incarnation <= all[k].born {
				continue
			}
			l := newLife(h.sem, o.Reply.Position.Incarnation)
			l.begins, all[k].ends = o, o
			l.add(o, int32(i), false)
			all = append(all, l)
			break
		}
	}
	if len(all) != begins+1 {
		return nil, fmt.Errorf("%d incarnations of %d follow one another", len(all), begins+1)
	}
	return all, nil
}

func newLife(sem model.Semantics, i op.Incarnation) *life {
	h := newHints(sem, nil)
	h.born = i
	return &life{hints: h, at: map[int32]int32{}}
}

// at is the incarnation in which something was answered of which nothing else tells.
func at(all []*life, instant int64) int {
	k := 0
	for k+1 < len(all) && all[k].ends.Return < instant {
		k++
	}
	return k
}

// add makes an operation of the whole one of a life; copied: not itself.
func (l *life) add(o *model.Operation, i int32, copied bool) {
	x := *o
	x.Promise = nil // it may be lost, and kept again
	if copied {
		x.Reply = nil
	}
	if !copied {
		l.at[i] = int32(len(l.ops))
	}
	late := x.Reply == nil && l.begins != nil && o.Call < l.begins.Return && (copied || o.Request.Kind == op.Purge || o.Request.Incarnation != l.born)
	l.ops, l.of, l.copied, l.late = append(l.ops, x), append(l.of, i), append(l.copied, copied), append(l.late, late)
}

// copies adds the copies of an operation that is answered in the k-th life: an intent is
// carried out in any, and what was sent more than once may be in the log of the next one.
func (h *hints) copies(all []*life, k int, i int32) {
	o := &h.ops[i]
	switch {
	case o.Request.Kind == op.Purge && o.Request.Intent != 0 && h.restarts():
		for j, l := range all {
			if j != k && l.open(o) || j == k && j > 0 && o.Call < l.begins.Return {
				l.add(o, i, true)
			}
		}
	case o.Again && o.Request.Mutates() && k+1 < len(all):
		all[k+1].add(o, i, true)
	}
}

// everywhere adds an operation of unknown outcome that means no incarnation.
func (h *hints) everywhere(all []*life, i int32, copied bool) {
	for _, l := range all {
		if l.open(&h.ops[i]) {
			l.add(&h.ops[i], i, copied)
		}
	}
}

// open tells whether an operation was called before a life ended.
func (l *life) open(o *model.Operation) bool { return l.ends == nil || o.Call < l.ends.Return }

// carry adds the appends of earlier incarnations whose messages are read in a later one.
func (h *hints) carry(all []*life, of map[op.Incarnation]int) {
	appended := h.appendedOnce()
	has := make([]map[int32]bool, len(all))
	for i := range h.ops {
		a := h.ops[i].Reply
		if a == nil || len(a.Records) == 0 {
			continue
		}
		k := of[a.Position.Incarnation]
		if k == 0 {
			continue
		}
		if has[k] == nil {
			has[k] = map[int32]bool{}
			for _, x := range all[k].of {
				has[k][x] = true
			}
		}
		for n := range a.Records {
			if x, ok := appended[a.Records[n].Payload]; ok && x >= 0 && !has[k][x] {
				has[k][x] = true
				all[k].add(&h.ops[x], x, true)
			}
		}
	}
}

// foresee notes where messages of unknown outcome are by what is read in the next life:
// if nothing else is there, they were there in this one.
func (l *life) foresee(next *life) {
	for n, i := range next.of {
		seen, ok := next.read[int32(n)]
		x, found := l.at[i]
		if !ok || !found || l.ops[x].Reply != nil {
			continue
		}
		if _, known := l.read[x]; !known && l.free(seen.base, len(l.ops[x].Request.Payloads)) && l.put(x, seen.base, -1) {
			l.read[x] = seen
		}
	}
}

// free tells whether n messages may be at a position.
func (h *hints) free(p op.Position, n int) bool {
	held := h.logs[p.Generation]
	for o := p.Offset; o < p.Offset+op.Offset(n) && o < op.Offset(len(held)); o++ {
		if held[o] != 0 {
			return false
		}
	}
	return true
}
