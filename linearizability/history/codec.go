package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

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

// ParseError names the place in a history that cannot be read, and why.
type ParseError struct {
	File   string // as given to Parse
	Line   int    // from 1
	Column int    // in bytes, from 1; 0: the line as a whole
	Err    error  // names the field, what was wanted, and what was found
}

func (e *ParseError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}
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

// Reader reads the events of a history one by one.
type Reader struct {
	file string
	in   *bufio.Scanner
	line int
	any  bool // an event was read
	last int64
	fast *plain
}

// NewReader reads JSON lines; file is the name that errors give. Empty lines are
// skipped.
func NewReader(file string, r io.Reader) *Reader {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	return &Reader{file: file, in: in, fast: newPlain()}
}

// Next reads one event; at the end the error is io.EOF, every other one is a
// *ParseError.
func (r *Reader) Next() (Event, error) {
	for r.in.Scan() {
		r.line++
		raw := r.in.Bytes()
		if e, ok := r.fast.parse(raw); ok && !(r.any && e.Time <= r.last) {
			r.any, r.last, e.Line = true, e.Time, r.line
			return e, nil
		}
		text := bytes.TrimLeft(raw, " \t\r")
		indent := len(raw) - len(text)
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		e, err := parseStrict(text)
		if err == nil && r.any && e.Time <= r.last {
			err = fmt.Errorf("time: want more than that of the event before, %d, got %d", r.last, e.Time)
		}
		if err != nil {
			return Event{}, &ParseError{r.file, r.line, indent + columnOf(text, err), err}
		}
		r.any, r.last, e.Line = true, e.Time, r.line
		return e, nil
	}
	if err := r.in.Err(); err != nil {
		return Event{}, &ParseError{r.file, r.line + 1, 0, err}
	}
	return Event{}, io.EOF
}

// Parse reads all events of a history. Every error is a *ParseError.
func Parse(file string, r io.Reader) ([]Event, error) {
	in := NewReader(file, r)
	var events []Event
	for {
		e, err := in.Next()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
}

// ReadFile reads a history file, packed or not, and pairs its events as they come.
func ReadFile(path string) ([]Op, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadOps(path, f)
}

// ReadOps reads the operations of a history; file is the name that errors give.
func ReadOps(file string, r io.Reader) ([]Op, error) {
	in := NewReader(file, r)
	p := pairing{file: file, open: map[int]int{}}
	for {
		e, err := in.Next()
		if err == io.EOF {
			return p.ops, nil
		}
		if err == nil {
			err = p.add(&e, e.Line)
		}
		if err != nil {
			return nil, err
		}
	}
}

// columnOf is where in a line an error is: where the decoder says, or else the
// field that the error names first.
func columnOf(text []byte, err error) int {
	if w := (*within)(nil); errors.As(err, &w) {
		return w.column
	}
	name, _, _ := strings.Cut(err.Error(), ":")
	name, _, _ = strings.Cut(name, " ")
	name = strings.TrimSuffix(name, ",")
	return 1 + max(bytes.Index(text, []byte(`"`+name+`"`)), 0)
}

func parseStrict(text []byte) (Event, error) {
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
	if w := (*within)(nil); errors.As(err, &w) {
		w.column += max(bytes.Index(text, value), 0)
	}
	if err != nil {
		return Event{}, err
	}
	return e, nil
}
