package history

import (
	"fmt"
	"slices"

	"purgelab/model/op"
)

// Pair joins every invocation with its end. Operations come in the order of
// their calls. file is the name that errors give.
func Pair(file string, events []Event) ([]Op, error) {
	p := pairing{file: file, open: map[int]int{}}
	for i := range events {
		line := events[i].Line
		if line == 0 {
			line = i + 1
		}
		if err := p.add(&events[i], line); err != nil {
			return nil, err
		}
	}
	return p.ops, nil
}

// pairing joins events as they come.
type pairing struct {
	file string
	ops  []Op
	open map[int]int // process → index in ops
}

func (p *pairing) add(e *Event, line int) error {
	at, busy := p.open[e.Process]
	bad := func(err error) error { return &ParseError{p.file, line, 1, err} }
	if e.Type == Invoke {
		if busy {
			return bad(fmt.Errorf("process %d: want the end of its %s of line %d before it invokes again",
				e.Process, p.ops[at].Request.Kind, p.ops[at].Line))
		}
		p.open[e.Process] = len(p.ops)
		p.ops = append(p.ops, Op{Process: e.Process, Request: e.Request, Call: e.Time, Return: Never, Line: line})
		return nil
	}
	if !busy {
		return bad(fmt.Errorf("process %d: want an invoke before its %s of %s", e.Process, e.Type, e.Kind))
	}
	if err := end(&p.ops[at], e); err != nil {
		return bad(err)
	}
	delete(p.open, e.Process)
	return nil
}

func end(o *Op, e *Event) error {
	if e.Kind != o.Request.Kind {
		return fmt.Errorf("f: want %s as invoked at line %d, got %s", o.Request.Kind, o.Line, e.Kind)
	}
	if e.Partition != o.Request.Partition {
		return fmt.Errorf("partition: want %d as invoked at line %d, got %d", o.Request.Partition, o.Line, e.Partition)
	}
	if e.Intent != 0 && e.Intent != o.Request.Intent {
		if o.Request.Intent != 0 {
			return fmt.Errorf("intent: want %d as invoked at line %d, got %d", o.Request.Intent, o.Line, e.Intent)
		}
		r := *o.Request
		r.Intent = e.Intent
		o.Request = &r
	}
	o.Again, o.Partial = e.Again, e.Partial
	switch {
	case e.Type == Info:
		return nil
	case e.Type == Fail && (e.Reply == nil || !Judged(e.Reply.Code)):
		o.Outcome = NoEffect
	case !Judged(e.Reply.Code):
		return fmt.Errorf("code: want an answer that can be judged on an ok, got %s, which belongs to a fail", e.Reply.Code)
	case e.Accepted:
		o.Outcome, o.Reply = Accepted, e.Reply
	default:
		o.Outcome, o.Reply = Answered, e.Reply
	}
	o.Return = e.Time
	return nil
}

// Partitions lists the partitions that the operations name, sorted.
func Partitions(ops []Op) []op.Partition {
	var out []op.Partition
	for i := range ops {
		if p := ops[i].Request.Partition; !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
