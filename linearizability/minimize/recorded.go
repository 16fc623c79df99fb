package minimize

import (
	"context"
	"io"
	"slices"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/foreign/contract"
	"purgelab/linearizability/history"
)

// Record reads a history that is to be judged by a contract, and how to write a part of it
// as JSON lines. Errors are those of contract.Read and history.Parse.
func Record(c *contract.Contract, name string, format foreign.Format) (*Recorded, func(io.Writer, *HistoryResult) error, error) {
	h, err := c.Read(name, format)
	if err != nil {
		return nil, nil, err
	}
	if h.Foreign == nil {
		events, err := readEvents(name)
		if err != nil {
			return nil, nil, err
		}
		r, err := Events(c, name, events)
		return r, func(w io.Writer, small *HistoryResult) error {
			return history.Write(w, pick(events, small.Ops, small.Until))
		}, err
	}
	return foreigners(c, h), func(w io.Writer, small *HistoryResult) error {
		return foreign.Write(w, cut(h.Foreign, small.Ops, small.Until))
	}, nil
}

func readEvents(name string) ([]history.Event, error) {
	in, err := history.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return history.Parse(name, in)
}

// Events is a history of ours.
func Events(c *contract.Contract, name string, events []history.Event) (*Recorded, error) {
	ops, err := history.Pair(name, events)
	if err != nil {
		return nil, err
	}
	r := &Recorded{Name: name}
	for i := range ops {
		o := &ops[i]
		r.Calls = append(r.Calls, Call{Partition: o.Request.Partition, Line: o.Line, Call: o.Call, Return: o.Return, Appends: o.Request.Payloads})
		if o.Outcome == history.Answered {
			for _, m := range o.Reply.Records {
				r.Calls[i].Reads = append(r.Calls[i].Reads, m.Payload)
			}
		}
	}
	r.Judge = func(ctx context.Context, left []int, until int64) ([]check.Result, error) {
		part, err := history.Pair(name, pick(events, left, until))
		if err != nil {
			return nil, err
		}
		rep, err := c.Judge(ctx, &contract.History{Path: name, Ours: part}, contract.Options{})
		if err != nil {
			return nil, err
		}
		return rep.Partitions, nil
	}
	return r, nil
}

// pick are the events of operations that are left, up to an instant.
func pick(events []history.Event, left []int, until int64) []history.Event {
	var out []history.Event
	n, open := -1, map[int]int{} // operations so far; process → its operation
	for i := range events {
		e := events[i]
		if e.Time > until {
			break
		}
		if e.Type == history.Invoke {
			n++
			open[e.Process] = n
		}
		if _, kept := slices.BinarySearch(left, open[e.Process]); kept {
			if e.Line == 0 {
				e.Line = i + 1
			}
			out = append(out, e)
		}
	}
	return out
}

// foreigners is a history of another system.
func foreigners(c *contract.Contract, h *contract.History) *Recorded {
	r := &Recorded{Name: h.Path}
	for i := range h.Foreign {
		o := &h.Foreign[i]
		x := Call{Partition: o.Partition, Line: o.Line, Call: o.Call, Return: o.Return}
		if o.F == foreign.Append {
			x.Appends = o.Ask.Payloads
		}
		for k := range o.Answer.Records {
			x.Reads = append(x.Reads, o.Answer.Records[k].Payload)
		}
		r.Calls = append(r.Calls, x)
	}
	r.Judge = func(ctx context.Context, left []int, until int64) ([]check.Result, error) {
		rep, err := c.Judge(ctx, &contract.History{Path: h.Path, Foreign: cut(h.Foreign, left, until)}, contract.Options{})
		if err != nil {
			return nil, err
		}
		return rep.Partitions, nil
	}
	return r
}

// cut are the operations that are left, up to an instant.
func cut(ops []foreign.Op, left []int, until int64) []foreign.Op {
	out := []foreign.Op{} // not nil: they are another system's
	for _, i := range left {
		o := ops[i]
		if o.Call > until {
			continue
		}
		if o.Return > until {
			o.Outcome, o.Return, o.Answer = history.Unknown, history.Never, foreign.Answer{}
		}
		out = append(out, o)
	}
	return out
}
