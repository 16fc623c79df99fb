// Package behaviours holds what the specification says a replica may do, so that an
// implementation can be driven through it: behaviours that TLC draws, and a set of
// them that together take every transition of a bounded model.
//
// They come from the specification's modules SIM*.tla, which settle what the modules of
// the designs leave open in the way in which the implementation does it.
package behaviours

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"purgelab/impl/observe"
)

// Format heads every behaviour in a file of them.
const Format = "purgelab-behaviour"

// Version of the format. Files of version 1 did not count their actions, so that one that
// was cut off was read as a shorter one.
const Version = 2

// Behaviour is what the specification says one replica, or a group of them, may do: actions, and the state
// after each. In a file it is a header and a line for each act, in the schema of a
// trace, with the action's parameters and the variables that it changed besides; the
// first act is Init. Behaviours follow each other in a file.
type Behaviour struct {
	Header
	Acts []Act
	Line int // of the header in its file; of each act the next
}

// Header is the first line of a behaviour.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Design  string `json:"design"`
	// Replicas that are led; 0 is one of which the group is not shown.
	Replicas int    `json:"replicas,omitempty"`
	Model    string `json:"model"`
	// Number of the behaviour in its file, from 1; Seed of a simulation.
	Number int   `json:"number"`
	Seed   int64 `json:"seed,omitempty"`
	// Actions are how many acts there are after Init.
	Actions int `json:"actions"`
}

// Act is one step of a behaviour. Ops are counted as the model counts them: from 1,
// without a bootstrap. Time counts the acts.
type Act struct {
	observe.Event
	// With are the parameters, by their names in the variable last.
	With map[string]any `json:"with,omitempty"`
	// State is every variable after the act; in a file those that it changed. Records
	// and functions are objects, sequences and sets, which are sorted, arrays.
	State map[string]any `json:"state,omitempty"`
}

// Writer writes behaviours one after the other.
type Writer struct {
	out *bufio.Writer
	enc *json.Encoder
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &Writer{out, enc}
}

// Write writes one behaviour.
func (w *Writer) Write(b *Behaviour) error {
	h := b.Header
	h.Format, h.Version, h.Actions = Format, Version, len(b.Acts)-1
	if err := w.enc.Encode(h); err != nil {
		return fmt.Errorf("behaviours: write: %w", err)
	}
	was := map[string]any{}
	for _, a := range b.Acts {
		changed := map[string]any{}
		for name, v := range a.State {
			if !reflect.DeepEqual(was[name], v) {
				changed[name] = v
			}
		}
		was, a.State = a.State, changed
		if err := w.enc.Encode(a); err != nil {
			return fmt.Errorf("behaviours: write: %w", err)
		}
	}
	return nil
}

// Close flushes. The underlying writer stays open.
func (w *Writer) Close() error { return w.out.Flush() }

// Read hands each behaviour of a file to use, until that answers an error.
// Errors of reading name file and line.
func Read(r io.Reader, name string, use func(*Behaviour) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), 1<<20)
	var b *Behaviour
	line := 0
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s:%d: %w", name, line, fmt.Errorf(format, args...))
	}
	finish := func() error {
		if n := len(b.Acts) - 1; n != b.Actions || n < 1 {
			return fmt.Errorf("%s:%d: %d acts after Init: the header says %d, want at least 1", name, b.Line, n, b.Actions)
		}
		return use(b)
	}
	for in.Scan() {
		line++
		var l struct {
			Header
			Act
		}
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return bad("%w", err)
		}
		if l.Format != "" {
			if b != nil {
				if err := finish(); err != nil {
					return err
				}
			}
			b = &Behaviour{Header: l.Header, Line: line}
			switch {
			case l.Format == Format && l.Version == 1:
				return bad("version 1 does not count its actions: want version %d, as trace behaviours writes it", Version)
			case l.Format != Format || l.Version != Version:
				return bad("format %q, version %d: want %q, version %d", l.Format, l.Version, Format, Version)
			}
			continue
		}
		if b == nil {
			return bad("want the header of a behaviour, have %q", clipped(in.Text()))
		}
		if l.Action == "" || len(b.Acts) == 0 && l.Action != "Init" {
			return bad("action %q: want an action, of the first line Init", l.Action)
		}
		state := map[string]any{}
		if n := len(b.Acts); n > 0 {
			for name, v := range b.Acts[n-1].State {
				state[name] = v
			}
		}
		for name, v := range l.State {
			state[name] = v
		}
		l.Act.State = state
		b.Acts = append(b.Acts, l.Act)
	}
	if err := in.Err(); err != nil {
		return bad("%w", err)
	}
	if b == nil {
		return fmt.Errorf("%s: %w", name, errors.New("holds no behaviour"))
	}
	return finish()
}

func clipped(s string) string { return s[:min(len(s), 60)] }
