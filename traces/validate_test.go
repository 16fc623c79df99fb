package traces

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

func validate(t testing.TB, list ...*Trace) []Report {
	t.Helper()
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	out, err := Validate(context.Background(), tool, Options{Spec: "../spec", Jobs: 2, Timeout: 2 * time.Minute, Keep: os.Getenv("KEEP")}, list)
	require.NoError(t, err)
	require.Len(t, out, len(list))
	return out
}

func TestLegalTracesAreAccepted(t *testing.T) {
	var list []*Trace
	for seed := range uint64(12) {
		list = append(list, toyTrace(t, seed, 3, 250))
	}
	for _, r := range validate(t, list...) {
		for _, rej := range r.Rejections {
			t.Log(rej.Explain(r.Trace))
		}
		require.Equal(t, tlc.Pass, r.Verdict, "%s: %s", r.Trace, r.Reason)
		require.Equal(t, 4, r.Pieces)
	}
}

// A trace of a disk that lost a write and said nothing is undecided, though TLC would
// accept this one.
func TestSilentDisksAreUndecided(t *testing.T) {
	good := readSample(t, "testdata/accepted/one-replica.ndjson")
	lost := *good
	lost.Name, lost.Header.Silent = "lost.ndjson", []string{"drop-write"}
	out := validate(t, good, &lost)
	require.Equal(t, tlc.Pass, out[0].Verdict, out[0].Reason)
	require.Equal(t, tlc.Undecided, out[1].Verdict)
	require.Equal(t, "not validated: a disk lost a write and said nothing (drop-write), and no specification has such a disk", out[1].Reason)
}
