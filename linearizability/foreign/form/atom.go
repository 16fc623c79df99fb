package form

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number is a number of EDN, as Clojure prints it: ratios too.
var number = regexp.MustCompile(`^[+-]?[0-9]+(N|/[0-9]+|(\.[0-9]*)?([eE][+-]?[0-9]+)?M?)$`)

// symbol is a name, perhaps with a namespace.
var symbol = regexp.MustCompile(`^[^0-9:#'\x60~^@\\][^'\x60~^@\\]*$`)

// literal reads what JSON has besides strings, arrays and objects.
func (r *Reader) literal(v Value) (Value, error) {
	v.Text = r.word()
	switch {
	case v.Text == "null":
		v.Kind = Nil
	case v.Text == "true" || v.Text == "false":
		v.Kind = Bool
	case v.Text != "" && strings.IndexByte("-0123456789", v.Text[0]) >= 0 && json.Valid([]byte(v.Text)):
		v.Kind = Number
	default:
		return v, v.Errorf("want a JSON value, got %s", r.shown(v.Text))
	}
	return v, nil
}

// shown is a word for a message, or the byte that stands where one was wanted.
func (r *Reader) shown(word string) string {
	if word == "" {
		c, _ := r.peek()
		word = string(rune(c))
	}
	if len(word) > 30 {
		word = word[:30] + "..."
	}
	return strconv.Quote(word)
}

// atom reads a number, a keyword, a symbol, nil, true or false.
func (r *Reader) atom(v Value) (Value, error) {
	v.Text = r.word()
	name, keyword := strings.CutPrefix(v.Text, ":")
	switch {
	case v.Text == "":
		return v, v.Errorf("want a value, got %s", r.shown(""))
	case v.Text == "nil":
		v.Kind, v.Text = Nil, ""
	case v.Text == "true" || v.Text == "false":
		v.Kind = Bool
	case number.MatchString(v.Text):
		v.Kind = Number
		v.Text = strings.TrimRight(strings.TrimPrefix(v.Text, "+"), "NM")
	case keyword && name != "" && !strings.HasPrefix(name, ":"):
		v.Kind, v.Text = Keyword, name
	case symbol.MatchString(v.Text) && !startsNumber(v.Text):
		v.Kind = Symbol
	default:
		return v, v.Errorf("want a number, a keyword or a name, got %s", r.shown(v.Text))
	}
	return v, nil
}

// startsNumber tells a damaged number from a name such as + or -x.
func startsNumber(s string) bool {
	return len(s) > 1 && (s[0] == '-' || s[0] == '+') && s[1] >= '0' && s[1] <= '9'
}

// dispatch reads a set, a tagged value or ##NaN.
func (r *Reader) dispatch(v Value) (Value, error) {
	r.take()
	c, err := r.peek()
	switch {
	case err != nil:
		return v, r.torn(err)
	case c == '{':
		v.Kind = Set
		v.Items, err = r.items('}')
		return v, err
	case c == '#':
		r.take()
		v.Kind, v.Text = Number, "##"+r.word()
		if v.Text != "##NaN" && v.Text != "##Inf" && v.Text != "##-Inf" {
			return v, v.Errorf("want ##NaN, ##Inf or ##-Inf, got %s", r.shown(v.Text))
		}
		return v, nil
	}
	if tag := r.word(); !symbol.MatchString(tag) {
		return v, v.Errorf("want the tag of a value after #, got %s", r.shown(tag))
	}
	if _, err := r.skip(); err != nil {
		return v, r.torn(err)
	}
	return r.value()
}

// char reads a character such as \a, \newline or \u0041.
func (r *Reader) char(v Value) (Value, error) {
	r.take()
	v.Kind = Char
	c, err := r.peek()
	if err != nil {
		return v, r.torn(err)
	}
	if v.Text = r.word(); v.Text == "" { // a character that ends words
		v.Text = string(rune(c))
		r.take()
		return v, nil
	}
	if named, ok := map[string]string{"newline": "\n", "space": " ", "tab": "\t", "return": "\r"}[v.Text]; ok {
		v.Text = named
	} else if code, err := strconv.ParseUint(strings.TrimPrefix(v.Text, "u"), 16, 16); err == nil && len(v.Text) == 5 && v.Text[0] == 'u' {
		v.Text = string(rune(code))
	} else if utf8.RuneCountInString(v.Text) != 1 {
		return v, v.Errorf(`want one character after \, got %s`, r.shown(v.Text))
	}
	return v, nil
}

// quoted reads a string. JSON's own reader says what its escapes mean; EDN's are
// among them.
func (r *Reader) quoted() (string, error) {
	line, column := r.line, r.column
	bad := func(format string, args ...any) error {
		v := Value{Line: line, Column: column}
		return v.Errorf(format, args...)
	}
	var b []byte
	for escaped := false; ; {
		c, err := r.peek()
		if err != nil {
			return "", bad("want the end of the string that begins here, got none")
		}
		r.take()
		if !r.json && c < ' ' { // EDN lets a string go over lines
			b = append(b, []byte("\\u00"+string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15]))...)
			continue
		}
		b = append(b, c)
		if c == '"' && !escaped && len(b) > 1 {
			break
		}
		escaped = c == '\\' && !escaped
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return "", bad("%s", err)
	}
	return text, nil
}
