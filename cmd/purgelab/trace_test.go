package main

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// interruptAt is an output that interrupts the program once it has printed n
// lines.
type interruptAt struct {
	bytes.Buffer
	n    int
	stop context.CancelFunc
}

func (w *interruptAt) Write(p []byte) (int, error) {
	w.Buffer.Write(p)
	if bytes.Count(w.Bytes(), []byte("\n")) >= w.n {
		w.stop()
	}
	return len(p), nil
}

// TestTraceGenerateInterrupted: what was written stays, and the program says how
// much that is.
func TestTraceGenerateInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	out, dir := &interruptAt{n: 2, stop: stop}, t.TempDir()
	var log bytes.Buffer
	code := execute(ctx, []string{"trace", "generate", "--seed", "3", "--ops", "30", "--count", "5", "--out", dir}, out, &log)
	require.Equal(t, exitUndecided, code)
	require.Equal(t, "purgelab: interrupted at seed 5: 2 of 5 traces written to "+dir+"\n", log.String())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Equal(t, "trace-3.ndjson", files[0].Name())
	require.Equal(t, "trace-4.ndjson", files[1].Name())
}

// stopSoon is a context that ends once it was asked n times whether it has.
type stopSoon struct {
	context.Context
	n int
}

func (c *stopSoon) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// TestScenariosInterrupted: those that were played are told, and the program says how
// many that is.
func TestScenariosInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out := &interruptAt{n: 3, stop: stop}
	var log bytes.Buffer
	require.Equal(t, exitUndecided, execute(ctx, []string{"scenario", "--json"}, out, &log))
	require.Equal(t, 3, bytes.Count(out.Bytes(), []byte("\n")))
	require.Contains(t, log.String(), "interrupted after 3 scenarios")

	for n, lines := range []int{0, 2, 3} {
		var table, log bytes.Buffer
		require.Equal(t, exitUndecided, execute(&stopSoon{context.Background(), n}, []string{"scenario", "boundary-chosen-by-each-replica", "s08-old-files-of-the-log-pile-up", "s16-old-leader-shows-what-was-not-committed"}, &table, &log))
		require.Equal(t, lines, bytes.Count(table.Bytes(), []byte("\n")), table.String())
		require.Contains(t, log.String(), "interrupted after")
	}
}
