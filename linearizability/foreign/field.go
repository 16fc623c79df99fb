package foreign

import (
	"slices"
	"strconv"

	"purgelab/linearizability/foreign/form"
	"purgelab/model/op"
)

// field is one thing that may be written about an operation, under the same name
// in a JSON value and as a column of a table.
type field struct {
	answer bool // it belongs to the end of an operation, else to its beginning
	list   bool // in a table its parts are divided by semicolons
	set    func(*Op, *form.Value) error
}

// fields by name. Timestamp is that of an answer: no contract of another system
// here is asked by time.
var fields = map[string]field{
	"payloads":    {list: true, set: func(o *Op, v *form.Value) error { return payloads(v, &o.Ask.Payloads) }},
	"key":         {set: func(o *Op, v *form.Value) error { return text(v, &o.Ask.Key) }},
	"at":          {set: func(o *Op, v *form.Value) error { return position(v, &o.Ask.At) }},
	"strategy":    {set: func(o *Op, v *form.Value) error { return named(v, op.ParseStrategy, &o.Ask.Strategy) }},
	"reset":       {set: func(o *Op, v *form.Value) error { return named(v, op.ParseReset, &o.Ask.Reset) }},
	"max":         {set: func(o *Op, v *form.Value) error { return optional(v, &o.Ask.Max) }},
	"auto_commit": {set: func(o *Op, v *form.Value) error { return truth(v, &o.Ask.AutoCommit) }},
	"which":       {set: func(o *Op, v *form.Value) error { return named(v, op.ParseWhich, &o.Ask.Which) }},
	"subject":     {set: func(o *Op, v *form.Value) error { return text(v, &o.Ask.Subject) }},
	"before":      {set: func(o *Op, v *form.Value) error { return position(v, &o.Before) }},
	"keep":        {set: func(o *Op, v *form.Value) error { return optional(v, &o.Ask.Keep) }},

	"code":      {answer: true, set: func(o *Op, v *form.Value) error { return named(v, op.ParseCode, &o.Answer.Code) }},
	"position":  {answer: true, set: func(o *Op, v *form.Value) error { return position(v, &o.Answer.Position) }},
	"records":   {answer: true, list: true, set: func(o *Op, v *form.Value) error { return records(v, &o.Answer.Records) }},
	"count":     {answer: true, set: func(o *Op, v *form.Value) error { return optional(v, &o.Answer.Count) }},
	"found":     {answer: true, set: func(o *Op, v *form.Value) error { return found(v, &o.Answer.Found) }},
	"timestamp": {answer: true, set: func(o *Op, v *form.Value) error { return timestamp(v, &o.Answer.Timestamp) }},
	"start":     {answer: true, set: func(o *Op, v *form.Value) error { return whole(v, &o.Answer.Start) }},
	"end":       {answer: true, set: func(o *Op, v *form.Value) error { return whole(v, &o.Answer.End) }},
	"note":      {answer: true, set: func(o *Op, v *form.Value) error { return nil }},
}

// fieldNames lists the fields of a beginning or of an end, for messages.
func fieldNames(answer bool) []string {
	var out []string
	for name, f := range fields {
		if f.answer == answer {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func text(v *form.Value, to *string) error {
	if v.Kind != form.String && v.Kind != form.Number {
		return v.Errorf("want a text, got %s", v.Kind)
	}
	*to = v.Text
	return nil
}

func truth(v *form.Value, to *bool) error {
	if v.Kind != form.Bool {
		return v.Errorf("want true or false, got %s", v)
	}
	*to = v.Text == "true"
	return nil
}

func found(v *form.Value, to **bool) error {
	*to = new(bool)
	return truth(v, *to)
}

func optional(v *form.Value, to **uint32) error {
	n, err := strconv.ParseUint(v.Text, 10, 32)
	if v.Kind != form.Number || err != nil {
		return v.Errorf("want a whole number from 0 to 4294967295, got %s", v)
	}
	m := uint32(n)
	*to = &m
	return nil
}

func whole(v *form.Value, to **int64) error {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if v.Kind != form.Number || err != nil {
		return v.Errorf("want a whole number, got %s", v)
	}
	*to = &n
	return nil
}

func timestamp(v *form.Value, to **op.Timestamp) error {
	var n *int64
	if err := whole(v, &n); err != nil {
		return err
	}
	t := op.Timestamp(*n)
	*to = &t
	return nil
}

func position(v *form.Value, to **Position) error {
	if v.Kind != form.Number && v.Kind != form.String {
		return v.Errorf("want a position, got %s", v.Kind)
	}
	p, err := ParsePosition(v.Text)
	if err != nil {
		return v.Errorf("%w", err)
	}
	*to = &p
	return nil
}

// named reads a word that stands for a value.
func named[T any](v *form.Value, parse func(string) (T, error), to *T) error {
	s, ok := v.Name()
	if !ok {
		return v.Errorf("want a word, got %s", v.Kind)
	}
	got, err := parse(s)
	if err != nil {
		return v.Errorf("%w", err)
	}
	*to = got
	return nil
}

func payloads(v *form.Value, to *[]op.Payload) error {
	if v.Kind != form.Seq {
		return v.Errorf("want a list of payloads, got %s", v.Kind)
	}
	for i := range v.Items {
		var s string
		if err := text(&v.Items[i], &s); err != nil {
			return err
		}
		*to = append(*to, op.Payload(s))
	}
	return nil
}

// records are each a payload, or a map of p (payload), t (timestamp) and at.
func records(v *form.Value, to *[]Record) error {
	if v.Kind != form.Seq {
		return v.Errorf("want a list of records, got %s", v.Kind)
	}
	*to = []Record{}
	for i := range v.Items {
		var r Record
		if err := r.read(&v.Items[i]); err != nil {
			return err
		}
		*to = append(*to, r)
	}
	return nil
}

func (r *Record) read(v *form.Value) error {
	var s string
	if v.Kind != form.Map {
		err := text(v, &s)
		r.Payload = op.Payload(s)
		return err
	}
	payload := false
	for i := 0; i < len(v.Items); i += 2 {
		name, _ := v.Items[i].Name()
		x := &v.Items[i+1]
		var err error
		switch name {
		case "p":
			err = text(x, &s)
			r.Payload, payload = op.Payload(s), true
		case "t":
			err = timestamp(x, &r.Timestamp)
		case "at":
			err = position(x, &r.At)
		default:
			err = v.Items[i].Errorf("want p, t or at of a record, got %s", &v.Items[i])
		}
		if err != nil {
			return err
		}
	}
	if !payload {
		return v.Errorf("want p, the payload of the record, got none")
	}
	return nil
}
