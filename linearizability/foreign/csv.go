package foreign

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"purgelab/linearizability/foreign/form"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// The columns of a table besides those of fields. A row is an operation with
// both its ends.
var rowColumns = []string{"process", "call", "return", "outcome", "f", "partition"}

// unknownCell says that nobody knows what a poll got: an empty cell of records says that
// it got nothing.
const unknownCell = "?"

// table reads rows under their header.
type table struct {
	in      *csv.Reader
	columns []string
	ops     []Op
}

func readCSV(file string, r io.Reader) ([]Op, error) {
	t := &table{in: csv.NewReader(r)}
	t.in.Comment = '#'
	t.in.ReuseRecord, t.in.TrimLeadingSpace = true, true
	err := t.header()
	for err == nil {
		err = t.row()
	}
	if err != io.EOF {
		var e *csv.ParseError
		if errors.As(err, &e) {
			return nil, &Error{file, e.Line, max(e.Column, 1), e.Err}
		}
		return nil, placed(file, err)
	}
	rank(t.ops)
	return t.ops, nil
}

func (t *table) header() error {
	row, err := t.in.Read()
	if err == io.EOF {
		return &form.Error{Line: 1, Column: 1, Err: errors.New("want a header with the names of the columns, got nothing")}
	}
	if err != nil {
		return err
	}
	t.columns = slices.Clone(row)
	for i, name := range t.columns {
		cell := t.cell(i, name)
		name = strings.TrimSpace(name)
		t.columns[i] = name
		if slices.Index(t.columns, name) < i {
			return cell.Errorf("want every column once, got %q twice", name)
		}
		if _, ok := fields[name]; !ok && !slices.Contains(rowColumns, name) {
			return cell.Errorf("want one of the columns %v, got %q", slices.Concat(rowColumns, fieldNames(false), fieldNames(true)), name)
		}
	}
	for _, name := range []string{"process", "call", "return", "f"} {
		if !slices.Contains(t.columns, name) {
			return (&form.Value{Line: 1, Column: 1}).Errorf("want the columns process, call, return and f, got no %s", name)
		}
	}
	return nil
}

// cell is a cell of the current row as a value with a place.
func (t *table) cell(i int, text string) *form.Value {
	line, column := t.in.FieldPos(i)
	return &form.Value{Kind: form.String, Text: text, Line: line, Column: column}
}

func (t *table) row() error {
	row, err := t.in.Read()
	if err != nil {
		return err
	}
	o := Op{Return: history.Never}
	kind := ""
	first := t.cell(0, "")
	o.Line, o.Column = first.Line, first.Column
	end := first
	unread := !slices.Contains(t.columns, "records")
	for i, text := range row {
		if text == "" {
			continue
		}
		cell := t.cell(i, text)
		if t.columns[i] == "records" && text == unknownCell {
			unread = true
			continue
		}
		if err := about(t.columns[i], t.set(&o, &kind, cell, t.columns[i])); err != nil {
			return err
		}
		if t.columns[i] == "outcome" || t.columns[i] == "return" {
			end = cell
		}
	}
	if o.F == Poll {
		o.unread(unread)
	}
	if !slices.Contains(Functions, o.F) {
		return first.Errorf("f: want one of %v, got %q", Functions, o.F)
	}
	if kind == "" {
		if kind = "ok"; o.Return == history.Never {
			kind = "info"
		}
	}
	if kind == "ok" && o.Return == history.Never {
		return end.Errorf("return: want the time at which the answer came, got none")
	}
	if err := o.end(kind, o.Return, end); err != nil {
		return err
	}
	if o.Return < o.Call {
		return end.Errorf("return: want no less than the call, %d, got %d", o.Call, o.Return)
	}
	t.ops = append(t.ops, o)
	return o.complete(first)
}

// set takes in one cell.
func (t *table) set(o *Op, kind *string, cell *form.Value, column string) error {
	n := *cell
	n.Kind = form.Number
	var w *int64
	switch column {
	case "process":
		if err := whole(&n, &w); err != nil {
			return err
		}
		o.Process = int(*w)
	case "call", "return":
		if err := whole(&n, &w); err != nil {
			return err
		}
		if *w < 0 || *w == history.Never {
			return n.Errorf("want a time from 0 to %d, got %d", int64(history.Never)-1, *w)
		}
		if column == "call" {
			o.Call = *w
		} else {
			o.Return = *w
		}
	case "outcome":
		*kind = cell.Text
	case "f":
		o.F = cell.Text
	case "partition":
		var p *uint32
		if err := optional(&n, &p); err != nil {
			return err
		}
		o.Partition = op.Partition(*p)
	default:
		f := fields[column]
		return f.set(o, typed(cell, column, f.list))
	}
	return nil
}

// unread settles what a poll got whose cell is empty; where that is not known, its position
// says nothing.
func (o *Op) unread(unknown bool) {
	switch a := &o.Answer; {
	case unknown:
		a.Position = nil
	case a.Records == nil:
		a.Records = []Record{}
	}
}

// typed makes of a cell what a field wants to read: parts divided by semicolons, a
// truth, or a number if it is one. Texts and positions are read from either.
func typed(cell *form.Value, name string, list bool) *form.Value {
	v := *cell
	switch {
	case list:
		v.Kind, v.Text = form.Seq, ""
		column := cell.Column
		for _, part := range strings.Split(cell.Text, ";") {
			if name == "records" {
				v.Items = append(v.Items, record(part, cell.Line, column))
			} else {
				v.Items = append(v.Items, form.Value{Kind: form.String, Text: part, Line: cell.Line, Column: column})
			}
			column += len(part) + 1
		}
	case v.Text == "true" || v.Text == "false":
		v.Kind = form.Bool
	case v.Text != "" && strings.Trim(v.Text, "-0123456789") == "":
		v.Kind = form.Number
	}
	return &v
}

// record is a payload, or position=payload.
func record(part string, line, column int) form.Value {
	word := func(s string) form.Value {
		return form.Value{Kind: form.String, Text: s, Line: line, Column: column}
	}
	at, payload, ok := strings.Cut(part, "=")
	if !ok {
		return word(part)
	}
	return form.Value{Kind: form.Map, Line: line, Column: column, Items: []form.Value{word("at"), word(at), word("p"), word(payload)}}
}

// rank gives every call and every return an instant of its own. Of those at the
// same time calls come first, so that such operations overlap.
func rank(ops []Op) {
	type instant struct {
		time int64
		end  bool
		op   int
	}
	all := make([]instant, 0, 2*len(ops))
	for i := range ops {
		all = append(all, instant{ops[i].Call, false, i})
		if ops[i].Return != history.Never {
			all = append(all, instant{ops[i].Return, true, i})
		}
	}
	slices.SortStableFunc(all, func(a, b instant) int {
		if c := cmp.Compare(a.time, b.time); c != 0 || a.end == b.end {
			return c
		}
		if b.end {
			return -1
		}
		return 1
	})
	for i, x := range all {
		if x.end {
			ops[x.op].Return = int64(i + 1)
		} else {
			ops[x.op].Call = int64(i + 1)
		}
	}
}
