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
