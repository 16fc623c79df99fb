package traces

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// dataModule is the name of the constant module that holds the events.
const dataModule = "TraceData"

// firstOp is the op that every partition starts with: the bootstrap.
const firstOp = 1

// writeModule writes the steps of pieces that one module judges as a TLA+ module
// of constants. What is long in it is text, see encoder, which TLC turns into
// records when it begins.
func writeModule(w io.Writer, judge *judge, batch []*job) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(b, "---- MODULE %s ----\n\\* Written from traces; see %s.\nEXTENDS Integers, Sequences, TLC\nTraceFirst == %d\n", dataModule, judge.root, firstOp)
	fmt.Fprintf(b, "TraceKeys == {%s}\n", strings.Join(quoted(batch[0].kind.keys), ", "))
	fmt.Fprintf(b, "TraceReplicas == 1 .. %d\n", batch[0].kind.replicas)
	for _, c := range judge.constants {
		fmt.Fprintf(b, "%s == %s\n", c.name, truth(batch[0].has(c.variant)))
	}
	fmt.Fprintf(b, "TraceFrom == <<%s>>\n", strings.Join(reachedOf(batch), ", "))
	fmt.Fprintf(b, "TraceGoesOn == <<%s>>\n", strings.Join(goesOn(batch), ", "))
	fmt.Fprintf(b, "TracePolicies == <<%s>>\n", strings.Join(policiesOf(batch), ", "))
	if judge.starts != nil {
		b.WriteString("TraceStarts == <<")
		for i, j := range batch {
			if i > 0 {
				b.WriteString(",\n")
			}
			fmt.Fprintf(b, "<<%s>>", j.starts)
		}
		b.WriteString(">>\n")
	}
	encode(batch).write(b, judge.log != nil)
	b.WriteString("====\n")
	return b.Flush()
}

// reachedOf is, per part, its step from which on states are told.
func reachedOf(batch []*job) []string {
	out := make([]string, len(batch))
	for i, j := range batch {
		out[i] = strconv.Itoa(max(j.reached-j.from, 0))
	}
	return out
}

// goesOn says, per part, whether another one follows.
func goesOn(batch []*job) []string {
	out := make([]string, len(batch))
	for i, j := range batch {
		out[i] = truth(!j.last())
	}
	return out
}

func truth(b bool) string { return strings.ToUpper(strconv.FormatBool(b)) }

// policiesOf says, per job, what is persisted before it is acknowledged, and whether
// leaders are elected: where a driver says what is agreed on none is.
func policiesOf(batch []*job) []string {
	out := make([]string, len(batch))
	for i, j := range batch {
		out[i] = fmt.Sprintf("[messages |-> %s, bookmarks |-> %s, elects |-> %s]", truth(j.messages), truth(j.bookmarks), truth(j.elects()))
	}
	return out
}

func (j *job) elects() bool {
	return slices.ContainsFunc(j.steps, func(s step) bool { return s.Action == BecomeLeader })
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = `"` + w + `"`
	}
	return out
}

// keysOf lists the owners of bookmarks that the steps name, sorted.
func keysOf(batch []*job) []string {
	seen := map[string]bool{}
	var out []string
	for _, j := range batch {
		for i := range j.steps {
			for _, k := range append([]string{j.steps[i].Key}, j.steps[i].Keys...) {
				if k != "" && !seen[k] {
					seen[k] = true
					out = append(out, k)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// number is the value of a field of the record.
func (s *step) number(field string) int64 {
	switch field {
	case "op":
		return int64(s.Op)
	case "o":
		return int64(s.Offset)
	case "n":
		return int64(s.Count)
	case "g":
		return int64(s.Generation)
	case "q":
		return int64(s.Asked)
	case "r":
		return int64(s.Replica)
	case "t":
		return int64(s.Term)
	case "f":
		return int64(s.Front)
	case "l":
		return int64(s.Last)
	case "b":
		return int64(s.Boundary)
	case "x":
		return int64(s.Resetting)
	case "ai":
		return int64(s.Agreed.Incarnation)
	case "ag":
		return int64(s.Agreed.Generation)
	case "ao":
		return int64(s.Agreed.Offset)
	case "u":
		if s.Unseen || s.Old {
			return 1
		}
		return 0
	case "ap":
		return int64(s.Applied)
	case "st":
		return int64(s.Start)
	case "en":
		return int64(s.End)
	}
	panic("traces: no field " + field + " of a record")
}
