package traces

import (
	"bufio"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"purgelab/traces/tlc"
)

// The states that TLC printed are written into the module of the next part as they are,
// but for sequences that grow with the trace, of ops, of stored batches, of bookmarks:
// those are numbers in strings, as steps are, which TraceItem makes records of again.

// fewItems is how many items a sequence has at most that is written as it is.
const fewItems = 8

// itemShape is what the items of a long sequence may look like: a record of atoms, or,
// with one field that has no name, an atom.
type itemShape struct {
	fields  []string
	numbers []bool // per field, whether it is a number; else it is a word
}

// stretch is a part of a state: TLA+ text, and after it a long sequence, if it has items.
type stretch struct {
	text  string
	items [][]int
}

// carry takes the states apart in which a part begins.
func (e *encoder) carry(states []tlc.Value) []stretch {
	w := &stateWriter{e: e}
	w.list("<<", states, ">>")
	return append(w.done, stretch{text: w.text.String()})
}

type stateWriter struct {
	e    *encoder
	text strings.Builder
	done []stretch
}

func (w *stateWriter) list(open string, items []tlc.Value, end string) {
	w.text.WriteString(open)
	for i, v := range items {
		if i > 0 {
			w.text.WriteString(", ")
		}
		w.value(v)
	}
	w.text.WriteString(end)
}

func (w *stateWriter) value(v tlc.Value) {
	switch v.Shape {
	case tlc.Set:
		w.list("{", v.Items, "}")
	case tlc.Tuple:
		if items, ok := w.e.items(v); ok {
			w.done = append(w.done, stretch{w.text.String(), items})
			w.text.Reset()
			return
		}
		w.list("<<", v.Items, ">>")
	case tlc.Record, tlc.Function:
		open, arrow, and, end := "[", " |-> ", ", ", "]"
		if v.Shape == tlc.Function {
			open, arrow, and, end = "(", " :> ", " @@ ", ")"
		}
		w.text.WriteString(open)
		for i, k := range v.Keys {
			if i > 0 {
				w.text.WriteString(and)
			}
			w.value(k)
			w.text.WriteString(arrow)
			w.value(v.Items[i])
		}
		w.text.WriteString(end)
	default:
		w.text.WriteString(v.Text)
	}
}

var reNumber = regexp.MustCompile(`^(-1|[0-9]+)$`)

// items is a long sequence as numbers, each item its shape and then its fields; false if
// it is short, or has items that hold more than atoms.
func (e *encoder) items(v tlc.Value) ([][]int, bool) {
	if len(v.Items) <= fewItems {
		return nil, false
	}
	var out [][]int
	for _, it := range v.Items {
		fields, values := []string{""}, []tlc.Value{it}
		if it.Shape == tlc.Record {
			it = it.Sorted()
			fields, values = nil, it.Items
			for _, k := range it.Keys {
				fields = append(fields, k.Text)
			}
		}
		s := itemShape{fields: fields}
		var numbers []int
		for _, x := range values {
			if x.Shape != tlc.Atom {
				return nil, false
			}
			is := reNumber.MatchString(x.Text)
			s.numbers = append(s.numbers, is)
			if is {
				n, err := strconv.Atoi(x.Text)
				if err != nil {
					return nil, false
				}
				numbers = append(numbers, e.number(n))
			} else {
				numbers = append(numbers, e.word(x.Text))
			}
		}
		out = append(out, append([]int{e.itemShape(s)}, numbers...))
	}
	return out, true
}

func (e *encoder) itemShape(s itemShape) int {
	k := slices.IndexFunc(e.itemShapes, func(o itemShape) bool {
		return slices.Equal(o.fields, s.fields) && slices.Equal(o.numbers, s.numbers)
	})
	if k < 0 {
		k = len(e.itemShapes)
		e.itemShapes = append(e.itemShapes, s)
	}
	return e.number(k)
}

// writeCarried writes, per part, the states that it begins in.
func (e *encoder) writeCarried(b *bufio.Writer, width int) {
	if len(e.itemShapes) > 0 {
		b.WriteString("TraceItem(t, i) ==\n    LET s == TraceNumber(t, i)\n    IN CASE ")
		for k, s := range e.itemShapes {
			if k > 0 {
				b.WriteString("\n         [] ")
			}
			fmt.Fprintf(b, "s = %d -> %s", k, s.reader())
		}
		b.WriteString("\n")
	}
	b.WriteString("TraceCarried == <<\n")
	for i, part := range e.carried {
		if i > 0 {
			b.WriteString(",\n")
		}
		for _, s := range part {
			b.WriteString(s.text)
			if s.items == nil {
				continue
			}
			size := 0
			for _, it := range s.items {
				size = max(size, len(it))
			}
			b.WriteString("TraceRead(")
			text(b, padded(s.items, size), size, width)
			fmt.Fprintf(b, ", %d, TraceItem)", size)
		}
	}
	b.WriteString("\n>>\n")
}

// reader is TLA+ that makes an item of its numbers, which begin after its shape.
func (s itemShape) reader() string {
	var parts []string
	for i, f := range s.fields {
		of := "TraceWord"
		if s.numbers[i] {
			of = "TraceNumber"
		}
		value := fmt.Sprintf("%s(t, i + %d)", of, i+1)
		if f == "" {
			return value
		}
		parts = append(parts, f+" |-> "+value)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// padded are items one after the other, all of the same size.
func padded(items [][]int, size int) []int {
	out := make([]int, 0, size*len(items))
	for _, it := range items {
		out = append(out, it...)
		for range size - len(it) {
			out = append(out, -1)
		}
	}
	return out
}
