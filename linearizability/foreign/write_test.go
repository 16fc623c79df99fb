package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
)

// TestWrittenIsRead: what is written of every sample tells the same when it is read, but
// for the numbers of processes and instants, and lines.
func TestWrittenIsRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.*")
	require.NoError(t, err)
	require.Greater(t, len(files), 30)
	for _, name := range files {
		f, err := os.Open(name)
		require.NoError(t, err)
		format, r := Detect(f)
		ops, err := Read(name, format, r)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		var b bytes.Buffer
		require.NoError(t, Write(&b, ops))
		got, err := Read("written", Purgelab, bufio.NewReader(&b))
		require.NoError(t, err, "%s\n%s", name, b.String())
		require.Equal(t, told(ops), told(got), name)
	}
}

// told is what operations say, in the order of their calls, and which of them were over
// when each began.
func told(ops []Op) (out []any) {
	type one struct {
		op   Op
		over []string
	}
	ops = append([]Op(nil), ops...)
	sortByCall(ops)
	for i := range ops {
		x := one{op: ops[i]}
		for k := range ops {
			if ops[k].Outcome != history.Unknown && ops[k].Return < ops[i].Call {
				x.over = append(x.over, ops[k].F)
			}
		}
		x.op.Process, x.op.Line, x.op.Column, x.op.Call, x.op.Return = 0, 0, 0, 0, 0
		out = append(out, x)
	}
	return out
}

func sortByCall(ops []Op) {
	slices.SortStableFunc(ops, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
}
