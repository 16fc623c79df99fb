package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"purgelab/model/op"
)

// line is the shape of one event; the value depends on type and f.
type line struct {
	Process   *int            `json:"process"`
	Type      string          `json:"type"`
	F         string          `json:"f"`
	Value     json.RawMessage `json:"value,omitempty"`
	Time      *int64          `json:"time"`
	Partition op.Partition    `json:"partition"`
}

// ParseError names the line of a history that cannot be read, and why.
type ParseError struct {
	File string // as given to Parse
	Line int    // from 1
	Err  error  // names the field, what was wanted, and what was found
}

func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *ParseError) Unwrap() error { return e.Err }

// Write writes events as JSON lines. The same events give the same bytes.
func Write(w io.Writer, events []Event) error {
	b := bufio.NewWriter(w)
	for i := range events {
		e := &events[i]
		var value []byte
		var err error
		if e.Type == Invoke {
			value, err = EncodeRequest(e.Request)
		} else {
			value, err = encodeReply(e)
		}
		if err != nil {
			return fmt.Errorf("history: event %d: %w", i+1, err)
		}
		out, err := marshal(line{&e.Process, e.Type.String(), e.Kind.String(), value, &e.Time, e.Partition})
		if err != nil {
			return fmt.Errorf("history: event %d: %w", i+1, err)
		}
		b.Write(out)
		b.WriteByte('\n')
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("history: write: %w", err)
	}
	return nil
}

// maxLine bounds one line of a history: a poll may carry many records.
const maxLine = 64 << 20

// Parse reads JSON lines; file is the name that errors give. Empty lines are
// skipped. Every error is a *ParseError.
func Parse(file string, r io.Reader) ([]Event, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	var events []Event
	n := 0
	var last int64
	for in.Scan() {
		n++
		text := bytes.TrimSpace(in.Bytes())
		if len(text) == 0 {
			continue
		}
		e, err := parseLine(text)
		if err == nil && len(events) > 0 && e.Time <= last {
			err = fmt.Errorf("time: want more than that of the event before, %d, got %d", last, e.Time)
		}
		if err != nil {
			return nil, &ParseError{file, n, err}
		}
		last, e.Line = e.Time, n
		events = append(events, e)
	}
	if err := in.Err(); err != nil {
		return nil, &ParseError{file, n + 1, err}
	}
	return events, nil
}

// ReadFile parses a history file and pairs its events.
func ReadFile(path string) ([]Op, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer f.Close()
	events, err := Parse(path, f)
	if err != nil {
		return nil, err
	}
	return Pair(path, events)
}

func parseLine(text []byte) (Event, error) {
	var l line
	if err := strict(text, &l); err != nil {
		return Event{}, err
	}
	switch {
	case l.Process == nil:
		return Event{}, errors.New("process: want a number, got none")
	case l.Time == nil:
		return Event{}, errors.New("time: want a number, got none")
	}
	e := Event{Process: *l.Process, Time: *l.Time, Partition: l.Partition}
	var err error
	if e.Type, err = parseType(l.Type); err != nil {
		return Event{}, fmt.Errorf("type: %w", err)
	}
	if e.Kind, err = op.ParseKind(l.F); err != nil {
		return Event{}, fmt.Errorf("f: %w", err)
	}
	value := l.Value
	if bytes.Equal(value, []byte("null")) {
		value = nil
	}
	if e.Type == Invoke {
		if value == nil {
			value = []byte("{}")
		}
		e.Request, err = DecodeRequest(e.Kind, e.Partition, value)
	} else {
		err = decodeReply(&e, value)
	}
	if err != nil {
		return Event{}, err
	}
	return e, nil
}
