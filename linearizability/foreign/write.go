package foreign

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// event is a line of JSON as readLines takes it.
type event struct {
	Process   int            `json:"process"`
	Type      string         `json:"type"`
	F         string         `json:"f"`
	Value     map[string]any `json:"value,omitempty"`
	Time      int64          `json:"time"`
	Partition op.Partition   `json:"partition"`
}

// Write writes operations as JSON lines, which tell what the operations do. Only the order
// of their instants is kept, and an operation that begins while another one of its process
// is under way, as in a transaction, gets a process of its own.
func Write(w io.Writer, ops []Op) error {
	type instant struct {
		op  int
		end bool
		at  int64
	}
	var all []instant
	free := 0
	for i := range ops {
		all = append(all, instant{i, false, ops[i].Call})
		if ops[i].Outcome != history.Unknown {
			all = append(all, instant{i, true, ops[i].Return})
		}
		free = max(free, ops[i].Process+1)
	}
	slices.SortStableFunc(all, func(a, b instant) int { // those that touch overlap
		if d := cmp.Compare(a.at, b.at); d != 0 || a.end == b.end {
			return d
		}
		if a.end {
			return 1
		}
		return -1
	})
	b := bufio.NewWriter(w)
	out := json.NewEncoder(b)
	out.SetEscapeHTML(false)
	busy, as := map[int]bool{}, make([]int, len(ops))
	for n, x := range all {
		o := &ops[x.op]
		e := event{F: o.F, Time: int64(n + 1), Partition: o.Partition}
		if x.end {
			e.Type, e.Value = "ok", o.Answer.value()
			if o.Outcome == history.NoEffect {
				e.Type, e.Value = "fail", nil
			}
			e.Process, busy[as[x.op]] = as[x.op], false
		} else {
			if as[x.op] = o.Process; busy[o.Process] {
				as[x.op], free = free, free+1
			}
			e.Type, e.Process, e.Value, busy[as[x.op]] = "invoke", as[x.op], o.value(), true
		}
		if err := out.Encode(e); err != nil {
			return err
		}
	}
	return b.Flush()
}

// put adds what was written.
func put[T any](v map[string]any, name string, x *T) {
	if x != nil {
		v[name] = *x
	}
}

func putPosition(v map[string]any, name string, p *Position) {
	switch {
	case p == nil:
	case p.Bare():
		v[name] = p.Offset
	default:
		v[name] = p.String()
	}
}

// value is what an invoke says.
func (o *Op) value() map[string]any {
	v, a := map[string]any{}, &o.Ask
	if len(a.Payloads) > 0 {
		v["payloads"] = a.Payloads
	}
	for name, s := range map[string]string{"key": a.Key, "subject": a.Subject} {
		if s != "" {
			v[name] = s
		}
	}
	switch o.F {
	case Poll:
		v["strategy"] = a.Strategy.String()
		if a.Reset != op.Earliest {
			v["reset"] = a.Reset.String()
		}
	case ListOffsets:
		v["which"] = a.Which.String()
	}
	if a.AutoCommit {
		v["auto_commit"] = true
	}
	putPosition(v, "at", a.At)
	putPosition(v, "before", o.Before)
	put(v, "max", a.Max)
	put(v, "keep", a.Keep)
	return v
}

// value is what an ok says.
func (a *Answer) value() map[string]any {
	v := map[string]any{}
	if a.Code != op.OK {
		v["code"] = a.Code.String()
	}
	records := []map[string]any{}
	for i := range a.Records {
		r := &a.Records[i]
		x := map[string]any{"p": r.Payload}
		putPosition(x, "at", r.At)
		put(x, "t", r.Timestamp)
		records = append(records, x)
	}
	if a.Records != nil {
		v["records"] = records
	}
	putPosition(v, "position", a.Position)
	put(v, "count", a.Count)
	put(v, "found", a.Found)
	put(v, "timestamp", a.Timestamp)
	put(v, "start", a.Start)
	put(v, "end", a.End)
	return v
}
