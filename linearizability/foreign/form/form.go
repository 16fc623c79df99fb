// Package form reads the trees that histories of other systems are written in:
// EDN, as Jepsen prints it, and JSON. One form is read at a time, from a stream,
// and every value knows its line and column, so that whoever finds it wrong can
// say where it stands.
//
// Of EDN it knows what Clojure prints of data: nil, booleans, numbers (with N, M
// and ratios), strings, characters, keywords, symbols, lists, vectors, maps,
// sets, tagged values (whose tag is passed over), comments and #_. JSON is read
// as it is defined, and nothing more is let through.
package form

import (
	"fmt"
	"strings"
)

// Kind of a value.
type Kind uint8

const (
	Nil Kind = iota
	Bool
	Number
	String
	Char
	Keyword
	Symbol
	// Seq is a list, a vector or an array.
	Seq
	// Map is a map or an object.
	Map
	Set
)

var kindNames = [...]string{"nil", "a boolean", "a number", "a string", "a character", "a keyword", "a symbol", "a sequence", "a map", "a set"}

func (k Kind) String() string { return kindNames[k] }

// Value is one form.
type Value struct {
	Kind Kind
	// Text of a Bool, Number, String, Char, Keyword (without its colon) or Symbol.
	// Of a string it is what the string means, of a number what was written.
	Text string
	// Items of a Seq or a Set; of a Map: key, value, key, value, ...
	Items []Value
	// Line and Column of its first byte, from 1; columns count bytes.
	Line, Column int
}

// Name tells the text of a keyword, a symbol or a string: what EDN writes as
// :process is "process" in JSON.
func (v *Value) Name() (string, bool) {
	switch v.Kind {
	case Keyword, Symbol, String:
		return v.Text, true
	}
	return "", false
}

// Get finds the value of a key of a map by its name; nil if there is none.
func (v *Value) Get(name string) *Value {
	if v.Kind != Map {
		return nil
	}
	for i := 0; i+1 < len(v.Items); i += 2 {
		if n, ok := v.Items[i].Name(); ok && n == name {
			return &v.Items[i+1]
		}
	}
	return nil
}

// String prints the value as EDN, for messages.
func (v *Value) String() string {
	switch v.Kind {
	case Nil:
		return "nil"
	case String:
		return fmt.Sprintf("%q", v.Text)
	case Keyword:
		return ":" + v.Text
	case Seq:
		return "[" + v.join() + "]"
	case Map:
		return "{" + v.join() + "}"
	case Set:
		return "#{" + v.join() + "}"
	}
	return v.Text
}

func (v *Value) join() string {
	parts := make([]string, len(v.Items))
	for i := range v.Items {
		parts[i] = v.Items[i].String()
	}
	return strings.Join(parts, " ")
}

// Error says why a form cannot be read, and where.
type Error struct {
	Line, Column int
	Err          error
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %v", e.Line, e.Column, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Errorf is an error about a value.
func (v *Value) Errorf(format string, args ...any) error {
	return &Error{v.Line, v.Column, fmt.Errorf(format, args...)}
}
