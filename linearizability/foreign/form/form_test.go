package form

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// printed reads all forms of a text and prints them, one a line.
func printed(r *Reader) (string, error) {
	var b strings.Builder
	for {
		v, err := r.Next()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		b.WriteString(v.String() + "\n")
	}
}

func TestEDN(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"{:a 1, :b [nil true \"x\\n\"]}", "{:a 1 :b [nil true \"x\\n\"]}\n"},
		{"[1 2]", "1\n2\n"}, // the file is one vector
		{"([1 2] #{:x})", "[1 2]\n#{:x}\n"},
		{"1 [2]", "1\n[2]\n"},
		{"; comment\n:a/b #_ {:c 1} d ;end", ":a/b\nd\n"},
		{"#jepsen.history.Op{:index 0}", "{:index 0}\n"},
		{`#inst "2020" \a \newline \u0041 \)`, "\"2020\"\na\n\n\nA\n)\n"},
		{"12N -3.5e4 1/2 +7 2M ##NaN -", "12\n-3.5e4\n1/2\n7\n2\n##NaN\n-\n"},
		{"\"two\nlines\"", "\"two\\nlines\"\n"},
		{"", ""},
	} {
		got, err := printed(NewEDN(strings.NewReader(x.text)))
		require.NoError(t, err, x.text)
		require.Equal(t, x.want, got, x.text)
	}
}

func TestJSON(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{`{"a":[1,-2.5e3,null,true],"b":{}}` + "\n" + `{"c":"é\/\"\u0041"}`, "{\"a\" [1 -2.5e3 nil true] \"b\" {}}\n{\"c\" \"é/\\\"A\"}\n"},
		{`[{"a":1}, 2]`, "{\"a\" 1}\n2\n"},
		{`[]`, ""},
	} {
		got, err := printed(NewJSON(strings.NewReader(x.text)))
		require.NoError(t, err, x.text)
		require.Equal(t, x.want, got, x.text)
	}
}

// TestErrorsNameThePlace: every refusal names line and column.
func TestErrorsNameThePlace(t *testing.T) {
	deep := strings.Repeat("[", 200)
	for _, x := range []struct {
		json       bool
		text, want string
	}{
		{false, "{:a 1\n :b}", "1:1: want a value for every key of the map, got 3 forms"},
		{false, "{:a 1\n :a 2}", "2:2: want every key once, got :a twice"},
		{false, "{:a (1]}", `1:7: want a value, got "]"`},
		{false, "{:a [1", "1:7: it ends before the value does"},
		{false, "\n \"abc", "2:2: want the end of the string that begins here, got none"},
		{false, "1x", `1:1: want a number, a keyword or a name, got "1x"`},
		{false, "-3x", `1:1: want a number, a keyword or a name, got "-3x"`},
		{false, "::a", `1:1: want a number, a keyword or a name, got "::a"`},
		{false, "#", "1:2: it ends before the value does"},
		{false, `\abc`, `1:1: want one character after \, got "abc"`},
		{false, "[1 2] 3", "1:7: want nothing after the end of the sequence, got more"},
		{false, deep, "1:102: want values that nest at most 100 deep, got more"},
		{false, strings.Repeat("#_", 200), "1:203: want values that nest at most 100 deep, got more"},
		{true, `{"a" 1}`, `1:6: want ':', got '1'`},
		{true, `{"a":1 "b":2}`, `1:8: want ',', got '"'`},
		{true, `{"a":1,}`, `1:8: want the name of a field in quotes, got '}'`},
		{true, `{"a":01}`, `1:6: want a JSON value, got "01"`},
		{true, `{a:1}`, `1:2: want the name of a field in quotes, got 'a'`},
		{true, "{\"a\":1,\n\"a\":2}", `2:1: want every key once, got "a" twice`},
		{true, `"\x"`, `1:1: invalid character 'x' in string escape code`},
		{true, `[1 2]`, `1:4: want ',', got '2'`},
		{true, `(1)`, `1:1: want a JSON value, got "("`},
	} {
		r := NewEDN(strings.NewReader(x.text))
		if x.json {
			r = NewJSON(strings.NewReader(x.text))
		}
		_, err := printed(r)
		require.EqualError(t, err, x.want, x.text)
		var e *Error
		require.ErrorAs(t, err, &e)
	}
}

// TestReadError: a stream that fails is no end of the file.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	_, err := printed(NewEDN(io.MultiReader(strings.NewReader("{:a 1}\n{:b"), failing{broken})))
	require.ErrorIs(t, err, broken)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzForm: whatever the text, every error has a place in it, and what was read
// is read again from what is printed.
func FuzzForm(f *testing.F) {
	for _, s := range []string{`{:process 0, :type :ok, :f :send, :value [[:send 5 [12 3]]]}`, `#j{:a "\n"}`, "[1 #_2 3]", `{"a":[1,2.5,"x"]}`, `\space ##Inf 1/2N`} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, json bool) {
		r := NewEDN(strings.NewReader(string(text)))
		if json {
			r = NewJSON(strings.NewReader(string(text)))
		}
		lines := 1 + strings.Count(string(text), "\n")
		for {
			v, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				var e *Error
				require.ErrorAs(t, err, &e)
				require.LessOrEqual(t, e.Line, lines)
				require.Positive(t, e.Column)
				return
			}
			require.LessOrEqual(t, v.Line, lines)
			_ = v.String()
		}
	})
}
