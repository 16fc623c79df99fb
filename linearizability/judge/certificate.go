package judge

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"purgelab/model"
	"purgelab/model/op"
)

// A certificate is an order of a history, written out: for each partition a line that
// names it, then a line for each operation in its place, which names the line of the
// history at which the operation is invoked; of several there, as in a transaction of
// Jepsen, 8:2 is the second of its partition. What an operation of unknown outcome chose
// comes after it: t=, the timestamp of an append, g=, the generation of a purge. So does
// "again", if this is another copy of its request. A new incarnation that lacks something
// is there twice: first with keep=, and how many lines are kept; then, after what else is
// in the log from which it begins, as itself.
//
//	partition 0
//	1
//	5 t=17
//	3
//	9 keep=2
//	3 again t=19
//	9
const partitionWord = "partition"

// WriteCertificate writes the order of one partition.
func WriteCertificate(w io.Writer, partition op.Partition, ops []model.Operation, order []model.Placed) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s %d\n", partitionWord, partition)
	names := namesOf(ops)
	for _, x := range order {
		o := &ops[x.Index]
		b.WriteString(names[x.Index].String())
		open := o.Reply == nil
		switch x.As {
		case model.Cut:
			fmt.Fprintf(b, " keep=%d", x.Open)
		case model.Again:
			b.WriteString(" again")
			open = true
		}
		if open && o.Request.Kind == op.Append {
			fmt.Fprintf(b, " t=%d", x.Open)
		}
		if open && o.Request.Kind == op.Purge {
			fmt.Fprintf(b, " g=%d", x.Open)
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// name of an operation in a certificate.
type name struct{ line, nth int } // nth from 1 among those of the line

func (n name) String() string {
	if n.nth == 1 {
		return fmt.Sprint(n.line)
	}
	return fmt.Sprintf("%d:%d", n.line, n.nth)
}

// namesOf names the operations of a partition.
func namesOf(ops []model.Operation) []name {
	out, count := make([]name, len(ops)), map[int]int{}
	for i := range ops {
		line := ops[i].Line
		count[line]++
		out[i] = name{line, count[line]}
	}
	return out
}

// CertificateError names the line of a certificate that cannot be read, and why.
type CertificateError struct {
	Line int // from 1
	Err  error
}

func (e *CertificateError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *CertificateError) Unwrap() error { return e.Err }

// ReadCertificate reads the orders of all partitions. ops are the operations of each.
// Every error is a *CertificateError, but for those of the reader.
func ReadCertificate(r io.Reader, ops func(op.Partition) []model.Operation) (map[op.Partition][]model.Placed, error) {
	orders := map[op.Partition][]model.Placed{}
	var current op.Partition
	var names map[string]int32 // of the operations of the current partition
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		words := strings.Fields(in.Text())
		switch {
		case len(words) == 0:
		case words[0] == partitionWord:
			if len(words) != 2 {
				return nil, &CertificateError{n, fmt.Errorf("want a partition and its number, got %q", in.Text())}
			}
			if _, err := fmt.Sscan(words[1], &current); err != nil {
				return nil, &CertificateError{n, fmt.Errorf("partition: want a number, got %q", words[1])}
			}
			if _, twice := orders[current]; twice {
				return nil, &CertificateError{n, fmt.Errorf("partition %d: it is there twice", current)}
			}
			orders[current], names = nil, map[string]int32{}
			for i, n := range namesOf(ops(current)) {
				names[n.String()] = int32(i)
			}
		case names == nil:
			return nil, &CertificateError{n, fmt.Errorf("want a partition first, got %q", in.Text())}
		default:
			x, err := placed(words, names)
			if err != nil {
				return nil, &CertificateError{n, err}
			}
			orders[current] = append(orders[current], x)
		}
	}
	return orders, in.Err()
}

// placed reads one operation in its place.
func placed(words []string, names map[string]int32) (x model.Placed, err error) {
	i, ok := names[words[0]]
	if !ok {
		return x, fmt.Errorf("want the line of an operation of the partition, got %s", words[0])
	}
	x.Index = i
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "again":
			x.As = model.Again
			continue
		case "keep":
			x.As = model.Cut
		case "t", "g":
		default:
			return x, fmt.Errorf("want t=, g=, again or keep=, got %q", w)
		}
		_, err = fmt.Sscan(value, &x.Open)
		if err != nil {
			return x, err
		}
	}
	return x, nil
}
