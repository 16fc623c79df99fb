package history

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPartial: an answer that lacks what one of its kind tells is marked, by both readers, and is
// written as it was; offset 0 is written, so it is no answer that lacks it.
func TestPartial(t *testing.T) {
	for _, x := range []struct {
		f, ask, answer string
		partial        bool
	}{
		{"append", `{"payloads":["a"]}`, `{"position":0}`, false},
		{"append", `{"payloads":["a"]}`, `{"timestamp":1}`, true},
		{"append", `{"payloads":["a"]}`, ``, true},
		{"poll", `{"strategy":"first","max":1}`, `{"position":0}`, false},
		{"poll", `{"strategy":"first","max":1}`, `{"records":[{"p":"a"}]}`, true},
		{"poll", `{"strategy":"first","max":1}`, `{"code":"offset-out-of-range","position":-1,"end":2}`, false},
		{"poll", `{"strategy":"first","max":1}`, `{"code":"offset-out-of-range","position":"i1:g0:-1"}`, false},
		{"poll", `{"strategy":"first","max":1}`, `{"code":"offset-out-of-range"}`, true},
		{"poll", `{"strategy":"first","max":1}`, `{"code":"gone","count":1}`, true},
		{"delete-records", `{"at":-1}`, ``, true},
		{"purge", ``, ``, true},
		{"purge", ``, `{"accepted":true}`, false},
		{"get-bookmark", `{"key":"group-1"}`, ``, true},
		{"get-bookmark", `{"key":"group-1"}`, `{"found":false}`, false},
		{"get-bookmark", `{"key":"group-1"}`, `{"found":true}`, true},
		{"list-offsets", `{"which":"latest"}`, ``, true},
		{"delete-bookmark", `{"key":"group-1"}`, ``, false},
	} {
		value := func(v string) string {
			if v == "" {
				return ""
			}
			return `"value":` + v + `,`
		}
		plain := `{"process":0,"type":"invoke","f":"` + x.f + `",` + value(x.ask) + `"time":1,"partition":0}` + "\n" +
			`{"process":0,"type":"ok","f":"` + x.f + `",` + value(x.answer) + `"time":2,"partition":0}` + "\n"
		for _, text := range []string{plain, strings.ReplaceAll(plain, ":", ": ")} {
			text = strings.ReplaceAll(text, "i1: g0: -1", "i1:g0:-1")
			ops, err := ReadOps("f", strings.NewReader(text))
			require.NoError(t, err, text)
			require.Equal(t, x.partial, ops[0].Partial, text)
			events, err := Parse("f", strings.NewReader(text))
			require.NoError(t, err)
			var b bytes.Buffer
			require.NoError(t, Write(&b, events))
			again, err := ReadOps("f", &b)
			require.NoError(t, err)
			require.Equal(t, ops, again, text)
		}
	}
}
