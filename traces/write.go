package traces

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Writer writes a trace. It is an observe.Sink, so it can be handed to a
// replica or a simulator as it is; the first error is kept and returned by
// Close.
//
// Every replica reports an op as committed when it comes to it, after each
// boot again. What the group agreed on is said once, so a Commit is written
// only if it differs from what was written of that op.
type Writer struct {
	out  *bufio.Writer
	enc  *json.Encoder
	seen map[committed]observe.Event
	in   map[op.Partition]int // the incarnation that it is in
	n    int
	err  error
}

type committed struct {
	partition op.Partition
	op        op.Number
}

// NewWriter writes the header and is ready for events.
func NewWriter(w io.Writer, h Header) *Writer {
	h.Format, h.Version = Format, Version
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	t := &Writer{out: out, enc: enc, seen: map[committed]observe.Event{}, in: map[op.Partition]int{}}
	t.err = enc.Encode(h)
	return t
}

// Observe writes one event.
func (t *Writer) Observe(e observe.Event) {
	if t.err != nil {
		return
	}
	if e.Action == NewIncarnation && e.Count > t.in[e.Partition] {
		// What comes now is agreed on anew, whatever had these numbers before.
		t.in[e.Partition] = e.Count
		maps.DeleteFunc(t.seen, func(c committed, _ observe.Event) bool { return c.partition == e.Partition && c.op > e.Op })
	}
	if e.Action == Commit {
		at, what := committed{e.Partition, e.Op}, sameCommit(e)
		if t.seen[at] == what {
			return
		}
		t.seen[at] = what
	}
	if t.err = t.enc.Encode(e); t.err == nil {
		t.n++
	}
}

// sameCommit is the part of a Commit that every replica must agree on.
func sameCommit(e observe.Event) observe.Event {
	return observe.Event{Action: e.Action, Op: e.Op, Term: e.Term, Kind: e.Kind, Generation: commitGeneration(e), Key: e.Key, Offset: e.Offset, Count: e.Count}
}

// commitGeneration is the generation that a purge asks for; of other ops the
// field tells the era that the reporting replica was in.
func commitGeneration(e observe.Event) op.Generation {
	if e.Kind == "purge" {
		return e.Generation
	}
	return 0
}

// Count is how many of the events a Writer writes.
func Count(events []observe.Event) int {
	w := NewWriter(io.Discard, Header{})
	for _, e := range events {
		w.Observe(e)
	}
	return w.Len()
}

// Len is the number of events written.
func (t *Writer) Len() int { return t.n }

// Close flushes and returns the first error. The underlying writer stays open.
func (t *Writer) Close() error {
	if t.err == nil {
		t.err = t.out.Flush()
	}
	if t.err != nil {
		return fmt.Errorf("traces: write: %w", t.err)
	}
	return nil
}
