// Package strictjson reads JSON that people write and exchange. A field that is
// unknown or given twice, and anything after the value, is refused; errors name
// the line and speak of JSON, not of Go.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Error is why a text cannot be read.
type Error struct {
	Line, Column int // from 1; columns count bytes
	Err          error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Decode reads one JSON value into v. Every error is an *Error.
func Decode(text []byte, v any) error { return decode(text, v, true) }

// DecodeOwn is Decode for what another version of this program may have written:
// fields that are unknown are passed over.
func DecodeOwn(text []byte, v any) error { return decode(text, v, false) }

func decode(text []byte, v any, known bool) error {
	at := func(offset int, err error) error {
		before := text[:min(max(offset, 0), len(text))]
		return &Error{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), err}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var whole json.RawMessage
	if err := d.Decode(&whole); err != nil {
		return at(syntax(err, len(text)))
	}
	end := int(d.InputOffset())
	if rest := bytes.TrimSpace(text[end:]); len(rest) > 0 {
		return at(bytes.Index(text[end:], rest[:1])+end, fmt.Errorf("want one JSON value, got more after it: %s", shorten(rest)))
	}
	keys := scan(text[:end])
	if keys.twice != "" {
		return at(keys.at, fmt.Errorf("field %q is given twice", keys.twice))
	}
	d = json.NewDecoder(bytes.NewReader(text))
	if known {
		d.DisallowUnknownFields()
	}
	err := d.Decode(v)
	var typ *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typ):
		return at(int(typ.Offset)-1, inWords(typ))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return at(keys.first[strings.ToLower(strings.Trim(name, `"`))], fmt.Errorf("unknown field %s", name))
	}
	return at(end, err)
}

// syntax is where and why a text is not JSON.
func syntax(err error, end int) (int, error) {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return int(s.Offset) - 1, errors.New(s.Error())
	}
	return end, errors.New("it ends before the JSON value does")
}

func inWords(t *json.UnmarshalTypeError) error {
	field := t.Field
	if field == "" {
		field = "value"
	}
	return fmt.Errorf("%s: want %s, got %s", field, typeName(t.Type), t.Value)
}

// typeName is what JSON calls the values of a type.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(1)<<(t.Bits()-1)-1+uint64(1)<<(t.Bits()-1))
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}

func shorten(b []byte) string {
	if len(b) > 20 {
		return string(b[:20]) + "..."
	}
	return string(b)
}

// keys are the names of fields in a text, in lower case, since case does not
// matter to the decoder.
type keys struct {
	first map[string]int // where each stands first
	twice string         // the first that one object has twice, as it is written
	at    int
}

// scan looks for the names in a JSON value that is known to be well-formed.
func scan(b []byte) keys {
	k := keys{first: map[string]int{}}
	var open []map[string]bool // per object or array around; nil: an array
	name := false              // the next string is one
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{':
			open, name = append(open, map[string]bool{}), true
		case '[':
			open, name = append(open, nil), false
		case '}', ']':
			open, name = open[:len(open)-1], false
		case ',':
			name = open[len(open)-1] != nil
		case '"':
			end := i + 1
			for b[end] != '"' {
				if b[end] == '\\' {
					end++
				}
				end++
			}
			if name {
				k.note(b[i:end+1], i, open[len(open)-1])
			}
			i, name = end, false
		}
	}
	return k
}

// note takes in one name of an object that has those in seen.
func (k *keys) note(quoted []byte, at int, seen map[string]bool) {
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return
	}
	lower := strings.ToLower(text)
	if _, ok := k.first[lower]; !ok {
		k.first[lower] = at
	}
	if seen[lower] && k.twice == "" {
		k.twice, k.at = text, at
	}
	seen[lower] = true
}
