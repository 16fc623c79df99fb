package contract

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// item is an operation of the search: one of the history, or a phase of it.
type item struct {
	op    *foreign.Op
	phase phase
	id    int    // of sampling and effect: what belongs together
	key   string // of a purge by cursor: whose
	// places are the positions of the messages of an append, or of the records of a
	// poll, as far as the history tells anywhere; nil: it does not.
	places []*foreign.Position
	// prev are, of an append, the highest positions that are told below those of its
	// messages: the messages there come first.
	prev   []*foreign.Position
	placed bool // the history tells positions
	// turns are, of an append to a queue, when its messages come.
	turns  []turn
	client int

	call, end int64
	unknown   int // index among the unknown items, or -1
}

type phase uint8

const (
	whole    phase = iota
	sampling       // a purge sees the end
	effect         // it removes up to there
	trim           // what no cursor needs goes
)

func (x *item) String() string {
	o := x.op
	var b strings.Builder
	b.WriteString(o.F)
	for _, p := range o.Ask.Payloads {
		b.WriteString(" " + string(p))
	}
	switch {
	case o.F == foreign.Poll:
		fmt.Fprintf(&b, " %s", o.Ask.Strategy)
	case o.F == foreign.ListOffsets:
		fmt.Fprintf(&b, " %s", o.Ask.Which)
	}
	if key := o.Ask.Key + x.key; key != "" {
		b.WriteString(" " + key)
	}
	if o.Ask.At != nil {
		fmt.Fprintf(&b, " %s", o.Ask.At)
	}
	if o.Ask.Subject != "" {
		b.WriteString(" of " + o.Ask.Subject)
	}
	if o.Ask.Max != nil {
		fmt.Fprintf(&b, " max %d", *o.Ask.Max)
	}
	if o.Ask.Keep != nil {
		fmt.Fprintf(&b, " keep %d", *o.Ask.Keep)
	}
	b.WriteString([...]string{"", " (sees the end)", "", " (trims)"}[x.phase])
	if x.unknown >= 0 {
		return b.String() + " → unknown"
	}
	b.WriteString(" → ")
	a := &o.Answer
	switch {
	case a.Count != nil:
		fmt.Fprintf(&b, "%d", *a.Count)
	case o.F == foreign.Poll:
		b.WriteString(payloadsRead(a.Records))
	case a.Position != nil:
		b.WriteString(a.Position.String())
	default:
		b.WriteString("ok")
	}
	return b.String()
}

// wrong is a violation that needs no search: what is wrong, and the line of the
// operation that shows it.
type wrong struct {
	line   int
	reason string
}

// told is what a history of one partition says of its messages.
type told struct {
	appends map[op.Payload]*foreign.Op
	places  map[op.Payload]*foreign.Position
	readBy  map[op.Payload]*foreign.Op // the reader that returned first
	order   []*foreign.Position        // the places, rising
	placed  bool                       // all of them have places
	turns                              // of a queue
	twice   string                     // says which payload two appends share; empty: none
	doubled map[op.Payload]bool        // the payloads that do
}

// learn gathers what the answers tell, and finds what no order can explain: a
// message at two positions, two at one, one that nobody sent, or that was read
// before it was sent. Where numbering restarts a number alone names no message.
func learn(ops []foreign.Op, restarts bool) (*told, *wrong) {
	t := &told{
		appends: map[op.Payload]*foreign.Op{}, places: map[op.Payload]*foreign.Position{},
		readBy: map[op.Payload]*foreign.Op{}, doubled: map[op.Payload]bool{}, placed: true, turns: turnsOf(ops),
	}
	refused := map[op.Payload]*foreign.Op{}
	for i := range ops {
		o := &ops[i]
		if o.F != foreign.Append {
			continue
		}
		for _, p := range o.Ask.Payloads {
			if o.Outcome == history.NoEffect {
				refused[p] = o
				continue
			}
			if first, ok := t.appends[p]; ok {
				t.doubled[p] = true
				t.twice = fmt.Sprintf("payload %s is appended twice, at lines %d and %d: this contract is judged by payloads that are unique", p, first.Line, o.Line)
			}
			t.appends[p] = o
		}
	}
	holders := map[foreign.Position]op.Payload{}
	for i := range ops {
		o := &ops[i]
		if o.Outcome != history.Answered {
			continue
		}
		at, payloads := named(o)
		for k, p := range payloads {
			if o.F != foreign.Append { // who settles a message got it
				if w := t.read(o, p, refused); w != nil {
					return t, w
				}
			}
			if at[k] == nil || t.doubled[p] || restarts && at[k].Bare() {
				continue
			}
			if before, ok := t.places[p]; ok && *before != *at[k] {
				return t, &wrong{o.Line, fmt.Sprintf("line %d: %s is at %s, but was at %s", o.Line, p, at[k], before)}
			}
			if holder, ok := holders[*at[k]]; ok && holder != p {
				return t, &wrong{o.Line, fmt.Sprintf("line %d: position %s holds %s, but held %s: it is used twice", o.Line, at[k], p, holder)}
			}
			t.places[p], holders[*at[k]] = at[k], p
		}
	}
	for _, at := range t.places {
		t.order = append(t.order, at)
	}
	slices.SortFunc(t.order, func(a, b *foreign.Position) int { return a.Compare(*b) })
	for p, o := range t.appends {
		if t.places[p] == nil && !restarts && (o.Outcome == history.Answered || t.readBy[p] != nil) {
			t.placed = false
		}
	}
	return t, nil
}

// read notes that a poll returned a message.
func (t *told) read(o *foreign.Op, p op.Payload, refused map[op.Payload]*foreign.Op) *wrong {
	sent, ok := t.appends[p]
	switch {
	case !ok && refused[p] != nil:
		return &wrong{o.Line, fmt.Sprintf("line %d: %s was read, but its append of line %d failed", o.Line, p, refused[p].Line)}
	case !ok:
		return &wrong{o.Line, fmt.Sprintf("line %d: %s was read, but nobody appended it", o.Line, p)}
	case o.Return < sent.Call:
		return &wrong{o.Line, fmt.Sprintf("line %d: %s was read before its append of line %d began", o.Line, p, sent.Line)}
	}
	if first := t.readBy[p]; first == nil || o.Return < first.Return {
		t.readBy[p] = o
	}
	return nil
}

// named lists the messages that an answer names, with their positions.
func named(o *foreign.Op) ([]*foreign.Position, []op.Payload) {
	var at []*foreign.Position
	var payloads []op.Payload
	switch o.F {
	case foreign.Append:
		for i, p := range o.Ask.Payloads {
			payloads = append(payloads, p)
			at = append(at, after(o.Answer.Position, i))
		}
	case foreign.Poll:
		for i, r := range o.Answer.Records {
			payloads = append(payloads, r.Payload)
			if r.At == nil && i == 0 {
				r.At = o.Answer.Position
			}
			at = append(at, r.At)
		}
	case foreign.Settle, foreign.Return:
		return make([]*foreign.Position, len(o.Ask.Payloads)), o.Ask.Payloads
	}
	return at, payloads
}

func after(p *foreign.Position, n int) *foreign.Position {
	if p == nil {
		return nil
	}
	q := *p
	q.Offset += int64(n)
	return &q
}

// before is the highest position that is told below another one; nil: there is none.
func (t *told) before(at *foreign.Position) *foreign.Position {
	if at == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(t.order, at, func(a, b *foreign.Position) int { return a.Compare(*b) })
	if i == 0 {
		return nil
	}
	return t.order[i-1]
}

// bases are the positions right before the first message: one below the lowest
// that is told, or lower by the number of messages that nobody read and that may
// have come before it. It matters only to a purge by position.
func (t *told) bases(ops []foreign.Op) []foreign.Position {
	byPosition := func(o foreign.Op) bool { return o.F == foreign.Purge && o.Ask.At != nil }
	if !slices.ContainsFunc(ops, byPosition) {
		return nil
	}
	if len(t.order) == 0 || !t.order[0].Bare() {
		return nil
	}
	until := int64(0)
	for p, at := range t.places {
		if at == t.order[0] {
			until = t.appends[p].Return
		}
	}
	low := *t.order[0]
	low.Offset--
	out := []foreign.Position{low}
	for i := range ops {
		o := &ops[i]
		if o.F == foreign.Append && o.Outcome == history.Unknown && o.Call < until && t.readBy[o.Ask.Payloads[0]] == nil {
			low.Offset -= int64(len(o.Ask.Payloads))
			out = append(out, low)
		}
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

// plain makes the item of an operation that has no phases. An append of unknown
// outcome that somebody read took effect before that.
func (t *told) plain(o *foreign.Op) *item {
	x := &item{op: o, client: o.Process, call: o.Call, end: o.Return, unknown: -1, placed: t.placed}
	switch o.F {
	case foreign.Append:
		for _, p := range o.Ask.Payloads {
			x.turns = append(x.turns, t.turn(p))
			x.places = append(x.places, t.places[p])
			x.prev = append(x.prev, t.before(t.places[p]))
		}
	case foreign.Poll:
		x.places, _ = named(o)
	}
	if o.Outcome == history.Answered {
		return x
	}
	x.unknown = 0
	if o.F == foreign.Append {
		for _, p := range o.Ask.Payloads {
			if by := t.readBy[p]; by != nil {
				x.unknown, x.end = -1, min(x.end, by.Return)
			}
		}
		x.end = max(x.end, x.call+1)
	}
	return x
}

// cursors lists the consumers that a history names, sorted.
func cursors(ops []foreign.Op) []string {
	var out []string
	for i := range ops {
		if k := ops[i].Ask.Key; k != "" && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}
