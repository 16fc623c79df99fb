package history

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlainIsStrict: what is read as plain is what the strict decoder reads, on the
// histories of the repository and on lines that are changed in some bytes; and what
// Write writes is plain.
func TestPlainIsStrict(t *testing.T) {
	files, err := filepath.Glob("../check/testdata/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	lines := [][]byte{
		[]byte(`{"process":-1,"type":"ok","f":"new-incarnation","value":{"position":"i2:g0:-1","end":1,"agreed":"i1:g0:1"},"time":6}`),
		[]byte(`{"process":0,"type":"ok","f":"poll","value":{"position":3,"records":["c",{"p":"d","t":4}]},"time":8}`),
		[]byte(`{"process":0,"type":"ok","f":"purge","value":{"position":"i1:g1:0","accepted":true,"intent":1},"time":4}`),
		[]byte(`{"process":0,"type":"invoke","f":"purge","time":3}`),
		[]byte(`{"process":0,"type":"info","f":"purge","value":{"note":"no answer","again":true},"time":3}`),
		[]byte(`{"process":2,"type":"invoke","f":"delete-records","value":{"at":"i1:g0:-1","expected":"i1:g0:7","session":4,"sequence":9},"time":3,"partition":2}`),
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines = append(lines, bytes.Split(bytes.TrimSpace(text), []byte("\n"))...)
	}
	p := newPlain()
	same := func(line []byte) bool {
		fast, ok := p.parse(line)
		if !ok {
			return false
		}
		want, err := parseStrict(line)
		require.NoError(t, err, "%s", line)
		require.Equal(t, want, fast, "%s", line)
		return true
	}
	for _, line := range lines {
		require.True(t, same(line), "%s", line)
	}
	r := rand.New(rand.NewPCG(1, 1))
	still := 0
	for range 40_000 {
		line := bytes.Clone(lines[r.IntN(len(lines))])
		for range 1 + r.IntN(2) {
			i, j := r.IntN(len(line)), r.IntN(len(line))
			switch r.IntN(4) {
			case 0:
				line[i] = line[j]
			case 1:
				line = append(line[:i], line[i+1:]...)
			case 2:
				line = bytes.Join([][]byte{line[:i], line[min(i, j):max(i, j)], line[i:]}, nil)
			case 3:
				line[i] = []byte(`0123456789-"\{}[]:,. eE`)[r.IntN(23)]
			}
		}
		if same(line) {
			still++
		}
	}
	t.Log(still, "changed lines are plain")
	require.Greater(t, still, 2_000)
}
