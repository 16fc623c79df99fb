package traces

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SANY, TLC's parser, takes longer for a record than TLC for judging it, and is what
// limits the size of a batch; but a string of any length is one token of it. So steps
// and logs are written as decimal numbers in strings, all of the same width, and the
// module holds the operators that make records of them, which TLC does once:
//
//	TraceNumber(t, i)  the number at place i of text t, counted from 0
//	TraceWord(t, i)    the value that is no number, by its number
//	TraceEvent(t, i)   the step that begins there: its shape, its fields, then
//	                   nothing, since all steps are equally long
//	TracePieces        per piece the steps of the part that is judged
//	TraceCarried       per piece the states in which the part begins, none at the first
//	TraceLogs          per piece, and in it per incarnation, the ops agreed on
//
// A number n is written as n + 1, since some are -1.

// encoder holds the steps and logs of a batch as numbers.
type encoder struct {
	shapes []shape
	at     map[shape0]int // index in shapes
	words  []string       // TLA+ values that are no numbers; number 0 is the first
	wordAt map[string]int
	pieces [][][]int // by job and step
	logs   [][][]int // by job and incarnation
	// What parts begin in, see carry.
	carried    [][]stretch
	itemShapes []itemShape
	long       int // numbers of the longest step
	most       int // the highest number
}

// shape is what steps of an action have in common; shape0 tells them apart.
type shape struct {
	shape0
	fields []string
	count  int
}

type shape0 struct {
	name  string
	keyed bool // has a key
}

func encode(batch []*job) *encoder {
	e := &encoder{at: map[shape0]int{}, wordAt: map[string]int{}}
	for _, j := range batch {
		steps := make([][]int, j.to-j.from)
		for i := range steps {
			steps[i] = e.step(&j.steps[j.from+i])
			e.long = max(e.long, len(steps[i]))
		}
		e.pieces = append(e.pieces, steps)
		logs := make([][]int, len(j.log))
		for i, log := range j.log {
			for _, o := range log {
				logs[i] = append(logs[i], e.word(o))
			}
		}
		e.logs = append(e.logs, logs)
		e.carried = append(e.carried, e.carry(j.carried))
	}
	return e
}

func (e *encoder) step(s *step) []int {
	of := shape0{s.recordName(), s.Key != "" && slices.Contains(s.reads, "key")}
	k, ok := e.at[of]
	if !ok {
		k = len(e.shapes)
		e.at[of] = k
		e.shapes = append(e.shapes, shape{shape0: of, fields: s.fields()})
	}
	sh := &e.shapes[k]
	sh.count++
	out := make([]int, 0, 1+len(sh.fields))
	out = append(out, e.number(k))
	for _, f := range sh.fields {
		switch f {
		case "k":
			out = append(out, e.word(`"`+s.Kind+`"`))
		case "key":
			out = append(out, e.word(`"`+s.Key+`"`))
		case "does":
			out = append(out, e.word(s.Does))
		default:
			out = append(out, e.number(int(s.number(f))))
		}
	}
	return out
}

// recordName is the action of the record.
func (s *step) recordName() string {
	if s.Ended {
		return string(s.Action) + "Ended"
	}
	return string(s.Action)
}

// fields are those of the record: all that its rule names, but a key that it lacks.
func (s *step) fields() []string {
	return slices.DeleteFunc(slices.Clone(s.reads), func(f string) bool { return f == "key" && s.Key == "" })
}

func (e *encoder) number(n int) int {
	e.most = max(e.most, n)
	return n
}

func (e *encoder) word(text string) int {
	n, ok := e.wordAt[text]
	if !ok {
		n = len(e.words)
		e.words = append(e.words, text)
		e.wordAt[text] = n
	}
	return e.number(n)
}

// perText is how many steps, or ops, stand in one string: a line to look at.
const perText = 50

func (e *encoder) write(b *bufio.Writer, logs bool) {
	width := len(strconv.Itoa(e.most + 1))
	width += width % 2
	e.writeNumbers(b, width)
	e.writeShapes(b)
	texts(b, "TraceTexts", len(e.pieces), func(i int) (numbers []int, size int) {
		return padded(e.pieces[i], e.long), e.long
	}, width)
	fmt.Fprintf(b, "TracePieces == [p \\in DOMAIN TraceTexts |-> TraceRead(TraceTexts[p], %d, TraceEvent)] \\o <<>>\n", e.long)
	e.writeCarried(b, width)
	if !logs {
		return
	}
	b.WriteString("TraceLogs == <<\n")
	for i, list := range e.logs {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("<<")
		for k, log := range list {
			if k > 0 {
				b.WriteString(",\n")
			}
			b.WriteString("TraceRead(")
			text(b, log, 1, width)
			b.WriteString(", 1, TraceWord)")
		}
		b.WriteString(">>")
	}
	b.WriteString("\n>>\n")
}

// writeNumbers writes what turns texts into numbers and words. Two digits are taken at
// once: TLC looks for an argument among those of a function one by one, so there must not
// be one for every number.
func (e *encoder) writeNumbers(b *bufio.Writer, width int) {
	b.WriteString(`TraceDigit == [c \in {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"} |->
    CASE c = "0" -> 0 [] c = "1" -> 1 [] c = "2" -> 2 [] c = "3" -> 3 [] c = "4" -> 4
      [] c = "5" -> 5 [] c = "6" -> 6 [] c = "7" -> 7 [] c = "8" -> 8 [] c = "9" -> 9]
TracePair == [t \in {x \o y : x, y \in DOMAIN TraceDigit} |-> 10 * TraceDigit[SubSeq(t, 1, 1)] + TraceDigit[SubSeq(t, 2, 2)]]
`)
	number := "0"
	for at := 1; at < width; at += 2 {
		number = fmt.Sprintf("100 * (%s) + TracePair[SubSeq(t, %d * i + %d, %d * i + %d)]", number, width, at, width, at+1)
	}
	fmt.Fprintf(b, "TraceNumber(t, i) == %s - 1\n", strings.TrimPrefix(number, "100 * (0) + "))
	fmt.Fprintf(b, "TraceWords == <<%s>>\n", strings.Join(e.words, ",\n"))
	b.WriteString("TraceWord(t, i) == TraceWords[TraceNumber(t, i) + 1]\n")
	// The items of a sequence of texts, each of size numbers. Appending nothing makes
	// TLC evaluate them at once.
	fmt.Fprintf(b, `TraceRead(texts, size, Item(_, _)) ==
    LET full == %d * (Len(texts) - 1)
    IN IF texts = <<>> THEN <<>>
       ELSE [j \in 1 .. full + Len(texts[Len(texts)]) \div (%[2]d * size) |->
                Item(texts[1 + ((j - 1) \div %[1]d)], size * ((j - 1) %% %[1]d))] \o <<>>
`, perText, width)
}

// writeShapes writes what makes records of steps, those seen most first.
func (e *encoder) writeShapes(b *bufio.Writer) {
	order := make([]int, len(e.shapes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(e.shapes[y].count, e.shapes[x].count) })
	b.WriteString("TraceEvent(t, i) ==\n    LET s == TraceNumber(t, i)\n    IN CASE ")
	for i, k := range order {
		if i > 0 {
			b.WriteString("\n         [] ")
		}
		fmt.Fprintf(b, "s = %d -> [a |-> %q", k, e.shapes[k].name)
		for place, f := range e.shapes[k].fields {
			of := "TraceNumber"
			if f == "k" || f == "key" || f == "does" {
				of = "TraceWord"
			}
			fmt.Fprintf(b, ", %s |-> %s(t, i + %d)", f, of, place+1)
		}
		b.WriteString("]")
	}
	b.WriteString("\n")
}

// texts writes a definition of n sequences of texts.
func texts(b *bufio.Writer, name string, n int, of func(i int) (numbers []int, size int), width int) {
	b.WriteString(name + " == <<\n")
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		numbers, size := of(i)
		text(b, numbers, size, width)
	}
	b.WriteString("\n>>\n")
}

// text writes numbers as a sequence of texts, each of perText items of size numbers.
func text(b *bufio.Writer, numbers []int, size, width int) {
	b.WriteString("<<")
	first := true
	for part := range slices.Chunk(numbers, perText*size) {
		if !first {
			b.WriteString(",\n")
		}
		first = false
		b.WriteByte('"')
		for _, n := range part {
			fmt.Fprintf(b, "%0*d", width, n+1)
		}
		b.WriteByte('"')
	}
	b.WriteString(">>")
}
