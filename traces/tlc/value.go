package tlc

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Shape is the kind of a TLA+ value.
type Shape int

const (
	Atom     Shape = iota // number, boolean, string or model value
	Set                   // {a, b}
	Tuple                 // <<a, b>>: a sequence
	Record                // [field |-> a]: a function of strings
	Function              // (k :> a @@ l :> b)
)

// Value is a TLA+ value as TLC prints it, taken apart far enough to say which
// part of it changed. Atoms keep their text.
type Value struct {
	Shape Shape
	Text  string  // of an Atom, as printed
	Keys  []Value // of a Record (atoms) or Function, in the order printed
	Items []Value // elements, in the order printed; values of a Record or Function
}

// Field returns the value of a record's field.
func (v Value) Field(name string) (Value, bool) {
	if v.Shape != Record {
		return Value{}, false
	}
	for i, k := range v.Keys {
		if k.Text == name {
			return v.Items[i], true
		}
	}
	return Value{}, false
}

// Sorted orders the fields of every record in the value by name: TLC prints
// them in an order that changes from run to run.
func (v Value) Sorted() Value {
	out := Value{Shape: v.Shape, Text: v.Text, Keys: slices.Clone(v.Keys)}
	for _, it := range v.Items {
		out.Items = append(out.Items, it.Sorted())
	}
	if v.Shape == Record {
		sort.Sort(byField(out))
	}
	return out
}

type byField Value

func (f byField) Len() int           { return len(f.Keys) }
func (f byField) Less(i, j int) bool { return f.Keys[i].Text < f.Keys[j].Text }
func (f byField) Swap(i, j int) {
	f.Keys[i], f.Keys[j] = f.Keys[j], f.Keys[i]
	f.Items[i], f.Items[j] = f.Items[j], f.Items[i]
}

// MarshalText puts the value into JSON as TLC prints it.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// String prints the value as TLC does, on one line.
func (v Value) String() string {
	parts := make([]string, len(v.Items))
	for i, it := range v.Items {
		switch v.Shape {
		case Record:
			parts[i] = v.Keys[i].Text + " |-> " + it.String()
		case Function:
			parts[i] = v.Keys[i].String() + " :> " + it.String()
		default:
			parts[i] = it.String()
		}
	}
	switch v.Shape {
	case Set:
		return "{" + strings.Join(parts, ", ") + "}"
	case Tuple:
		return "<<" + strings.Join(parts, ", ") + ">>"
	case Record:
		return "[" + strings.Join(parts, ", ") + "]"
	case Function:
		return "(" + strings.Join(parts, " @@ ") + ")"
	}
	return v.Text
}

// ParseValue reads one value in TLC's notation. Line breaks count as blanks.
func ParseValue(s string) (Value, error) {
	p := &valueParser{text: s}
	v, err := p.value()
	if err == nil {
		if p.blanks(); p.at < len(p.text) {
			err = p.fail("the end")
		}
	}
	if err != nil {
		return Value{}, fmt.Errorf("TLA+ value: %w", err)
	}
	return v, nil
}

// ParseValues reads values that follow each other, as PrintT leaves them.
func ParseValues(s string) ([]Value, error) {
	p := &valueParser{text: s}
	var out []Value
	for p.blanks(); p.at < len(p.text); p.blanks() {
		v, err := p.value()
		if err != nil {
			return nil, fmt.Errorf("TLA+ value %d: %w", len(out)+1, err)
		}
		out = append(out, v)
	}
	return out, nil
}

type valueParser struct {
	text string
	at   int
}

func (p *valueParser) fail(want string) error {
	rest := p.text[p.at:]
	if len(rest) > 20 {
		rest = rest[:20]
	}
	return fmt.Errorf("at character %d: want %s, have %q", p.at+1, want, rest)
}

func (p *valueParser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// eat consumes the token if it comes next.
func (p *valueParser) eat(token string) bool {
	p.blanks()
	if strings.HasPrefix(p.text[p.at:], token) {
		p.at += len(token)
		return true
	}
	return false
}

func (p *valueParser) value() (Value, error) {
	switch {
	case p.eat("<<"):
		return p.list(Tuple, ">>")
	case p.eat("{"):
		return p.list(Set, "}")
	case p.eat("["):
		return p.pairs(Record, "|->", ",", "]")
	case p.eat("("):
		return p.pairs(Function, ":>", "@@", ")")
	}
	return p.atom()
}

func (p *valueParser) list(shape Shape, end string) (Value, error) {
	v := Value{Shape: shape}
	if p.eat(end) {
		return v, nil
	}
	for {
		it, err := p.value()
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, it)
		if p.eat(end) {
			return v, nil
		}
		if !p.eat(",") {
			return v, p.fail(`"," or "` + end + `"`)
		}
	}
}

func (p *valueParser) pairs(shape Shape, arrow, separator, end string) (Value, error) {
	v := Value{Shape: shape}
	if p.eat(end) {
		return v, nil
	}
	for {
		k, err := p.value()
		if err != nil {
			return v, err
		}
		if !p.eat(arrow) {
			return v, p.fail(`"` + arrow + `"`)
		}
		it, err := p.value()
		if err != nil {
			return v, err
		}
		v.Keys, v.Items = append(v.Keys, k), append(v.Items, it)
		if p.eat(end) {
			return v, nil
		}
		if !p.eat(separator) {
			return v, p.fail(`"` + separator + `" or "` + end + `"`)
		}
	}
}

// atom reads a string, a number, a name, or an interval such as 1..3.
func (p *valueParser) atom() (Value, error) {
	p.blanks()
	start := p.at
	if p.at < len(p.text) && p.text[p.at] == '"' {
		for p.at++; p.at < len(p.text); p.at++ {
			switch p.text[p.at] {
			case '\\':
				p.at++
			case '"':
				p.at++
				return Value{Text: p.text[start:p.at]}, nil
			}
		}
		p.at = start
		return Value{}, p.fail("a closing quote")
	}
	for p.at < len(p.text) && (isWord(p.text[p.at]) || p.text[p.at] == '-' || p.text[p.at] == '.') {
		if p.text[p.at] == '-' && p.at > start && p.text[p.at-1] != '.' {
			break
		}
		p.at++
	}
	if p.at == start {
		return Value{}, p.fail("a value")
	}
	return Value{Text: p.text[start:p.at]}, nil
}

func isWord(c byte) bool {
	return c == '_' || c == '!' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
