package history

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRead: whatever the text, what is wrong with it has a place in it, and what
// was read is written, and written the same again.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		invoke, invoke + `{"process":1,"type":"ok","f":"append","value":{"position":"i1:g0:0","timestamp":17},"time":11}`,
		`{"process":1,"type":"invoke","f":"poll","value":{"strategy":"offset","at":5,"max":3},"time":1}`,
		`{"process":-1,"type":"ok","f":"new-incarnation","value":{"position":"i2:g0:-1","end":1,"agreed":"i1:g0:1"},"time":6}`,
		"{\n}", "\t {}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		events, err := Parse("f", bytes.NewReader(text))
		if err != nil {
			var p *ParseError
			require.ErrorAs(t, err, &p)
			lines := strings.Split(string(text), "\n")
			require.LessOrEqual(t, p.Line, len(lines))
			require.LessOrEqual(t, p.Column, len(lines[p.Line-1])+1)
			return
		}
		var b bytes.Buffer
		require.NoError(t, Write(&b, events))
		again, err := Parse("f", bytes.NewReader(b.Bytes()))
		require.NoError(t, err)
		var twice bytes.Buffer
		require.NoError(t, Write(&twice, again))
		require.Equal(t, b.String(), twice.String())
	})
}
