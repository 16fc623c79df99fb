package traces

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"purgelab/impl/observe"
)

// maxInt is the largest integer that TLC knows.
const maxInt = 1<<31 - 1

// LineError is what is wrong with a trace, and where.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// ReadFile reads a trace from a file.
func ReadFile(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a trace and refuses, with a LineError, whatever the schema does
// not have: an unknown field or action, a missing field, null, a fraction, a
// number that TLC cannot hold, time that runs backwards.
func Read(r io.Reader, name string) (*Trace, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), 1<<20)
	t := &Trace{Name: name}
	n := 0
	fail := func(err error) (*Trace, error) { return nil, &LineError{File: name, Line: n, Err: err} }
	for in.Scan() {
		n++
		if n == 1 {
			if err := readHeader(in.Bytes(), &t.Header); err != nil {
				return fail(err)
			}
			continue
		}
		var e observe.Event
		if err := strict(in.Bytes(), &e); err != nil {
			return fail(err)
		}
		if err := t.Header.check(e); err != nil {
			return fail(err)
		}
		if k := len(t.Lines); k > 0 && e.Time < t.Lines[k-1].Time {
			return fail(fmt.Errorf("time %d: the line before says %d", e.Time, t.Lines[k-1].Time))
		}
		t.Lines = append(t.Lines, Line{Number: n, Event: e})
	}
	if err := in.Err(); err != nil {
		n++
		return fail(err)
	}
	if n == 0 {
		n = 1
		return fail(errors.New("empty: want a header"))
	}
	if want := t.Header.Events; want > 0 && want != len(t.Lines) {
		return fail(fmt.Errorf("%d events: the header says %d", len(t.Lines), want))
	}
	return t, nil
}

// behaviourFormat heads the files of traces/behaviours.
const behaviourFormat = "purgelab-behaviour"

// What a header may say there is: each has a place of its own in what is judged.
const mostReplicas, mostPartitions = 99, 9999

func readHeader(line []byte, h *Header) error {
	var is struct{ Format string }
	switch err := json.Unmarshal(line, &is); {
	case err == nil && is.Format == behaviourFormat:
		return fmt.Errorf("format %q: behaviours of the specification are no trace: purgelab trace replay leads the implementation through them", is.Format)
	case err == nil && is.Format != Format:
		return fmt.Errorf("format %q: want %q", is.Format, Format)
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(h); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	switch {
	case h.Version != Version:
		return fmt.Errorf("version %d: want %d", h.Version, Version)
	case findDesign(h.Design) == nil:
		return fmt.Errorf("design %q: want one of %s", h.Design, strings.Join(designNames(), ", "))
	case h.Replicas < 1 || h.Replicas > mostReplicas:
		return fmt.Errorf("%d replicas: want 1 to %d", h.Replicas, mostReplicas)
	case h.Partitions < 1 || h.Partitions > mostPartitions:
		return fmt.Errorf("%d partitions: want 1 to %d", h.Partitions, mostPartitions)
	}
	return nil
}

// eventFields are the JSON names of the fields of an event and whether each is
// text. always are those that are never left out.
var eventFields, always = func() (map[string]bool, []string) {
	text := map[string]bool{}
	var must []string
	t := reflect.TypeFor[observe.Event]()
	for i := range t.NumField() {
		name, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		text[name] = t.Field(i).Type.Kind() == reflect.String
		if option == "" {
			must = append(must, name)
		}
	}
	return text, must
}()

// strict decodes one event, and says which field is wrong and why.
func strict(line []byte, e *observe.Event) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return errors.New("not a whole JSON object")
		}
		return err
	}
	if dec.More() {
		return errors.New("more than one JSON object")
	}
	for _, name := range always {
		if _, ok := fields[name]; !ok {
			return fmt.Errorf("no field %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		isText, known := eventFields[name]
		if !known {
			return fmt.Errorf("unknown field %q", name)
		}
		if err := checkValue(name, isText, fields[name]); err != nil {
			return err
		}
	}
	return json.Unmarshal(line, e)
}

func checkValue(name string, isText bool, v any) error {
	switch v := v.(type) {
	case string:
		if !isText {
			return fmt.Errorf("field %q is the text %q: want an integer", name, v)
		}
		if strings.ContainsAny(v, "\"\\\n") {
			return fmt.Errorf("field %q is %q: quotes and backslashes are not allowed", name, v)
		}
	case json.Number:
		n, err := v.Int64()
		if isText || err != nil {
			return fmt.Errorf("field %q is %s: want %s", name, v, map[bool]string{true: "text", false: "an integer"}[isText])
		}
		if n > maxInt || n < -1 {
			return fmt.Errorf("field %q is %d: want -1 to %d", name, n, maxInt)
		}
	default:
		return fmt.Errorf("field %q is %v: want %s", name, jsonWord(v), map[bool]string{true: "text", false: "an integer"}[isText])
	}
	return nil
}

func jsonWord(v any) string {
	if v == nil {
		return "null"
	}
	b, _ := json.Marshal(v)
	return string(b)
}
