package strictjson

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type inner struct {
	At   int64   `json:"at"`
	Kind string  `json:"kind"`
	Who  []int   `json:"who"`
	Loss float64 `json:"loss"`
	Call uint8   `json:"call"`
	On   *bool   `json:"on"`
}

type outer struct {
	List []inner `json:"list"`
	One  inner   `json:"one"`
}

func TestDecode(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{`{"list": [{"at": 1}, {"at": 2}], "one": {"at": 3}}`, ""},
		{`{"one": {"kind": "a \" b { , \"at\": 1"}}` + "\n\n", ""},
		{"{\n \"one\": {\"at\": 1,\n  \"at\": 2}}", `line 3: field "at" is given twice`},
		{"{\n \"one\": {\"at\": 1,\n  \"At\": 2}}", `line 3: field "At" is given twice`},
		{"{\n \"one\": {\"at\": 1,\n  \"\\u0061t\": 2}}", `line 3: field "at" is given twice`},
		{"{\"list\": [],\n\"one\": {},\n\"list\": []}", `line 3: field "list" is given twice`},
		{"{\"list\": [{\"at\": 1,\n\"for\": 2},\n{}]}", `line 2: unknown field "for"`},
		{"{\"list\": [\n{\"at\": 1.5}\n]}", "line 2: list.at: want a whole number, got number 1.5"},
		{"{\"list\": [\n{\"call\": -1}\n]}", "line 2: list.call: want a whole number from 0 to 255, got number -1"},
		{`{"one": {"kind": 3}}`, "line 1: one.kind: want a string, got number"},
		{`{"one": {"who": 3}}`, "line 1: one.who: want an array, got number"},
		{`{"one": {"loss": "x"}}`, "line 1: one.loss: want a number, got string"},
		{`{"one": {"on": 1}}`, "line 1: one.on: want true or false, got number"},
		{`{"one": []}`, "line 1: one: want an object, got array"},
		{`[]`, "line 1: value: want an object, got array"},
		{"{}\n{}", "line 2: want one JSON value, got more after it: {}"},
		{"{\n\"one\": {,}}", "line 2: invalid character ',' looking for beginning of object key string"},
		{"{\n\"one\": {", "line 2: it ends before the JSON value does"},
		{"", "line 1: it ends before the JSON value does"},
	} {
		var v outer
		err := Decode([]byte(x.text), &v)
		if x.want == "" {
			require.NoError(t, err, x.text)
			continue
		}
		require.EqualError(t, err, x.want, x.text)
	}
}

func TestDecodeOwn(t *testing.T) {
	var v outer
	require.NoError(t, DecodeOwn([]byte(`{"one": {"at": 4, "new": [1]}}`), &v))
	require.EqualValues(t, 4, v.One.At)
	require.EqualError(t, DecodeOwn([]byte("{\"one\":\n{\"at\": \"x\"}}"), &v), "line 2: one.at: want a whole number, got string")
	require.EqualError(t, DecodeOwn([]byte("{\"one\":\n{\"at\": 1"), &v), "line 2: it ends before the JSON value does")
}

// TestWritten: what encoding/json writes is read.
func TestWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := outer{One: inner{Kind: rapid.String().Draw(t, "kind"), At: rapid.Int64().Draw(t, "at")}}
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			in.List = append(in.List, inner{Kind: rapid.String().Draw(t, "kind"), Call: rapid.Uint8().Draw(t, "call")})
		}
		text, err := json.Marshal(in)
		require.NoError(t, err)
		var out outer
		require.NoError(t, Decode(text, &out))
		require.Equal(t, in, out)
	})
}
