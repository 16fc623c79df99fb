package judge

import (
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// callUnknown makes an operation of unknown outcome one that may take effect. A purge
// is found by its generation, and an append that was read by its position; the others
// wait until an answer needs them.
func (f *finder) callUnknown(i int32) {
	o := &f.ops[i]
	r := o.Request
	switch {
	case r.Kind == op.Purge && r.Expected != nil && f.sem.Numbering == model.Restart:
		f.conditional = latest(append(f.conditional, i), maxUnknown)
	case o.Promise != nil:
		f.promised = append(f.promised, i)
	case f.sem.Malformed(r):
	case r.Kind == op.Append:
		if _, read := f.read[i]; !read {
			f.appends = latest(append(f.appends, i), maxFill)
		}
	case r.Kind == op.DeleteRecords || r.Kind == op.Purge && f.sem.Numbering == model.Continue:
		f.removals = latest(append(f.removals, i), maxUnknown)
	case r.Kind == op.StoreBookmark || r.Kind == op.DeleteBookmark || r.Kind == op.Poll && r.AutoCommit:
		if k, asked := f.keys[r.Key]; asked {
			b := &f.bookmarks[k]
			b.unknown = latest(append(b.unknown, i), maxUnknown)
			b.stores = b.stores || r.Kind == op.StoreBookmark && !r.Bare
		}
	}
}

// latest drops the older ones of a list that is more than twice as long as n.
func latest(list []int32, n int) []int32 {
	if len(list) <= 2*n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}

// maxFill bounds how many unknown appends are considered for one gap.
const maxFill = 256

// fill appends what was never read, up to the next message that is known, or up to an
// end that is needed: appends of unknown outcome whose sizes add up to the gap, or, if
// none do, to more than the end that is needed.
func (f *finder) fill(i int32, to op.Offset) bool {
	held, known := f.logs[f.gen], f.end+2*maxFill
	for o := f.end; o < min(known, op.Offset(len(held))); o++ {
		if held[o] != 0 {
			known = o
		}
	}
	gap, sum := int(min(to, known)-f.end), -1
	if gap > maxFill {
		return f.fail(i, "nothing shows %d messages at %d", gap, f.end)
	}
	f.appends = slices.DeleteFunc(f.appends, func(a int32) bool { return f.done[a] })
	var by []int32
	for _, most := range [2]int{gap, int(known - f.end)} {
		if sum < 0 {
			by = f.sums(most)
			sum = slices.IndexFunc(by[gap:], func(a int32) bool { return a >= 0 })
		}
	}
	if sum < 0 {
		return f.fail(i, "no appends of unknown outcome make %d messages at %d", gap, f.end)
	}
	var chosen []int32
	for s := gap + sum; s > 0; s -= len(f.ops[by[s]].Request.Payloads) {
		chosen = append(chosen, by[s])
	}
	slices.Sort(chosen)
	for _, a := range chosen {
		ts := op.Timestamp(0)
		for n := range f.ops[a].Request.Payloads {
			ts = max(ts, f.stamps[op.Position{Generation: f.gen, Offset: f.end + op.Offset(n)}])
		}
		if !f.append(a, ts) {
			return false
		}
	}
	return true
}

// sums tells of each number of messages with which append of unknown outcome it is
// reached first; -1: it is not.
func (f *finder) sums(most int) []int32 {
	by := make([]int32, most+1)
	for s := range by {
		by[s] = -1
	}
	for _, a := range f.appends[max(0, len(f.appends)-maxFill):] {
		n := len(f.ops[a].Request.Payloads)
		for s := most; s >= n; s-- {
			if by[s] < 0 && (s == n || by[s-n] >= 0) {
				by[s] = a
			}
		}
	}
	return by
}

// trimUnknown moves the start by a delete-records of unknown outcome: to where it is
// needed, if one leads there, else as far as one leads below.
func (f *finder) trimUnknown(to op.Offset) bool {
	best, at := int32(-1), f.start
	for _, i := range f.removals {
		r := f.ops[i].Request
		cutoff := r.At.Offset
		if r.Kind == op.Purge || cutoff == -1 {
			cutoff = f.end
		}
		current := r.Bare || r.Kind == op.Purge || r.At.Generation == f.gen
		if current && f.expected(i) && !f.done[i] && cutoff > at && cutoff <= min(to, f.end) {
			best, at = i, cutoff
		}
	}
	if best < 0 {
		return false
	}
	f.removals = slices.DeleteFunc(f.removals, func(i int32) bool { return i == best })
	return f.remove(best, at)
}
