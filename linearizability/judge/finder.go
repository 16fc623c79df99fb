package judge

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// finder goes through a history in the order of time and puts operations in order: a
// read as soon as the partition is as its answer says, since a read stands in nobody's
// way; everything else as late as possible, when it returns, or when an answer needs it.
// Before the partition changes, whatever needs it as it is comes first.
//
// It knows the partition by its generation, its bounds and what each bookmark may be,
// and nothing else: whether the order is one is for the replay to say.
type finder struct {
	*hints
	gen, settled op.Generation
	start, end   op.Offset
	times        []op.Timestamp // of the messages of the generation
	latest       op.Timestamp
	session      op.Session
	bookmarks    []bookmark // by key
	todo, out    []config   // what search used last

	pending []int32 // called, answered, and not yet in the order
	done    []bool
	called  []bool
	busy    []bool // it is being put in its place
	// unknown outcomes that were called and may take effect yet
	appends, removals []int32
	promised          []int32
	conditional       []int32 // purges that expect something

	callsDone, returnsDone int
	finished               []int32 // in the order in which they were done
	why                    error
	// doubtful: it was stuck near here, so that more is thought of; bold: unknown outcomes
	// explain what a change of the start may explain, too.
	doubtful, bold bool
	time           int64 // of the latest event
	effort         int   // how often it tries to get past an event
	variant        int   // if not 0, more is thought of from the beginning, in another way
	whole          bool  // the history is not one of several incarnations

	now   int64 // places given so far
	order []place
	stuck error
}

// place says when an operation takes effect, among all others.
type place struct {
	at int64
	model.Placed
}

// find looks for an order. The error names the operation at which it gave up.
func find(h *hints) ([]model.Placed, error) {
	f := newFinder(h)
	f.whole = true
	f.events()
	return f.find()
}

func newFinder(h *hints) *finder {
	n := len(h.ops)
	f := &finder{hints: h, done: make([]bool, n), called: make([]bool, n), busy: make([]bool, n), finished: make([]int32, 0, n), order: make([]place, 0, n), effort: maxTries}
	f.bookmarks = make([]bookmark, len(h.keys))
	for i := range f.bookmarks {
		f.bookmarks[i].configs = []config{{offset: none}}
	}
	return f
}

func (f *finder) find() ([]model.Placed, error) {
	if !f.run() || !f.keepPromises() {
		return nil, f.stuck
	}
	for k := range f.bookmarks {
		f.prefer(&f.bookmarks[k], int32(k))
		f.commit(&f.bookmarks[k])
	}
	slices.SortFunc(f.order, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	out := make([]model.Placed, len(f.order))
	for i := range out {
		out[i] = f.order[i].Placed
	}
	return out, nil
}

// run goes through all events. Where it is stuck it goes back and tries again, with some
// operations in their places earlier than they need be.
func (f *finder) run() bool {
	r := rand.New(rand.NewPCG(uint64(len(f.ops)), uint64(1+f.variant)))
	var kept []*snapshot // in the order of time
	tries, furthest, all, gone, asked := 0, 0, 0, 0, false
	for f.event() < len(f.calls)+len(f.returns) {
		if n := f.event(); n >= furthest && n%every == 0 && (len(kept) == 0 || kept[len(kept)-1].event() < n) {
			kept = f.keep(kept)
		}
		f.doubtful = f.event() <= furthest || f.variant > 0
		f.bold = f.doubtful && tries%2 == 0
		gone++
		if f.advanceTime() {
			if f.doubtful && len(f.pending) > 0 && r.IntN(3+9*((tries+f.variant)%4)) == 0 {
				if i := f.pending[r.IntN(len(f.pending))]; f.needs[i].role != registers {
					f.force(i)
					f.stuck = nil
				}
			}
			continue
		}
		if n := f.event(); n > furthest {
			furthest, tries = n, 0
			f.why = f.stuck
		}
		if f.whole && !asked && all >= patience && 4*(gone-f.event()) >= len(f.calls)+len(f.returns) {
			if asked = true; f.reason() != nil {
				return false // no order would be found, however often it is tried
			}
		}
		if tries, all = tries+1, all+1; tries > f.effort || all > f.effort*5+len(f.ops)/100 {
			f.stuck = f.why
			return false
		}
		f.stuck = nil
		f.restore(kept[max(0, len(kept)-1-tries*len(kept)/(f.effort+1))])
	}
	return true
}

// event counts the calls and returns so far.
func (f *finder) event() int { return f.callsDone + f.returnsDone }

// advanceTime goes through the next call or return.
func (f *finder) advanceTime() bool {
	calls, returns := f.calls[f.callsDone:], f.returns[f.returnsDone:]
	if len(returns) == 0 || len(calls) > 0 && f.ops[calls[0]].Call < f.ops[returns[0]].Return {
		f.callsDone++
		f.time = f.ops[calls[0]].Call
		f.call(calls[0])
		return true
	}
	f.returnsDone++
	f.time = f.ops[returns[0]].Return
	return f.force(returns[0]) || f.gaveUp(returns[0])
}

// fail remembers why the finder gave up. It returns false.
func (f *finder) fail(i int32, format string, args ...any) bool {
	if f.stuck == nil {
		f.stuck = fmt.Errorf("line %d: %s", f.ops[i].Line, fmt.Sprintf(format, args...))
	}
	return false
}

func (f *finder) gaveUp(i int32) bool {
	return f.fail(i, "no place for it, in g%d [%d, %d)", f.gen, f.start, f.end)
}

// call makes an operation one that may take effect.
func (f *finder) call(i int32) {
	o := &f.ops[i]
	f.called[i] = true
	if o.Reply == nil {
		f.callUnknown(i)
		return
	}
	f.pending = append(f.pending, i)
	n := &f.needs[i]
	if n.role == keyed {
		f.join(i)
		return
	}
	f.look(i)
}

// look puts a read in the order if the partition is as it needs it.
func (f *finder) look(i int32) {
	n := &f.needs[i]
	if !n.pure || n.role == keyed || f.done[i] {
		return
	}
	if f.fits(n) || n.unlisted && !f.lists(f.ops[i].Request.Timestamp) {
		f.put(model.Placed{Index: i})
	}
}

// put gives an operation the next place.
func (f *finder) put(x model.Placed) {
	f.order = append(f.order, place{f.tick(), x})
	f.finish(x.Index)
}

func (f *finder) tick() int64 { f.now++; return f.now }

func (f *finder) finish(i int32) {
	f.done[i] = true
	f.finished = append(f.finished, i)
	if k := slices.Index(f.pending, i); k >= 0 {
		f.pending = slices.Delete(f.pending, k, k+1)
	}
}

// force puts an answered operation in the order now, after whatever it needs.
func (f *finder) force(i int32) bool {
	switch {
	case f.done[i]:
		return true
	case f.busy[i]:
		return f.fail(i, "it needs itself")
	}
	f.busy[i] = true
	defer func() { f.busy[i] = false }()
	n := &f.needs[i]
	switch n.role {
	case purges:
		return f.purge(i, f.ops[i].Reply.Position.Generation)
	case mismatch:
		return f.mismatch(i)
	case registers:
		return f.register(i)
	}
	if n.role == keyed && f.happened(i) {
		return f.settle(i)
	}
	if !f.reach(i, n) {
		return false
	}
	switch {
	case f.done[i]:
		return true
	case n.role == appends:
		return f.append(i, f.ops[i].Reply.Timestamp)
	case n.role == removes:
		return f.remove(i, f.ops[i].Reply.Position.Offset)
	case n.role == keyed:
		return f.settle(i)
	}
	f.look(i)
	for !f.done[i] && f.nudge() {
		f.look(i)
	}
	return f.done[i] || f.fail(i, "the partition is [%d, %d)", f.start, f.end)
}

// reach brings the partition to where n needs it.
func (f *finder) reach(i int32, n *need) bool {
	if !n.anyGen {
		if f.gen > n.gen {
			return f.fail(i, "generation %d is over", n.gen)
		}
		if !f.reachGeneration(i, n.gen) {
			return false
		}
	}
	for f.end < n.endMin && !f.done[i] {
		if !f.grow(i, n.endMin) {
			return false
		}
	}
	for f.start < n.startMin && !f.done[i] {
		if !f.trim(n.startMin) {
			return f.fail(i, "the start is %d", f.start)
		}
	}
	return f.done[i] || n.unlisted || f.fits(n) || f.fail(i, "the partition is g%d [%d, %d)", f.gen, f.start, f.end)
}

// scratch is how many operations are pending in most histories at most; where there are
// more, a copy of them costs an allocation.
const scratch = 32

// sweep puts every read that can be put now: the partition is about to change, perhaps
// only its end.
func (f *finder) sweep(endMoves bool) {
	var room [scratch]int32
	for _, i := range append(room[:0], f.pending...) {
		n := &f.needs[i]
		if n.role == keyed && n.pure {
			f.eager(&f.bookmarks[n.key])
		} else {
			f.look(i)
		}
	}
	for k := range f.bookmarks {
		if b := &f.bookmarks[k]; !b.fresh || f.doubtful || len(b.riddles) > 0 {
			f.speculate(k, endMoves)
		}
	}
}

// before forces what needs the partition as it is, for it is about to change.
func (f *finder) before(endMoves bool, needs func(*need) bool) bool {
	f.sweep(endMoves)
	var room [scratch]int32
	waiting := append(room[:0], f.pending...)
	slices.SortStableFunc(waiting, func(a, b int32) int { return cmp.Compare(f.needs[a].gen, f.needs[b].gen) })
	for _, i := range waiting {
		if !f.done[i] && !f.busy[i] && !f.needs[i].anyGen && needs(&f.needs[i]) && !f.force(i) {
			return false
		}
	}
	return true
}

// grow appends what belongs at the end, on the way to an end that is needed.
func (f *finder) grow(i int32, to op.Offset) bool {
	held := f.logs[f.gen]
	if f.end >= op.Offset(len(held)) || held[f.end] == 0 {
		return f.fill(i, to)
	}
	a := held[f.end] - 1
	switch {
	case !f.called[a] || f.done[a] || f.busy[a] || f.first(a) != f.end:
		return f.fail(i, "it needs line %d at %d", f.ops[a].Line, f.end)
	case f.ops[a].Reply != nil:
		return f.force(a)
	}
	return f.append(a, f.stamp(a))
}

// append puts an append at the end. ts is that of an unknown one.
func (f *finder) append(i int32, ts op.Timestamp) bool {
	n := op.Offset(len(f.ops[i].Request.Payloads))
	at := f.end
	if !f.before(true, func(y *need) bool { return y.gen == f.gen && y.endMax < at+n }) || !f.refuse(f.gen, at+n) {
		return false
	}
	if f.done[i] || f.end != at {
		return f.done[i] || f.fail(i, "the end moved from %d to %d", at, f.end)
	}
	f.latest = max(f.latest, ts)
	f.put(model.Placed{Index: i, Open: int64(f.latest)})
	for range n {
		f.times = append(f.times, f.latest)
	}
	f.end += n
	return true
}

// trim moves the start towards one that is needed.
func (f *finder) trim(to op.Offset) bool {
	best, at := int32(-1), to+1
	for _, i := range f.pending {
		n := &f.needs[i]
		if s := f.ops[i].Reply.Position.Offset; n.role == removes && !f.busy[i] && n.gen == f.gen && s > f.start && s < at {
			best, at = i, s
		}
	}
	if best >= 0 {
		return f.force(best)
	}
	return f.trimUnknown(to)
}

// remove puts a delete-records that leads to a start.
func (f *finder) remove(i int32, to op.Offset) bool {
	if to > f.start {
		if !f.before(false, func(y *need) bool { return y.gen == f.gen && y.startMax < to }) {
			return false
		}
		if f.done[i] {
			return true
		}
	}
	f.put(model.Placed{Index: i})
	f.start = max(f.start, to)
	return true
}

// register puts a register after those of lower sessions.
func (f *finder) register(i int32) bool {
	id := f.ops[i].Reply.Session
	for _, y := range slices.Clone(f.pending) {
		if f.needs[y].role == registers && f.ops[y].Reply.Session < id && !f.busy[y] && !f.done[y] && !f.force(y) {
			return false
		}
	}
	if id <= f.session {
		return f.fail(i, "session %d after session %d", id, f.session)
	}
	f.session = id
	f.put(model.Placed{Index: i})
	return true
}

// nudge lets something take effect that nobody asked for yet: an answer that shows no
// generation finds nothing, so perhaps it comes after a purge or a delete-records.
func (f *finder) nudge() bool {
	for _, i := range f.pending {
		if n := &f.needs[i]; !f.busy[i] && (n.role == purges && f.ops[i].Reply.Position.Generation > f.gen || n.role == removes && n.gen == f.gen && f.ops[i].Reply.Position.Offset > f.start) {
			return f.force(i)
		}
	}
	return false
}
