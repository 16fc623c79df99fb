package judge

import (
	"fmt"

	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// Class names a kind of violation.
type Class string

// The classes, in the words that testers of logs use.
const (
	LostAppend      Class = "lost append"
	Duplicate       Class = "duplicate"
	Gap             Class = "gap"
	PositionReused  Class = "position reused"
	WrongOrder      Class = "wrong order"
	StaleRead       Class = "stale read"
	PurgedReturned  Class = "purged message returned"
	OldBookmark     Class = "bookmark of an older generation used"
	FreshSkipped    Class = "fresh message skipped"
	BookmarkRewound Class = "bookmark rewound"
	StartBack       Class = "start moved back"
	LatestRegressed Class = "latest regressed"
	RetriedTwice    Class = "retry executed twice"
)

// promises is what each class breaks.
var promises = map[Class]string{
	LostAppend:      "an acknowledged append is there for whoever asks later, until a purge or a delete-records removes it",
	Duplicate:       "an append takes effect once",
	Gap:             "offsets are dense: every one below the end was written by an append",
	PositionReused:  "a position names one message for ever",
	WrongOrder:      "appends are in the log in the order in which they took effect, and nothing is read before it was asked for",
	StaleRead:       "an answer shows the partition at an instant between call and return",
	PurgedReturned:  "no message of an older generation comes back",
	OldBookmark:     "a purge takes all bookmarks with it",
	FreshSkipped:    "next reads on after the last store or auto-commit, and skips nothing",
	BookmarkRewound: "a bookmark is what the last store or auto-commit made it",
	StartBack:       "within a generation the start is where the furthest delete-records put it, and never falls",
	LatestRegressed: "within a generation the end never falls",
	RetriedTwice:    "a numbered request is executed once, and its repeats get the first reply",
}

// Reason is why a history has no order: the named operations alone have none.
type Reason struct {
	Class Class
	Ops   []int32 // indexes in the history, the decisive one last
	Note  string  // what the two that disagree say
}

// Promise is what the history breaks.
func (r *Reason) Promise() string { return promises[r.Class] }

// Decisive is the operation that completes the reason.
func (r *Reason) Decisive() int32 { return r.Ops[len(r.Ops)-1] }

// Shown are the operations with their times.
func (r *Reason) Shown(ops []model.Operation) []verdict.Shown {
	var out []verdict.Shown
	for _, i := range r.Ops {
		o := &ops[i]
		s := verdict.Shown{Line: o.Line, Process: o.Client, Call: o.Call, Request: model.DescribeRequest(o.Request), Answer: "unknown"}
		if o.Reply != nil {
			s.Return, s.Answer = o.Return, model.DescribeReply(o.Request, o.Reply)
		}
		out = append(out, s)
	}
	return out
}

// String is the class, and what disagrees.
func (r *Reason) String() string { return fmt.Sprintf("%s: %s", r.Class, r.Note) }

// Text prints a reason in one line, the operations after it.
func (r *Reason) Text(ops []model.Operation) string {
	text := r.String()
	for _, s := range r.Shown(ops) {
		text += "; " + s.String()
	}
	return text
}

func (h *hints) because(c Class, note string, ops ...int32) {
	h.reasons = append(h.reasons, Reason{c, ops, note})
}

// reason looks for one in all ways that there are, once.
func (h *hints) reason() *Reason {
	if !h.sought {
		h.sought, h.found = true, h.seek()
	}
	return h.found
}

func (h *hints) seek() *Reason {
	if !h.later { // else there may have been more
		h.oneIncarnation()
		h.refusedNumbers()
		if !h.begins {
			h.strays()
		}
	}
	if parts := h.parts(); parts != nil {
		for _, p := range parts {
			h.reasons = append(h.reasons, p.reasons()...)
		}
		return h.earliest()
	}
	h.repeats()
	h.rules()
	return h.earliest()
}

// rules looks at answers each of which shows the partition at an instant of its own.
func (h *hints) rules() {
	if h.needs == nil {
		return
	}
	h.regressions()
	h.moved()
	h.unasked()
	if len(h.reasons) == 0 {
		h.gaps()
	}
	h.rewinds()
	if len(h.reasons) == 0 {
		h.beyond()
		h.resets()
	}
}

// earliest is the reason that is complete first.
func (h *hints) earliest() *Reason {
	var best *Reason
	var at int64
	for k := range h.reasons {
		last := int64(0)
		for _, i := range h.reasons[k].Ops {
			if h.ops[i].Reply != nil {
				last = max(last, h.ops[i].Return)
			}
		}
		if best == nil || last < at {
			best, at = &h.reasons[k], last
		}
	}
	return best
}

// reused: two appends are known to have written the same offset, by their own answers
// or by what polls show. A generation assigns an offset once, so that cannot be, unless
// both are the same numbered request.
func (h *hints) reused(a, b, reader int32, o op.Offset) {
	h.unfit = fmt.Errorf("line %d: offset %d holds the messages of line %d, too", h.ops[b].Line, o, h.ops[a].Line)
	if x, y := h.ops[a].Request, h.ops[b].Request; x.Session != 0 && x.Session == y.Session && x.Sequence == y.Sequence {
		return
	}
	ops := []int32{a}
	for _, i := range []int32{h.witness(a), b, h.witness(b), reader} {
		if !contains(ops, i) {
			ops = append(ops, i)
		}
	}
	h.because(PositionReused, fmt.Sprintf("offset %d of generation %d was given to two appends", o, h.base(a).Generation), ops...)
}

// witness is the operation that shows where an append is.
func (h *hints) witness(i int32) int32 {
	if r, ok := h.read[i]; ok && h.ops[i].Reply == nil {
		return r.reader
	}
	return i
}

func contains(list []int32, i int32) bool {
	for _, x := range list {
		if x == i {
			return true
		}
	}
	return false
}

// misplaced: a poll shows a message at p, where owner wrote another one (-1: nobody is
// known to have written there). If one append alone wrote that message, once, it is at
// one position for ever; so it must not be known to be at another one.
func (h *hints) misplaced(poll int32, p op.Position, m op.Payload, owner int32) {
	h.unfit = fmt.Errorf("line %d: nobody is known to have appended %s at %s", h.ops[poll].Line, m, p)
	if owner >= 0 && h.ops[owner].Reply != nil {
		h.because(PositionReused, fmt.Sprintf("%s holds %s for one and %s for the other", p, h.ops[owner].Request.Payloads[p.Offset-h.first(owner)], m), owner, poll)
		return
	}
	w, ok := h.writer(m)
	if !ok {
		if len(h.writers[m]) == 0 {
			h.stray = append(h.stray, stray{poll, p, m})
		}
		return
	}
	base, known := h.position(w.op)
	at := base
	at.Offset += w.nth
	switch {
	case !known:
		return
	case at.Generation < p.Generation:
		h.because(PurgedReturned, fmt.Sprintf("%s belongs to generation %d, and is read in generation %d", m, at.Generation, p.Generation), h.shown(w.op, poll)...)
	case at == p:
	case !h.readAt(w, at):
		h.because(PositionReused, fmt.Sprintf("%s was acknowledged at %s and is read at %s", m, at, p), h.shown(w.op, poll)...)
	default:
		class, r := Duplicate, h.ops[w.op].Request
		if h.ops[w.op].Again || r.Session != 0 && r.Sequence != 0 {
			class = RetriedTwice
		}
		h.because(class, fmt.Sprintf("%s is at %s and at %s", m, at, p), h.shown(w.op, poll)...)
	}
}

// readAt tells whether a poll shows a message of an append where the append is known to
// be.
func (h *hints) readAt(w nth, p op.Position) bool {
	m := h.ops[w.op].Request.Payloads[w.nth]
	for i := range h.ops {
		a := h.ops[i].Reply
		if a == nil || a.Position.Generation != p.Generation {
			continue
		}
		if k := p.Offset - a.Position.Offset; k >= 0 && k < op.Offset(len(a.Records)) && a.Records[k].Payload == m {
			return true
		}
	}
	return false
}

// shown lists an append, who shows where it is, and another poll.
func (h *hints) shown(a, poll int32) []int32 {
	if w := h.witness(a); w != a && w != poll {
		return []int32{a, w, poll}
	}
	return []int32{a, poll}
}

// position is where an append is known to be.
func (h *hints) position(i int32) (op.Position, bool) {
	if a := h.ops[i].Reply; a != nil {
		return a.Position, a.Code == op.OK
	}
	r, ok := h.read[i]
	return r.base, ok
}

// writer is the only append of a message.
func (h *hints) writer(m op.Payload) (nth, bool) {
	if h.writers == nil {
		h.writers = map[op.Payload][]nth{}
		for i := range h.ops {
			if r := h.ops[i].Request; r.Kind == op.Append {
				for k, p := range r.Payloads {
					h.writers[p] = append(h.writers[p], nth{int32(i), op.Offset(k)})
				}
			}
		}
	}
	w := h.writers[m]
	if len(w) != 1 {
		return nth{}, false
	}
	return w[0], true
}
