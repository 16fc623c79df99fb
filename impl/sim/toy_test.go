package sim

import (
	"errors"
	"fmt"
	"strings"

	"purgelab/impl/consensus"
	"purgelab/impl/engine"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// toy is a replica of a cluster of one: a file of lines, each an append. It
// syncs before it answers, unless hasty.
type toy struct {
	hasty   bool
	file    vfs.File
	size    int64
	lines   []string
	pending []replica.Answer
	written bool
}

func openToy(hasty bool) func(replica.Config) (Member, error) {
	return func(c replica.Config) (Member, error) {
		t := &toy{hasty: hasty}
		path := c.Dir + "/toy"
		f, err := c.FS.Open(path)
		if errors.Is(err, vfs.ErrNotExist) {
			if f, err = c.FS.Create("toy.create", path); err == nil {
				err = c.FS.SyncDir("toy.dirsync", c.Dir)
			}
		}
		if err != nil {
			return nil, err
		}
		t.file = f
		size, err := f.Size()
		if err != nil {
			return nil, err
		}
		b := make([]byte, size)
		if size > 0 {
			if _, err := f.ReadAt(b, 0); err != nil {
				return nil, err
			}
		}
		for _, l := range strings.SplitAfter(string(b), "\n") {
			if !strings.HasSuffix(l, "\n") || strings.ContainsRune(l, 0) {
				break // torn
			}
			t.lines = append(t.lines, l)
			t.size += int64(len(l))
		}
		if err := f.Truncate("toy.cut", t.size); err != nil {
			return nil, err
		}
		return t, nil
	}
}

func (t *toy) Step(in replica.Input) (out replica.Output, err error) {
	if q := in.Request; q != nil {
		switch q.Op.Kind {
		case op.Register:
			out.Answers = append(out.Answers, replica.Answer{Token: q.Token, Reply: op.Reply{Session: 1}})
		case op.Append:
			id := fmt.Sprintf("%d-%d", q.Op.Session, q.Op.Sequence)
			line := string(q.Op.Payloads[0]) + " " + id + "\n"
			at := op.Offset(len(t.lines))
			for i, l := range t.lines {
				if l == line {
					at = op.Offset(i)
				}
			}
			a := replica.Answer{Token: q.Token, Reply: op.Reply{Position: op.Position{Incarnation: 1, Offset: at}}}
			if at == op.Offset(len(t.lines)) {
				if _, err := t.file.WriteAt("toy.write", []byte(line), t.size); err != nil {
					return out, err
				}
				t.size += int64(len(line))
				t.lines = append(t.lines, line)
			}
			if t.hasty {
				out.Answers = append(out.Answers, a)
			} else {
				t.pending = append(t.pending, a)
			}
			t.written = true
		default:
			out.Answers = append(out.Answers, replica.Answer{Token: q.Token, Reply: op.Reply{Code: op.PolicyViolation}})
		}
	}
	if in.Work && t.written {
		if err := t.file.Sync("toy.sync"); err != nil {
			return out, err
		}
		out.Synced, t.written = true, false
		out.Answers = append(out.Answers, t.pending...)
		t.pending = nil
	}
	out.Work = t.written
	return out, nil
}

func (t *toy) View() replica.View {
	n := op.Number(len(t.lines))
	return replica.View{ID: 1, Role: consensus.Leader, Term: 1, Committed: n, Last: n, Serving: true,
		Facts: engine.Facts{Incarnation: 1, Applied: n, Front: n, End: op.Offset(n), Settled: 1 << 20}}
}
func (t *toy) Bookmarks() []engine.BookmarkEntry           { return nil }
func (t *toy) Records(op.Offset, int) ([]op.Record, error) { return nil, nil }

// appender is a script of clients that only append.
type appender struct {
	left    int
	n       int
	patient bool
	acked   []string
	unknown int
	log     []string
}

func (s *appender) Next(client int, at int64) (Order, bool) {
	if s.left == 0 {
		return Order{}, false
	}
	s.left--
	s.n++
	o := Order{Request: &op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload(fmt.Sprintf("m%d", s.n))}}, Think: 500}
	if !s.patient {
		o.Patience = 150 * Millisecond
	}
	return o, true
}

func (s *appender) Invoked(at int64, c *Call) {}

func (s *appender) Returned(at int64, c *Call, o Outcome, r op.Reply) {
	s.log = append(s.log, fmt.Sprintf("%d %d %d %v %v", at, c.Process, o, c.Request.Kind, r.Position))
	if c.Request.Kind != op.Append {
		return
	}
	switch o {
	case Answered:
		s.acked = append(s.acked, fmt.Sprintf("%s %d", c.Request.Payloads[0], r.Position.Offset))
	case Unknown:
		s.unknown++
	}
}
