package traces

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
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

// Where a disk lost a write and said nothing, a trace is accepted if nobody missed it;
// what is not explained may be the disk's doing, so it is undecided.
func TestSilentDisksAreNotBlamedOnReplicas(t *testing.T) {
	missed := readSample(t, "testdata/rejected/purge-begin-dropped.ndjson")
	unmissed := readSample(t, "testdata/accepted/one-replica.ndjson")
	missed.Header.Silent, unmissed.Header.Silent = []string{"drop-write"}, []string{"drop-write"}
	out := validate(t, unmissed, missed)
	require.Equal(t, tlc.Pass, out[0].Verdict, out[0].Reason)
	require.Equal(t, tlc.Undecided, out[1].Verdict)
	require.Contains(t, out[1].Reason, "a disk lost a write and said nothing (drop-write), and line")
	require.Less(t, out[1].Judged, out[1].Steps) // those behind that line are not
}

// What was judged before an interrupt is kept, and the rest is undecided.
func TestInterruptedValidation(t *testing.T) {
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	one := readSample(t, "testdata/accepted/one-replica.ndjson")
	ctx, stop := context.WithCancel(context.Background())
	left := 3 // pieces of a group come first
	out, err := Validate(ctx, tool, Options{Spec: "../spec", Batch: 1, Progress: func(int, int) {
		if left--; left == 0 {
			stop()
		}
	}}, []*Trace{one, one})
	require.NoError(t, err)
	require.Equal(t, 2, out[0].Pieces)
	require.Equal(t, tlc.Pass, out[0].Verdict, out[0].Reason)
	require.Equal(t, tlc.Undecided, out[1].Verdict)
	require.Contains(t, out[1].Reason, "context canceled")
	require.Equal(t, out[0].Steps, out[0].Judged)
	require.Equal(t, out[0].Steps, out[1].Steps)
	require.Positive(t, out[1].Judged) // the group
	require.Less(t, out[1].Judged, out[1].Steps)
}

// The lines of a rejection have in JSON the keys that they have in a trace, and the number.
func TestRejectionInJSON(t *testing.T) {
	text, err := json.Marshal(Rejection{Line: 9, Last: Line{Number: 8, Event: observe.Event{Action: Boot, Replica: 2}}})
	require.NoError(t, err)
	require.Contains(t, string(text), `"last":{"line":8,"t":0,"replica":2,"partition":0,"action":"Boot",`)
	text, err = json.Marshal(Rejection{Line: 2})
	require.NoError(t, err)
	require.NotContains(t, string(text), `"last"`) // nothing was explained before it
}

// Progress goes on part by part, and an interrupt says how far a piece is explained.
func TestInterruptedBetweenParts(t *testing.T) {
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var told []int
	out, err := Validate(ctx, tool, Options{Spec: "../spec", Part: 20, Batch: 1, Progress: func(done, all int) {
		if told = append(told, done); len(told) == 3 {
			stop() // those were parts of the group: a step of it costs most
		}
	}}, []*Trace{readSample(t, "testdata/accepted/one-replica.ndjson")})
	require.NoError(t, err)
	require.Equal(t, []int{20, 40, 60}, told[:3])
	require.Equal(t, tlc.Undecided, out[0].Verdict)
	require.Regexp(t, `partition 0, all replicas: .*context canceled.* \(\d+ of its \d+ steps are explained\)`, out[0].Reason)
	require.Equal(t, out[0].Steps, told[len(told)-1]) // of which nobody has to judge any more
	require.Equal(t, 60, out[0].Judged)
}
