package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"purgelab/linearizability/history"
	"purgelab/linearizability/strictjson"
	"purgelab/model/op"
)

// A script is written as JSON lines. What is asked has the shape that it has in a
// history (docs/history.md):
//
//	{"client":0,"at":402511,"f":"append","value":{"payloads":["m1"]},"partition":0}
//	{"client":2,"at":403020,"f":"purge","value":{},"partition":0,"patience":50000}
//	{"client":1,"at":510000,"f":"recreate","partition":0,"inTwo":true}

// line is the shape of one step.
type line struct {
	Client    *int            `json:"client"`
	At        int64           `json:"at"`
	F         string          `json:"f"`
	Value     json.RawMessage `json:"value,omitempty"`
	Partition op.Partition    `json:"partition"`
	Patience  int64           `json:"patience,omitempty"`
	Accepted  bool            `json:"accepted,omitempty"`
	Topic     bool            `json:"topic,omitempty"`
	InTwo     bool            `json:"inTwo,omitempty"`
	NoAck     bool            `json:"noAck,omitempty"`
}

// recreate is the name of what is no operation of a history.
const recreate = "recreate"

// Write writes a script as Parse reads it.
func (s *Script) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range s.Steps {
		step := &s.Steps[i]
		l := line{
			Client: &step.Client, At: step.At, F: recreate, Partition: step.Request.Partition, Patience: step.Patience,
			Accepted: step.Accepted, Topic: step.Topic, InTwo: step.InTwo, NoAck: step.NoAck,
		}
		if !step.Recreate {
			l.F = step.Request.Kind.String()
			var err error
			if l.Value, err = history.EncodeRequest(step.Request); err != nil {
				return fmt.Errorf("workload: step %d: %w", i+1, err)
			}
		}
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		if err := e.Encode(l); err != nil {
			return fmt.Errorf("workload: step %d: %w", i+1, err)
		}
	}
	return b.Flush()
}

// maxLine bounds one line.
const maxLine = 1 << 20

// Parse reads a script. file is the name that errors give, with the line.
func Parse(file string, r io.Reader) (*Script, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	s := new(Script)
	n := 0
	for in.Scan() {
		n++
		text := bytes.TrimSpace(in.Bytes())
		if len(text) == 0 {
			continue
		}
		step, err := parseStep(text)
		if err != nil {
			return nil, fmt.Errorf("workload: %s:%d: %w", file, n, err)
		}
		s.Steps = append(s.Steps, step)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("workload: %s:%d: %w", file, n+1, err)
	}
	if len(s.Steps) == 0 {
		return nil, fmt.Errorf("workload: %s: want at least one step, got none", file)
	}
	return s, nil
}

// asked are the operations that clients ask for by themselves.
var asked = []op.Kind{op.Append, op.Poll, op.StoreBookmark, op.DeleteBookmark, op.GetBookmark, op.ListOffsets, op.DeleteRecords, op.Purge}

// most clients and partitions of a run.
const most = 64

func parseStep(text []byte) (Step, error) {
	var l line
	if err := strictjson.Decode(text, &l); err != nil {
		var e *strictjson.Error
		errors.As(err, &e)
		return Step{}, e.Err
	}
	switch {
	case l.Client == nil || *l.Client < 0 || *l.Client >= most:
		return Step{}, fmt.Errorf("client: want a number from 0 to %d", most-1)
	case l.Partition >= most:
		return Step{}, fmt.Errorf("partition %d: want 0 to %d", l.Partition, most-1)
	case l.At < 0 || l.Patience < 0:
		return Step{}, fmt.Errorf("at %d, patience %d: want no negative time", l.At, l.Patience)
	}
	s := Step{Client: *l.Client, At: l.At, Choice: Choice{
		Patience: l.Patience, Accepted: l.Accepted, Topic: l.Topic, InTwo: l.InTwo, NoAck: l.NoAck, Recreate: l.F == recreate,
	}}
	if s.Recreate {
		s.Request = &op.Request{Partition: l.Partition}
		return s, nil
	}
	kind, err := op.ParseKind(l.F)
	if err != nil || !slices.Contains(asked, kind) {
		return Step{}, fmt.Errorf("f %q: want %s or one of %v", l.F, recreate, asked)
	}
	value := []byte(l.Value)
	if len(value) == 0 {
		value = []byte("{}")
	}
	s.Request, err = history.DecodeRequest(kind, l.Partition, value)
	switch {
	case err != nil:
		return Step{}, err
	case kind == op.Append && len(s.Request.Payloads) == 0:
		return Step{}, errors.New("payloads: want at least one, got none")
	case s.Request.Session != 0 || s.Request.Sequence != 0 || s.Request.Intent != 0:
		return Step{}, errors.New("session, sequence, intent: want none: the run fills them in")
	}
	return s, nil
}
