package history

import (
	"fmt"
	"slices"

	"purgelab/model/op"
)

// Pair joins every invocation with its end. Operations come in the order of
// their calls. file is the name that errors give.
func Pair(file string, events []Event) ([]Op, error) {
	var ops []Op
	open := map[int]int{} // process → index in ops
	for i := range events {
		e, line := &events[i], events[i].Line
		if line == 0 {
			line = i + 1
		}
		at, busy := open[e.Process]
		if e.Type == Invoke {
			if busy {
				return nil, &ParseError{file, line, fmt.Errorf("process %d: want the end of its %s of line %d before it invokes again",
					e.Process, ops[at].Request.Kind, ops[at].Line)}
			}
			open[e.Process] = len(ops)
			ops = append(ops, Op{Process: e.Process, Request: e.Request, Call: e.Time, Return: Never, Line: line})
			continue
		}
		if !busy {
			return nil, &ParseError{file, line, fmt.Errorf("process %d: want an invoke before its %s of %s", e.Process, e.Type, e.Kind)}
		}
		if err := end(&ops[at], e); err != nil {
			return nil, &ParseError{file, line, err}
		}
		delete(open, e.Process)
	}
	return ops, nil
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
	o.Again = e.Again
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
