package form

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds how deep values nest: histories need five or so.
const maxDepth = 100

// Reader reads forms from a stream. After an error it must not be used again.
type Reader struct {
	in           *bufio.Reader
	json         bool
	line, column int // of the next byte
	depth        int
	open         bool // the file is one sequence, and Next is inside of it
	first        bool // Next was not called yet
}

// NewEDN reads EDN.
func NewEDN(r io.Reader) *Reader { return newReader(r, false) }

// NewJSON reads JSON: values one after the other.
func NewJSON(r io.Reader) *Reader { return newReader(r, true) }

func newReader(r io.Reader, json bool) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), json: json, line: 1, column: 1, first: true}
}

// Next reads one form; at the end the error is io.EOF. If the whole file is one
// vector, list or array, its elements come one by one, so that a history need
// not be held as a tree. Every other error is an *Error.
func (r *Reader) Next() (Value, error) {
	if r.open {
		return r.element(false)
	}
	c, err := r.skip()
	if err != nil {
		return Value{}, err
	}
	if first := r.first; first && (c == '[' || c == '(' && !r.json) {
		r.take()
		r.first, r.open = false, true
		return r.element(true)
	}
	r.first = false
	return r.value()
}

// element reads the next element of the sequence that the file is.
func (r *Reader) element(first bool) (Value, error) {
	c, err := r.skip()
	if err != nil {
		return Value{}, r.torn(err)
	}
	if c == ']' || c == ')' && !r.json {
		r.take()
		r.open = false
		if _, err := r.skip(); err != io.EOF {
			return Value{}, r.errorf("want nothing after the end of the sequence, got more")
		}
		return Value{}, io.EOF
	}
	if r.json && !first {
		if err := r.want(','); err != nil {
			return Value{}, err
		}
		if _, err := r.skip(); err != nil {
			return Value{}, r.torn(err)
		}
	}
	return r.value()
}

func (r *Reader) errorf(format string, args ...any) error {
	return &Error{r.line, r.column, fmt.Errorf(format, args...)}
}

// torn is the error where more was wanted and the stream had none.
func (r *Reader) torn(err error) error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.Is(err, io.EOF):
		return r.errorf("it ends before the value does")
	}
	return r.errorf("%w", err)
}

// peek is the next byte.
func (r *Reader) peek() (byte, error) {
	b, err := r.in.Peek(1)
	if len(b) == 0 {
		return 0, err
	}
	return b[0], nil
}

// take consumes a byte that was peeked.
func (r *Reader) take() {
	c, err := r.in.ReadByte()
	if err != nil {
		return
	}
	if r.column++; c == '\n' {
		r.line, r.column = r.line+1, 1
	}
}

func (r *Reader) want(c byte) error {
	got, err := r.skip()
	if err != nil {
		return r.torn(err)
	}
	if got != c {
		return r.errorf("want %q, got %q", c, got)
	}
	r.take()
	return nil
}

// skip passes over what stands between values and tells the next byte; at the
// end the error is io.EOF.
func (r *Reader) skip() (byte, error) {
	for {
		c, err := r.peek()
		if err == io.EOF {
			return 0, err
		}
		if err != nil {
			return 0, r.errorf("%w", err)
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r', !r.json && (c == ',' || c == '\f'):
			r.take()
		case !r.json && c == ';':
			for c != '\n' {
				r.take()
				if c, err = r.peek(); err != nil {
					break
				}
			}
		case !r.json && c == '#':
			b, _ := r.in.Peek(2)
			if len(b) < 2 || b[1] != '_' {
				return c, nil
			}
			r.take()
			r.take()
			if err := r.leaveOut(); err != nil {
				return 0, err
			}
		default:
			return c, nil
		}
	}
}

// leaveOut reads what comes after #_.
func (r *Reader) leaveOut() error {
	if r.depth++; r.depth > maxDepth {
		return r.errorf("want values that nest at most %d deep, got more", maxDepth)
	}
	defer func() { r.depth-- }()
	if _, err := r.skip(); err != nil {
		return r.torn(err)
	}
	_, err := r.value()
	return err
}

// value reads the value whose first byte is next.
func (r *Reader) value() (Value, error) {
	if r.depth++; r.depth > maxDepth {
		return Value{}, r.errorf("want values that nest at most %d deep, got more", maxDepth)
	}
	defer func() { r.depth-- }()
	c, err := r.peek()
	if err != nil {
		return Value{}, r.torn(err)
	}
	v := Value{Line: r.line, Column: r.column}
	switch {
	case c == '"':
		v.Kind = String
		v.Text, err = r.quoted()
	case c == '[', c == '(' && !r.json:
		v.Kind = Seq
		v.Items, err = r.items(closing(c))
	case c == '{':
		v.Kind = Map
		if r.json {
			v.Items, err = r.object()
		} else if v.Items, err = r.items('}'); err == nil && len(v.Items)%2 != 0 {
			err = v.Errorf("want a value for every key of the map, got %d forms", len(v.Items))
		}
		if err == nil {
			err = v.distinct()
		}
	case r.json:
		return r.literal(v)
	case c == '#':
		return r.dispatch(v)
	case c == '\\':
		return r.char(v)
	default:
		return r.atom(v)
	}
	return v, err
}

func closing(c byte) byte {
	if c == '(' {
		return ')'
	}
	return ']'
}

// items reads up to the closing byte. In JSON commas stand between them.
func (r *Reader) items(end byte) ([]Value, error) {
	r.take()
	var out []Value
	for {
		c, err := r.skip()
		if err != nil {
			return nil, r.torn(err)
		}
		if c == end {
			if r.take(); len(out) == 0 {
				return []Value{}, nil
			}
			return out, nil
		}
		if r.json && len(out) > 0 {
			if err := r.want(','); err != nil {
				return nil, err
			}
			if _, err := r.skip(); err != nil {
				return nil, r.torn(err)
			}
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

// object reads the fields of a JSON object.
func (r *Reader) object() ([]Value, error) {
	r.take()
	var out []Value
	for {
		c, err := r.skip()
		if err != nil {
			return nil, r.torn(err)
		}
		if c == '}' {
			r.take()
			return out, nil
		}
		if len(out) > 0 {
			if err := r.want(','); err != nil {
				return nil, err
			}
			if c, err = r.skip(); err != nil {
				return nil, r.torn(err)
			}
		}
		if c != '"' {
			return nil, r.errorf("want the name of a field in quotes, got %q", c)
		}
		key, err := r.value()
		if err != nil {
			return nil, err
		}
		if err := r.want(':'); err != nil {
			return nil, err
		}
		if _, err := r.skip(); err != nil {
			return nil, r.torn(err)
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		out = append(out, key, v)
	}
}

// distinct refuses a map that names a key twice.
func (v *Value) distinct() error {
	type name struct {
		kind Kind
		text string
	}
	seen := make(map[name]bool, len(v.Items)/2)
	for i := 0; i < len(v.Items); i += 2 {
		k := &v.Items[i]
		n := name{k.Kind, k.Text}
		if seen[n] && len(k.Items) == 0 {
			return k.Errorf("want every key once, got %s twice", k)
		}
		seen[n] = true
	}
	return nil
}

// word reads up to what cannot be part of a name or a number.
func (r *Reader) word() string {
	var b strings.Builder
	for {
		c, err := r.peek()
		if err != nil || strings.IndexByte(" \t\n\r\f,;\"()[]{}", c) >= 0 || r.json && c == ':' {
			return b.String()
		}
		b.WriteByte(c)
		r.take()
	}
}
