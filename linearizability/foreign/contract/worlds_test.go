package contract

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// world is a broker that does what its contract says, written down once more, the
// simplest way: one thing changes after the other. Sees is the instant at which a
// purge sees the end, does the one at which an operation takes effect.
type world interface {
	pick(r *rand.Rand, n int) foreign.Op
	sees(o *foreign.Op)
	does(o *foreign.Op, r *rand.Rand)
}

// live runs clients against a world and records what they saw. Of the operations
// some end unknown, of which some never happen.
func live(w world, r *rand.Rand, clients, count int, unknown float64) []foreign.Op {
	var ops []foreign.Op
	stage := make([]int, clients) // 0 idle, then: called, seen, done
	at := make([]int, clients)
	lost := make([]bool, clients)
	now := int64(0)
	for {
		c := r.IntN(clients)
		if stage[c] == 0 && len(ops) == count {
			if !slices.ContainsFunc(stage, func(s int) bool { return s != 0 }) {
				return ops
			}
			continue
		}
		now++
		if stage[c] == 0 {
			o := w.pick(r, len(ops))
			o.Process, o.Call, o.Return, o.Line = c, now, history.Never, len(ops)+1
			ops = append(ops, o)
			at[c], stage[c], lost[c] = len(ops)-1, 1, r.Float64() < unknown
			continue
		}
		o := &ops[at[c]]
		switch stage[c]++; {
		case stage[c] == 2:
			w.sees(o)
		case stage[c] == 3:
			if !lost[c] || r.IntN(2) == 0 {
				w.does(o, r)
			}
		default:
			stage[c] = 0
			if lost[c] {
				o.Outcome, o.Answer = history.Unknown, foreign.Answer{}
			} else {
				o.Outcome, o.Return = history.Answered, now
				if o.F == foreign.Poll && o.Answer.Records == nil {
					o.Answer.Records = []foreign.Record{}
				}
			}
		}
	}
}

func number(n int) *uint32 {
	u := uint32(n)
	return &u
}

func payload(n int) []op.Payload { return []op.Payload{op.Payload(fmt.Sprintf("m%d", n))} }

// streamWorld is NATS; with ledgers, Pulsar; exact, Kafka, whose purge is a
// delete-records.
type streamWorld struct {
	ledgers bool
	exact   bool
	start   int64 // if exact
	last    foreign.Position
	log     []foreign.Record
	subject map[op.Payload]string
	cursors map[string]foreign.Position // the last one passed
	ends    map[int]foreign.Position
}

func newStreamWorld(ledgers bool) *streamWorld {
	w := &streamWorld{ledgers: ledgers, subject: map[op.Payload]string{}, cursors: map[string]foreign.Position{}, ends: map[int]foreign.Position{}}
	w.last = *foreign.At(0)
	if ledgers {
		w.last.Ledger = 3
	}
	return w
}

func (w *streamWorld) pick(r *rand.Rand, n int) foreign.Op {
	key := fmt.Sprintf("c%d", r.IntN(2))
	switch k := r.IntN(10); {
	case k < 4:
		return foreign.Op{F: foreign.Append, Ask: foreign.Ask{Payloads: payload(n), Subject: string("ab"[r.IntN(2)])}}
	case k < 6:
		if !w.ledgers && r.IntN(3) == 0 {
			return foreign.Op{F: foreign.ListOffsets, Ask: foreign.Ask{Which: op.Which(r.IntN(2))}}
		}
		return foreign.Op{F: foreign.Poll, Ask: foreign.Ask{Strategy: op.First, Max: number(1 + r.IntN(3))}}
	case k < 8:
		return foreign.Op{F: foreign.Poll, Ask: foreign.Ask{Key: key, Max: number(1 + r.IntN(2)), AutoCommit: r.IntN(3) > 0}}
	}
	o := foreign.Op{F: foreign.Purge}
	switch k := r.IntN(4); {
	case w.exact && k > 1:
		return foreign.Op{F: foreign.DeleteRecords, Ask: foreign.Ask{At: foreign.At(int64(r.IntN(7) - 1))}}
	case w.exact:
	case w.ledgers && k < 2:
		o.Ask.Key = key
	case w.ledgers:
	case k == 1:
		o.Ask.Subject = "a"
	case k == 2:
		o.Ask.Keep = number(r.IntN(3))
	case k == 3:
		o.Ask.At = foreign.At(int64(r.IntN(8)))
	}
	return o
}

func (w *streamWorld) sees(o *foreign.Op) { w.ends[o.Line] = w.last }

func (w *streamWorld) does(o *foreign.Op, r *rand.Rand) {
	switch o.F {
	case foreign.Append:
		if w.last.Offset++; w.ledgers && r.IntN(3) == 0 {
			w.last = foreign.Position{Ledger: w.last.Ledger + 1}
		}
		p := w.last
		w.log = append(w.log, foreign.Record{At: &p, Payload: o.Ask.Payloads[0]})
		w.subject[o.Ask.Payloads[0]] = o.Ask.Subject
		o.Answer.Position = &p
	case foreign.Poll:
		for _, m := range w.log {
			if passed, ok := w.cursors[o.Ask.Key]; o.Ask.Key != "" && ok && m.At.Compare(passed) <= 0 || len(o.Answer.Records) == int(*o.Ask.Max) {
				continue
			}
			o.Answer.Records = append(o.Answer.Records, m)
		}
		if k := o.Ask.Key; k != "" {
			if _, ok := w.cursors[k]; !ok {
				w.cursors[k] = foreign.Position{Ledger: -1, Offset: -9}
			}
			if n := len(o.Answer.Records); n > 0 && o.Ask.AutoCommit {
				w.cursors[k] = *o.Answer.Records[n-1].At
			}
		}
	case foreign.ListOffsets:
		end := w.last.Next()
		switch o.Answer.Position = &end; {
		case o.Ask.Which == op.LatestOffset:
		case w.exact:
			o.Answer.Position = foreign.At(w.start)
		case len(w.log) > 0:
			o.Answer.Position = w.log[0].At
		}
	case foreign.DeleteRecords:
		w.delete(o)
	case foreign.Purge:
		if w.exact {
			c := *o
			c.Ask.At = foreign.At(-1)
			w.delete(&c)
			o.Answer = c.Answer
			return
		}
		w.purge(o)
	}
}

// delete is Kafka's.
func (w *streamWorld) delete(o *foreign.Op) {
	at, end := *o.Ask.At, w.last.Next()
	if at.Offset == -1 {
		at = end
	}
	if at.Compare(end) > 0 {
		low, high := w.start, end.Offset
		o.Answer = foreign.Answer{Code: op.OffsetOutOfRange, Start: &low, End: &high}
		return
	}
	w.log = slices.DeleteFunc(w.log, func(m foreign.Record) bool { return m.At.Compare(at) < 0 })
	w.start = max(w.start, at.Offset)
	o.Answer.Position = foreign.At(w.start)
}

func (w *streamWorld) purge(o *foreign.Op) {
	end := w.ends[o.Line]
	if w.ledgers {
		low := w.last
		for k, passed := range w.cursors {
			if (o.Ask.Key == "" || o.Ask.Key == k) && passed.Compare(end) < 0 {
				w.cursors[k] = end
			}
			if w.cursors[k].Compare(low) < 0 {
				low = w.cursors[k]
			}
		}
		if o.Ask.Key == "" {
			w.log = slices.DeleteFunc(w.log, func(m foreign.Record) bool { return m.At.Ledger < w.last.Ledger && m.At.Compare(low) <= 0 })
		}
		return
	}
	about := func(m foreign.Record) bool { return o.Ask.Subject == "" || w.subject[m.Payload] == o.Ask.Subject }
	before := len(w.log)
	switch {
	case o.Ask.Keep != nil:
		w.log = w.log[max(0, len(w.log)-int(*o.Ask.Keep)):]
	case o.Ask.At != nil:
		w.log = slices.DeleteFunc(w.log, func(m foreign.Record) bool { return m.At.Compare(*o.Ask.At) < 0 })
		if o.Ask.At.Offset > w.last.Offset+1 {
			w.last.Offset = o.Ask.At.Offset - 1
		}
	default:
		w.log = slices.DeleteFunc(w.log, func(m foreign.Record) bool { return m.At.Compare(end) <= 0 && about(m) })
	}
	o.Answer.Count = number(before - len(w.log))
}

// queueWorld is a RabbitMQ queue.
type queueWorld struct {
	ready []op.Payload // first those that were returned, in the order of that
	back  int          // how many those are
	held  map[string][]op.Payload
}

func (w *queueWorld) pick(r *rand.Rand, n int) foreign.Op {
	key := fmt.Sprintf("c%d", r.IntN(2))
	switch k := r.IntN(10); {
	case k < 4:
		return foreign.Op{F: foreign.Append, Ask: foreign.Ask{Payloads: payload(n)}}
	case k < 7:
		return foreign.Op{F: foreign.Poll, Ask: foreign.Ask{Key: key, Max: number(1 + r.IntN(2)), AutoCommit: r.IntN(4) == 0}}
	case k < 9 && len(w.held[key]) > 0:
		o := foreign.Op{F: []string{foreign.Settle, foreign.Return}[r.IntN(2)], Ask: foreign.Ask{Key: key, Payloads: w.held[key][:1]}}
		w.held[key] = slices.Clone(w.held[key][1:]) // nobody else asks for it
		return o
	}
	return foreign.Op{F: foreign.Purge}
}

func (w *queueWorld) sees(*foreign.Op) {}

func (w *queueWorld) does(o *foreign.Op, _ *rand.Rand) {
	switch o.F {
	case foreign.Append:
		w.ready = append(w.ready, o.Ask.Payloads...)
	case foreign.Poll:
		n := min(len(w.ready), int(*o.Ask.Max))
		for _, p := range w.ready[:n] {
			o.Answer.Records = append(o.Answer.Records, foreign.Record{Payload: p})
			if !o.Ask.AutoCommit {
				w.held[o.Ask.Key] = append(slices.Clip(w.held[o.Ask.Key]), p)
			}
		}
		w.ready, w.back = slices.Clone(w.ready[n:]), max(w.back-n, 0)
	case foreign.Return:
		w.ready = slices.Insert(slices.Clone(w.ready), w.back, o.Ask.Payloads...)
		w.back += len(o.Ask.Payloads)
	case foreign.Purge:
		o.Answer.Count = number(len(w.ready))
		w.ready, w.back = nil, 0
	}
}
