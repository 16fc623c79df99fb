package foreign

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"purgelab/linearizability/foreign/form"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// lines reads events, one JSON object each: process, type, f, value, time and
// partition, as docs/history.md has them.
type lines struct {
	ops  []Op
	open map[int]int // process → index in ops
	time int64
	any  bool // an event was read
}

func readLines(file string, r io.Reader) ([]Op, error) {
	in := form.NewJSON(r)
	l := &lines{open: map[int]int{}}
	for {
		v, err := in.Next()
		if err == io.EOF {
			return l.ops, nil
		}
		if err == nil {
			err = l.event(&v)
		}
		if err != nil {
			return nil, placed(file, err)
		}
	}
}

// placed makes an *Error of one that a form gave.
func placed(file string, err error) error {
	var e *form.Error
	if errors.As(err, &e) {
		return &Error{file, e.Line, e.Column, e.Err}
	}
	return &Error{file, 1, 1, err}
}

// header is an event without its value.
type header struct {
	process   int
	kind, f   string
	time      int64
	partition op.Partition
	value     *form.Value // nil: none
	at        *form.Value // the event itself
}

func readHeader(v *form.Value) (header, error) {
	h := header{at: v}
	if v.Kind != form.Map {
		return h, v.Errorf("want an object, got %s", v.Kind)
	}
	var process, time bool
	for i := 0; i < len(v.Items); i += 2 {
		name, _ := v.Items[i].Name()
		x := &v.Items[i+1]
		var n *int64
		var err error
		switch name {
		case "process":
			if err = whole(x, &n); err == nil {
				h.process, process = int(*n), true
			}
		case "time":
			if err = whole(x, &n); err == nil {
				h.time, time = *n, true
			}
		case "partition":
			var p *uint32
			if err = optional(x, &p); err == nil {
				h.partition = op.Partition(*p)
			}
		case "type":
			err = text(x, &h.kind)
		case "f":
			err = text(x, &h.f)
		case "value":
			if h.value = x; x.Kind == form.Nil {
				h.value = nil
			}
		default:
			err = v.Items[i].Errorf("want process, type, f, value, time or partition, got %s", &v.Items[i])
		}
		if err != nil {
			return h, err
		}
	}
	switch {
	case !process:
		return h, v.Errorf("process: want a number, got none")
	case !time:
		return h, v.Errorf("time: want a number, got none")
	case !slices.Contains(Functions, h.f):
		return h, where(v, "f").Errorf("f: want one of %v, got %q", Functions, h.f)
	}
	return h, nil
}

// where is the value of a field, or, without one, the map that lacks it.
func where(v *form.Value, name string) *form.Value {
	if x := v.Get(name); x != nil {
		return x
	}
	return v
}

func (l *lines) event(v *form.Value) error {
	h, err := readHeader(v)
	if err != nil {
		return err
	}
	if l.any && h.time <= l.time {
		return where(v, "time").Errorf("time: want more than that of the event before, %d, got %d", l.time, h.time)
	}
	l.any, l.time = true, h.time
	at, busy := l.open[h.process]
	if h.kind == "invoke" {
		if busy {
			return v.Errorf("process %d: want the end of its %s of line %d before it invokes again", h.process, l.ops[at].F, l.ops[at].Line)
		}
		l.open[h.process] = len(l.ops)
		o := Op{Process: h.process, F: h.f, Partition: h.partition, Call: h.time, Return: history.Never, Line: v.Line, Column: v.Column}
		if err := o.read(h.value, false); err != nil {
			return err
		}
		l.ops = append(l.ops, o)
		return o.complete(v)
	}
	if !busy {
		return v.Errorf("process %d: want an invoke before its %s of %s", h.process, h.kind, h.f)
	}
	o := &l.ops[at]
	switch {
	case o.F != h.f:
		return where(v, "f").Errorf("f: want %s as invoked at line %d, got %s", o.F, o.Line, h.f)
	case o.Partition != h.partition:
		return where(v, "partition").Errorf("partition: want %d as invoked at line %d, got %d", o.Partition, o.Line, h.partition)
	}
	delete(l.open, h.process)
	if err := o.read(h.value, true); err != nil {
		return err
	}
	if a := &o.Answer; a.Records == nil && a.Position != nil && o.F == Poll { // as docs/history.md writes an empty one
		a.Records = []Record{}
	}
	return o.end(h.kind, h.time, where(v, "type"))
}

// read takes in the fields of a value that belong to a beginning or to an end.
func (o *Op) read(v *form.Value, answer bool) error {
	if v == nil {
		return nil
	}
	if v.Kind != form.Map {
		return v.Errorf("value: want an object, got %s", v.Kind)
	}
	for i := 0; i < len(v.Items); i += 2 {
		name, _ := v.Items[i].Name()
		f, ok := fields[name]
		if !ok || f.answer != answer {
			return v.Items[i].Errorf("want one of %v, got %q", fieldNames(answer), name)
		}
		if err := about(name, f.set(o, &v.Items[i+1])); err != nil {
			return err
		}
	}
	return nil
}

// about puts the name of a field before what is wrong with it.
func about(name string, err error) error {
	var e *form.Error
	if errors.As(err, &e) && !strings.HasPrefix(e.Err.Error(), name) {
		return &form.Error{Line: e.Line, Column: e.Column, Err: fmt.Errorf("%s: %w", name, e.Err)}
	}
	return err
}

// end settles how the operation came out: kind is ok, fail or info.
func (o *Op) end(kind string, time int64, at *form.Value) error {
	switch kind {
	case "ok":
		if !history.Judged(o.Answer.Code) {
			return at.Errorf("code: want an answer that can be judged on an ok, got %s, which belongs to a fail", o.Answer.Code)
		}
		o.Outcome, o.Return = history.Answered, time
	case "fail":
		o.Outcome, o.Return = history.NoEffect, time
	case "info":
		o.Outcome, o.Return = history.Unknown, history.Never
	default:
		return at.Errorf("type: want one of invoke, ok, fail, info, got %s", strconv.Quote(kind))
	}
	return nil
}

// complete refuses an operation that lacks what it cannot be without.
func (o *Op) complete(at *form.Value) error {
	need := func(name string, has bool) error {
		if has {
			return nil
		}
		return at.Errorf("%s: want it on a %s, got none", name, o.F)
	}
	var errs []error
	switch o.F {
	case Append:
		errs = append(errs, need("payloads", len(o.Ask.Payloads) > 0))
	case Settle, Return:
		errs = append(errs, need("key", o.Ask.Key != ""), need("payloads", len(o.Ask.Payloads) > 0))
	case StoreBookmark:
		errs = append(errs, need("key", o.Ask.Key != ""), need("at", o.Ask.At != nil))
	case GetBookmark, DeleteBookmark:
		errs = append(errs, need("key", o.Ask.Key != ""))
	case DeleteRecords:
		errs = append(errs, need("at", o.Ask.At != nil))
	case Poll:
		if o.Ask.Strategy == op.AtOffset {
			errs = append(errs, need("at", o.Ask.At != nil))
		}
		if o.Ask.Strategy == op.Next {
			errs = append(errs, need("key", o.Ask.Key != ""))
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
