package model

import (
	"math"
	"slices"

	"purgelab/model/op"
)

// Operation is one operation of a recorded history of one partition.
type Operation struct {
	Client  int
	Request *op.Request
	// Reply is what the client was told; nil: the outcome is unknown. An
	// operation that is known to have had no effect is left out.
	Reply *op.Reply
	// Promise, if not nil, is the reply that an operation without one will get
	// when it takes effect, which it does once, at any time after its call: a
	// purge that was acknowledged when its intent was committed.
	Promise *op.Reply
	// Call < Return. Return is ignored if the outcome is unknown.
	Call, Return int64
	// Line names the operation in reports.
	Line int
	// Again says that more than one copy of the request may have reached the
	// partition.
	Again bool
}

// forever is the return time of an operation whose outcome is unknown.
const forever = math.MaxInt64

// facts is what the answers of a whole history reveal, per generation. An
// unknown operation whose effect no answer could have seen is as good as one
// that never happened, and need not be searched; see unknown.go.
type facts struct {
	bare    bool // all positions are without a generation: nothing below is complete
	untimed bool // no answer carries a timestamp
	// begins lists the new incarnations. What is found in one may have come from
	// an older one, so positions are kept without it, but for messages.
	begins []op.Incarnation

	taken     map[op.Position]op.Payload   // messages seen
	stamps    map[op.Position]op.Timestamp // timestamps seen, or the lowest possible
	ends      map[op.Generation]op.Offset  // highest end that any answer proves
	bareEnd   op.Offset                    // the same for a generation that is not known
	maxStarts map[op.Generation]op.Offset  // highest start seen
	seen      map[op.Generation]bool
	asked     []op.Timestamp       // timestamps from which an unknown poll reads
	reach     map[op.Key]op.Offset // sum of max over unknown polls by next

	// The rest maps to the latest return of an operation that saw it, or
	// perhaps saw it: after that nobody will.
	starts    map[op.Position]int64
	bookmarks map[op.Key]map[op.Position]int64
	read      map[op.Key]int64        // a bookmark, or that there is none
	deleted   map[op.Key]int64        // a bookmark existed
	lagged    map[op.Generation]int64 // a poll was reset to the end
	unlisted  int64                   // no message at or after a timestamp
}

func newFacts(ops []Operation) *facts {
	bare, untimed := withheld(ops)
	return &facts{
		bare: bare, untimed: untimed,
		taken: map[op.Position]op.Payload{}, stamps: map[op.Position]op.Timestamp{},
		ends: map[op.Generation]op.Offset{}, maxStarts: map[op.Generation]op.Offset{}, starts: map[op.Position]int64{},
		bookmarks: map[op.Key]map[op.Position]int64{}, read: map[op.Key]int64{}, deleted: map[op.Key]int64{},
		lagged: map[op.Generation]int64{}, seen: map[op.Generation]bool{}, reach: map[op.Key]op.Offset{},
	}
}

func (f *facts) end(p op.Position, beyond op.Offset) {
	f.ends[p.Generation] = max(f.ends[p.Generation], p.Offset+beyond)
}

func (f *facts) start(p op.Position, by int64) {
	p.Incarnation = 0
	f.starts[p] = max(f.starts[p], by)
	f.maxStarts[p.Generation] = max(f.maxStarts[p.Generation], p.Offset)
}

func (f *facts) bookmark(k op.Key, p op.Position, by int64) {
	if f.bookmarks[k] == nil {
		f.bookmarks[k] = map[op.Position]int64{}
	}
	p.Incarnation = 0
	f.bookmarks[k][p] = max(f.bookmarks[k][p], by)
	f.end(p, 1)
}

// learn adds what one operation reveals. It may add too much, never too
// little: every fact makes the search longer, none makes it wrong.
func (f *facts) learn(o *Operation) {
	r, a := o.Request, o.Reply
	if r.Expected != nil {
		f.end(*r.Expected, 0)
	}
	if a == nil {
		switch {
		case r.Kind != op.Poll || !r.AutoCommit:
		case r.Strategy == op.Next:
			f.reach[r.Key] += op.Offset(r.Max)
		case r.Strategy == op.AtTimestamp && !slices.Contains(f.asked, r.Timestamp):
			f.asked = append(f.asked, r.Timestamp)
		}
		return
	}
	if k, ok := keyOf(r); ok {
		f.read[k] = max(f.read[k], o.Return)
	}
	p := a.Position
	if r.Kind == op.NewIncarnation {
		f.begins = append(f.begins, p.Incarnation)
	}
	if hasBounds(a.Code) || r.Kind == op.NewIncarnation {
		f.saw(p)
		f.end(at(p, a.End), 0)
		f.start(at(p, a.Start), o.Return)
		return
	}
	if a.Code != op.OK && a.Code != op.Gone {
		return
	}
	switch r.Kind {
	case op.Append:
		f.saw(p)
		f.end(p, op.Offset(len(r.Payloads)))
		for i, m := range r.Payloads {
			q := at(p, p.Offset+op.Offset(i))
			f.taken[q] = m
			if r.Session != 0 && a.Timestamp != 0 { // it may be the repeat of an unknown one
				f.stamps[q] = max(f.stamps[q], a.Timestamp)
			}
		}
	case op.Poll:
		f.learnPoll(o)
	case op.StoreBookmark:
		if r.Bare { // which generation it met is not known
			f.bareEnd = max(f.bareEnd, r.At.Offset+1)
		} else {
			f.end(r.At, 1)
		}
	case op.DeleteBookmark:
		f.deleted[r.Key] = max(f.deleted[r.Key], o.Return)
	case op.GetBookmark:
		if a.Found {
			f.saw(p)
			f.bookmark(r.Key, p, o.Return)
		}
	case op.ListOffsets:
		if !a.Found {
			f.unlisted = max(f.unlisted, o.Return)
			return
		}
		f.saw(p)
		switch r.Which {
		case op.EarliestOffset:
			f.start(p, o.Return)
		case op.OffsetForTimestamp:
			f.start(p, o.Return)
			f.end(p, 1)
			f.stamps[p] = max(f.stamps[p], a.Timestamp)
		}
		f.end(p, 0)
	case op.DeleteRecords:
		f.saw(p)
		f.start(p, o.Return)
		f.end(p, 0)
	case op.Purge:
		f.saw(p)
		f.start(p, o.Return)
		f.end(p, 0)
	}
}

func (f *facts) learnPoll(o *Operation) {
	r, a := o.Request, o.Reply
	p := a.Position
	f.saw(p)
	f.end(p, op.Offset(a.Count))
	if r.Strategy != op.AtOffset {
		f.start(p, o.Return) // perhaps: it may have been clamped to the start
	}
	if r.Strategy == op.Next {
		f.bookmark(r.Key, at(p, p.Offset-1), o.Return)
		if r.Reset == op.Latest && a.Count == 0 {
			f.lagged[p.Generation] = max(f.lagged[p.Generation], o.Return)
		}
	}
	if a.Code == op.Gone && r.Strategy == op.AtTimestamp {
		f.stamps[p] = max(f.stamps[p], r.Timestamp)
	}
	for i, m := range a.Records {
		q := at(p, p.Offset+op.Offset(i))
		f.taken[q], f.stamps[q] = m.Payload, m.Timestamp
	}
}

// laterStamps are the timestamps that this incarnation and later ones show at a
// position, if its message is kept.
func (f *facts) laterStamps(p op.Position) []op.Timestamp {
	if len(f.begins) == 0 {
		return nil
	}
	var out []op.Timestamp
	if ts, ok := f.stamps[p]; ok {
		out = append(out, ts)
	}
	for _, i := range f.begins {
		if ts, ok := f.stamps[op.Position{Incarnation: i, Generation: p.Generation, Offset: p.Offset}]; ok && i > p.Incarnation {
			out = append(out, ts)
		}
	}
	return out
}

func (f *facts) saw(p op.Position) { f.seen[p.Generation] = true }

func at(p op.Position, o op.Offset) op.Position {
	p.Offset = o
	return p
}

// resolve settles unknown outcomes that the history itself betrays. An append
// one of whose payloads was read took effect, at a known position, before the
// first reader returned; a purge whose generation was seen took effect before
// the first answer that names it returned. Both become answered operations.
// Payloads and intents that several operations share are left alone.
func resolve(ops []Operation) []Operation {
	type proof struct {
		by   int // index of the operation
		nth  op.Offset
		many bool
	}
	payloads, intents := map[op.Payload]proof{}, map[op.Generation]proof{}
	for i := range ops {
		r := ops[i].Request
		switch r.Kind {
		case op.Append:
			for k, p := range r.Payloads {
				_, many := payloads[p]
				payloads[p] = proof{i, op.Offset(k), many}
			}
		case op.Purge:
			if r.Intent != 0 {
				_, many := intents[r.Intent]
				intents[r.Intent] = proof{by: i, many: many}
			}
		}
	}
	out := slices.Clone(ops)
	succession := slices.ContainsFunc(ops, func(o Operation) bool { return o.Request.Kind == op.NewIncarnation })
	settle := func(i int, reply op.Reply, by int64) {
		if ops[i].Reply != nil {
			return
		}
		if out[i].Reply == nil {
			out[i].Reply, out[i].Return, out[i].Again = &reply, forever, true
		}
		out[i].Return = min(out[i].Return, by)
	}
	var promised []int
	for i := range ops {
		if ops[i].Promise != nil {
			promised = append(promised, i)
		}
	}
	for i := range ops {
		a := ops[i].Reply
		if a == nil {
			continue
		}
		if ops[i].Request.Kind == op.Poll && a.Code == op.OK {
			for k, m := range a.Records {
				if by, ok := payloads[m.Payload]; ok && !by.many && !(succession && ops[by.by].Request.Incarnation != a.Position.Incarnation) {
					p := a.Position
					settle(by.by, op.Reply{Position: at(p, p.Offset+op.Offset(k)-by.nth), Timestamp: m.Timestamp}, ops[i].Return)
				}
			}
		}
		if succession {
			continue // a generation may come, be lost, and come again
		}
		g, ok := reveals(&ops[i])
		for _, j := range promised {
			// Once a generation is current, a lower intent changes nothing, so it may
			// as well have had its turn by then.
			if ok && ops[j].Request.Intent <= g {
				settle(j, *ops[j].Promise, ops[i].Return)
			}
		}
		if by, found := intents[g]; ok && found && !by.many {
			settle(by.by, op.Reply{Position: op.Position{Incarnation: max(a.Position.Incarnation, ops[i].Request.At.Incarnation), Generation: g}}, ops[i].Return)
		}
	}
	for i := range out { // an operation that is seen before it is called is wrong, but still has an interval
		if out[i].Reply != nil && out[i].Return < out[i].Call {
			out[i].Return = out[i].Call
		}
	}
	return out
}

// keepPromises gives every operation that must take effect, and was not seen to,
// all the time that there is.
func keepPromises(ops []Operation) []Operation {
	out := slices.Clone(ops)
	for i := range out {
		if o := &out[i]; o.Reply == nil && o.Promise != nil {
			o.Reply, o.Return = o.Promise, forever
		}
	}
	return out
}

// reveals tells which generation was current when the operation took effect,
// if its answer shows that.
func reveals(o *Operation) (op.Generation, bool) {
	a := o.Reply
	if a == nil || o.Request.Session != 0 && o.Request.Mutates() && o.Request.Kind != op.Purge {
		return 0, false // a repeat would show an old era
	}
	switch {
	case a.Position.Incarnation == 0 && o.Request.Kind != op.StoreBookmark:
		return 0, false
	case o.Request.Kind == op.Purge:
		return 0, false // ok names its own intent, whatever is current; a mismatch, the instant of the answer
	case hasBounds(a.Code) || o.Request.Kind == op.NewIncarnation:
		return a.Position.Generation, true
	case a.Code != op.OK && a.Code != op.Gone:
		return 0, false
	}
	switch o.Request.Kind {
	case op.StoreBookmark:
		return o.Request.At.Generation, !o.Request.Bare
	case op.Append, op.Poll, op.DeleteRecords:
		return a.Position.Generation, true
	case op.GetBookmark, op.ListOffsets:
		return a.Position.Generation, a.Found
	}
	return 0, false
}

// readPayloads are those that any poll returned.
func readPayloads(ops []Operation) map[op.Payload]bool {
	out := map[op.Payload]bool{}
	for i := range ops {
		if a := ops[i].Reply; a != nil {
			for _, m := range a.Records {
				out[m.Payload] = true
			}
		}
	}
	return out
}
