package judge

import (
	"cmp"
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// reachGeneration purges until the generation is g.
func (f *finder) reachGeneration(i int32, g op.Generation) bool {
	for f.gen < g && !f.done[i] {
		p, ok := f.purgeTo(g)
		if !ok {
			return f.fail(i, "no purge leads from generation %d to %d", f.gen, g)
		}
		f.busy[p] = true
		ok = f.purge(p, g)
		f.busy[p] = false
		if !ok {
			return false
		}
	}
	return true
}

// purgeTo is a purge that may begin generation g now.
func (f *finder) purgeTo(g op.Generation) (int32, bool) {
	for _, list := range [2][]int32{f.purgesOf[g], f.purgesOf[0]} {
		for _, p := range list {
			if f.called[p] && !f.done[p] && !f.busy[p] {
				return p, true
			}
		}
	}
	return 0, false
}

// purge puts a purge of intent g.
func (f *finder) purge(i int32, g op.Generation) bool {
	o := &f.ops[i]
	if g > f.gen && o.Request.Expected != nil {
		if o.Request.Expected.Incarnation != f.born {
			return f.fail(i, "it expects %s, in incarnation %d", *o.Request.Expected, f.born)
		}
		e := need{gen: o.Request.Expected.Generation, startMax: unlimited}
		e.end(o.Request.Expected.Offset)
		if !f.reach(i, &e) {
			return false
		}
	}
	if g > f.gen {
		gen := f.gen
		if !f.before(false, func(y *need) bool { return y.gen < g }) || !f.refuse(g, 0) {
			return false
		}
		for k := range f.bookmarks {
			f.perhaps(&f.bookmarks[k])
		}
		if f.gen != gen && o.Request.Expected != nil {
			return f.fail(i, "generation %d is over", gen)
		}
	}
	if f.done[i] {
		return true
	}
	if g > f.gen && g <= f.settled {
		return f.fail(i, "intent %d is settled", f.settled)
	}
	f.put(model.Placed{Index: i, Open: int64(g)})
	if g > f.gen {
		f.gen, f.settled, f.start, f.end = g, g, 0, 0
		f.times = make([]op.Timestamp, 0, len(f.logs[g]))
		f.forget()
	}
	return true
}

// refuse puts the purges that must be refused before the partition ends at an offset
// of a generation.
func (f *finder) refuse(g op.Generation, end op.Offset) bool {
	var room [scratch]int32
	for _, i := range append(room[:0], f.pending...) {
		if f.needs[i].role != mismatch || f.done[i] || f.busy[i] {
			continue
		}
		r := f.ops[i].Request
		if end == 0 && r.Intent <= g || end > 0 && r.Expected != nil && *r.Expected == (op.Position{Incarnation: f.born, Generation: g, Offset: end}) {
			if !f.force(i) {
				return false
			}
		}
	}
	return true
}

// mismatch puts a purge that settled its intent without any effect, or found it
// settled: after the lower ones, which would find the same. One that expects something
// else may come later, when a higher generation is there.
func (f *finder) mismatch(i int32) bool {
	g := f.ops[i].Request.Intent
	for _, y := range slices.Clone(f.pending) {
		if f.needs[y].role == purges && f.ops[y].Reply.Position.Generation < g && f.expected(y) && !f.busy[y] && !f.done[y] && !f.force(y) {
			return false
		}
	}
	if f.restarts() && (!f.promisesBelow(g) || !f.generationsBelow(i, g)) {
		return false
	}
	settled := f.restarts() && g <= f.settled
	if !f.done[i] && !settled && f.expected(i) { // somebody moves the end
		if held := f.logs[f.gen]; f.end < op.Offset(len(held)) && held[f.end] != 0 && f.called[held[f.end]-1] && !f.grow(i, f.end+1) {
			return false
		}
	}
	if f.done[i] {
		return true
	}
	if !settled && f.expected(i) {
		settled = f.settleUnknown(g)
	}
	if f.restarts() && g <= f.gen || !settled && f.expected(i) {
		return f.fail(i, "nothing settled intent %d", g)
	}
	if f.restarts() {
		f.settled = max(f.settled, g)
	}
	f.put(model.Placed{Index: i})
	return true
}

// generationsBelow purges to the generations that answers show, up to an intent that is
// about to be settled: none of them could begin after that.
func (f *finder) generationsBelow(i int32, intent op.Generation) bool {
	for _, g := range f.generations() {
		if f.gen < g && g < intent && !f.reachGeneration(i, g) {
			return false
		}
	}
	return true
}

// settleUnknown puts a purge of unknown outcome that settles an intent as mismatched.
func (f *finder) settleUnknown(g op.Generation) bool {
	for _, u := range f.conditional {
		if r := f.ops[u].Request; r.Intent >= g && !f.done[u] && !f.expected(u) {
			f.settled = max(f.settled, r.Intent)
			f.put(model.Placed{Index: u})
			return true
		}
	}
	return false
}

// expected tells whether a purge finds the partition as it expects.
func (f *finder) expected(i int32) bool {
	e := f.ops[i].Request.Expected
	return e == nil || *e == op.Position{Incarnation: f.born, Generation: f.gen, Offset: f.end}
}

// promisesBelow carries out what was accepted under a lower intent.
func (f *finder) promisesBelow(g op.Generation) bool {
	slices.SortFunc(f.promised, func(a, b int32) int {
		return cmp.Compare(f.ops[a].Promise.Position.Generation, f.ops[b].Promise.Position.Generation)
	})
	for _, p := range slices.Clone(f.promised) {
		if q := f.ops[p].Promise.Position.Generation; q < g && !f.done[p] && !f.busy[p] && !f.purge(p, q) {
			return false
		}
	}
	f.promised = slices.DeleteFunc(f.promised, func(p int32) bool { return f.done[p] })
	return true
}

// keepPromises carries out, at the end, what was accepted and never seen.
func (f *finder) keepPromises() bool { return f.promisesBelow(1<<32 - 1) }
