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
