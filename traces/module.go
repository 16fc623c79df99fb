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
// of constants. SANY, TLC's parser, takes half of the time and is what limits the size
// of a batch. So every record holds only what its action needs, and is written as the
// application of an operator, which is half as long as the record.
func writeModule(w io.Writer, judge *judge, batch []*job) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(b, "---- MODULE %s ----\n\\* Written from traces; see %s.\nEXTENDS Integers\nTraceFirst == %d\n", dataModule, judge.root, firstOp)
	fmt.Fprintf(b, "TraceKeys == {%s}\n", strings.Join(quoted(keysOf(batch)), ", "))
	fmt.Fprintf(b, "TraceReplicas == 1 .. %d\n", replicasOf(batch))
	for _, c := range judge.constants {
		fmt.Fprintf(b, "%s == %s\n", c.name, truth(batch[0].has(c.variant)))
	}
	for _, c := range constructorsOf(batch) {
		fmt.Fprintln(b, c)
	}
	sequences(b, "TracePieces", batch, func(j *job, item func() *bufio.Writer) {
		var buf []byte
		for i := range j.steps {
			buf = j.steps[i].appendEvent(buf[:0])
			item().Write(buf)
		}
	})
	fmt.Fprintf(b, "TraceFrom == <<%s>>\n", strings.Join(reachedOf(batch), ", "))
	fmt.Fprintf(b, "TracePolicies == <<%s>>\n", strings.Join(policiesOf(batch), ", "))
	if judge.starts != nil {
		sequences(b, "TraceStarts", batch, func(j *job, item func() *bufio.Writer) { item().WriteString(j.starts) })
	}
	if judge.log != nil {
		sequences(b, "TraceLogs", batch, func(j *job, item func() *bufio.Writer) {
			for _, o := range j.log {
				item().WriteString(o)
			}
		})
	}
	b.WriteString("====\n")
	return b.Flush()
}

// sequences writes a definition that holds one sequence per job; item begins the
// next element of it.
func sequences(b *bufio.Writer, name string, batch []*job, of func(j *job, item func() *bufio.Writer)) {
	b.WriteString(name + " == <<\n")
	for i, j := range batch {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("<<")
		sep := "\n"
		of(j, func() *bufio.Writer {
			b.WriteString(sep)
			sep = ",\n"
			return b
		})
		b.WriteString("\n>>")
	}
	b.WriteString("\n>>\n")
}

// reachedOf is, per job, the step from which on states are told.
func reachedOf(batch []*job) []string {
	out := make([]string, len(batch))
	for i, j := range batch {
		out[i] = strconv.Itoa(j.reached)
	}
	return out
}

func truth(b bool) string { return strings.ToUpper(strconv.FormatBool(b)) }

// policiesOf says, per job, what is persisted before it is acknowledged.
func policiesOf(batch []*job) []string {
	out := make([]string, len(batch))
	for i, j := range batch {
		out[i] = fmt.Sprintf("[messages |-> %s, bookmarks |-> %s]", truth(j.messages), truth(j.bookmarks))
	}
	return out
}

func replicasOf(batch []*job) int {
	n := 1
	for _, j := range batch {
		n = max(n, j.piece.Replicas)
	}
	return n
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
			if k := j.steps[i].Key; k != "" && !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	slices.Sort(out)
	return out
}

// constructorsOf are the operators that make the records of a batch, one per action
// and list of fields, sorted.
func constructorsOf(batch []*job) []string {
	seen := map[string]bool{}
	var out []string
	for _, j := range batch {
		for i := range j.steps {
			s := &j.steps[i]
			name := string(s.appendConstructor(nil))
			if seen[name] {
				continue
			}
			seen[name] = true
			var params []string
			record := fmt.Sprintf("a |-> %q", s.recordName())
			for _, f := range s.reads {
				if s.has(f) {
					params = append(params, f)
					record += fmt.Sprintf(", %s |-> %s", f, f)
				}
			}
			if len(params) > 0 {
				name += "(" + strings.Join(params, ", ") + ")"
			}
			out = append(out, fmt.Sprintf("%s == [%s]", name, record))
		}
	}
	slices.Sort(out)
	return out
}

// recordName is the action of the record.
func (s *step) recordName() string {
	if s.Ended {
		return string(s.Action) + "Ended"
	}
	return string(s.Action)
}

// appendConstructor names the operator that makes the record: after the action, and
// with whether it has a key.
func (s *step) appendConstructor(b []byte) []byte {
	b = append(b, 'E')
	b = append(b, s.recordName()...)
	if s.Key != "" && slices.Contains(s.reads, "key") {
		b = append(b, "Of"...)
	}
	return b
}

// has tells whether the record has a field that its rule names.
func (s *step) has(field string) bool { return field != "key" || s.Key != "" }

// appendEvent writes the step as what makes its TLA+ record, with the fields that
// its rule names.
func (s *step) appendEvent(b []byte) []byte {
	b = s.appendConstructor(b)
	sep := byte('(')
	for _, f := range s.reads {
		if !s.has(f) {
			continue
		}
		b = append(b, sep)
		sep = ','
		switch f {
		case "k":
			b = appendQuoted(b, s.Kind)
		case "key":
			b = appendQuoted(b, s.Key)
		case "does":
			b = append(b, s.Does...)
		default:
			b = strconv.AppendInt(b, s.number(f), 10)
		}
	}
	if sep == ',' {
		b = append(b, ')')
	}
	return b
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
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
	case "x":
		return int64(s.Resetting)
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
