package minimize

import (
	"fmt"
	"strings"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/workload"
	"purgelab/model/op"
)

// This file says in the words of scenarios (docs/scenarios.md) what clients ask, for
// people and for files. What these have no word for gets one that they do not read.

// asks are the words of a step, without its client and partition.
func asks(s *workload.Step) (words string, sayable bool) {
	r := s.Request
	switch {
	case s.Recreate:
		return "recreate", true
	case r.Kind == op.Purge && s.Topic:
		return "purge-topic", true
	}
	at, sayable := place(r)
	switch r.Kind {
	case op.Append:
		words = "append"
		for _, p := range r.Payloads {
			words += " " + string(p)
			sayable = sayable && !strings.ContainsAny(string(p), " \t")
		}
		return words, sayable
	case op.Poll:
		return poll(r, at, sayable)
	case op.StoreBookmark:
		return "store " + owner(r.Key) + " " + at, sayable
	case op.DeleteBookmark:
		return "delete-bookmark " + owner(r.Key), true
	case op.GetBookmark:
		return "bookmark " + owner(r.Key), true
	case op.ListOffsets:
		if r.Which == op.OffsetForTimestamp {
			return fmt.Sprintf("offset of timestamp %d", r.Timestamp), false
		}
		return r.Which.String(), true
	case op.DeleteRecords:
		if r.At.Offset == -1 && (r.Bare || r.At.Generation == 0 && r.At.Incarnation <= 1) {
			at = "end"
		}
		return "delete-records " + at + expecting(r), r.Expected == nil && sayable
	case op.Purge:
		return "purge" + expecting(r), true
	}
	return r.Kind.String(), false
}

func poll(r *op.Request, at string, sayable bool) (string, bool) {
	words := "poll " + r.Strategy.String()
	switch r.Strategy {
	case op.Next:
		words += " " + owner(r.Key)
	case op.AtOffset:
		words = "poll at " + at
	case op.AtTimestamp:
		words += fmt.Sprintf(" %d", r.Timestamp)
		sayable = false
	}
	if r.Max != 100 {
		words += fmt.Sprintf(" max=%d", r.Max)
	}
	if r.Strategy == op.Next && r.Reset != op.Earliest {
		words += " reset=" + r.Reset.String()
	}
	if r.AutoCommit {
		words += " commit"
		sayable = sayable && r.Strategy == op.Next
	}
	return words, sayable
}

func owner(k op.Key) string {
	if k.Kind == op.Group {
		return fmt.Sprintf("g%d", k.ID)
	}
	return fmt.Sprintf("c%d", k.ID)
}

// place is a position as scenarios write it.
func place(r *op.Request) (string, bool) {
	if r.Bare {
		return fmt.Sprint(r.At.Offset), true
	}
	return tagged(r.At), true
}

func tagged(p op.Position) string {
	words := fmt.Sprintf("g%d:%d", p.Generation, p.Offset)
	if p.Incarnation > 1 {
		words = fmt.Sprintf("i%d:%s", p.Incarnation, words)
	}
	return words
}

func expecting(r *op.Request) string {
	if r.Expected == nil {
		return ""
	}
	return " expecting " + tagged(*r.Expected)
}

// Lines tell what is left of a run, for people: what breaks and what clients ask, in
// the order of time.
func Lines(plan *faults.Plan, script *workload.Script) []string {
	type line struct {
		at   int64 // microseconds
		text string
	}
	var lines []line
	if plan.Network != (sim.Network{}) {
		lines = append(lines, line{0, fmt.Sprintf("the network loses %g, doubles %g and delays %g of its messages", plan.Network.Loss, plan.Network.Duplicate, plan.Network.Slow)})
	}
	for i := range plan.Faults {
		f := &plan.Faults[i]
		lines = append(lines, line{f.At * sim.Millisecond, fault(f)})
	}
	for i := range script.Steps {
		s := &script.Steps[i]
		words, _ := asks(s)
		if s.Request.Partition > 0 {
			words += fmt.Sprintf(" on p%d", s.Request.Partition)
		}
		for _, x := range []struct {
			is   bool
			says string
		}{{s.NoAck, "does not await the answer"}, {s.Accepted, "until it is accepted"}, {s.Patience > 0, fmt.Sprintf("waits %d ms", s.Patience/sim.Millisecond)}} {
			if x.is {
				words += ", " + x.says
			}
		}
		lines = append(lines, line{s.At, fmt.Sprintf("client %d: %s", s.Client, words)})
	}
	var out []string
	for len(lines) > 0 {
		first := 0
		for i := range lines {
			if lines[i].at < lines[first].at {
				first = i
			}
		}
		out = append(out, fmt.Sprintf("%6d ms  %s", lines[first].at/sim.Millisecond, lines[first].text))
		lines = append(lines[:first], lines[first+1:]...)
	}
	return out
}

// fault says what breaks.
func fault(f *faults.Fault) string {
	var w []string
	for _, id := range f.Replicas {
		if id == 0 {
			w = append(w, "the leader")
		} else {
			w = append(w, fmt.Sprintf("r%d", id))
		}
	}
	words := string(f.Kind)
	if len(w) > 0 {
		words += " of " + strings.Join(w, ", ")
	}
	switch {
	case f.Kind == faults.CrashAt:
		words += fmt.Sprintf(", power %t, after %t, at call %d of %q", f.Power, f.After, f.Call, f.Label)
		if f.Again > 0 {
			words += fmt.Sprintf(", and again at call %d of its recovery", f.Again)
		}
	case f.Rule != "":
		words += ": " + f.Rule
	case f.Record != "":
		words += ": " + f.Record
	case f.OneWay != "":
		words += ", one way: " + f.OneWay
	case f.Network != nil:
		words += fmt.Sprintf(": loses %g, doubles %g and delays %g of the messages", f.Network.Loss, f.Network.Duplicate, f.Network.Slow)
	}
	return fmt.Sprintf("%s, for %d ms", words, f.For)
}
