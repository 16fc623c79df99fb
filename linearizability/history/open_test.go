package history

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func zipped(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zstandard(t *testing.T, text string) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return w.EncodeAll([]byte(text), nil)
}

// TestOpen: packed and plain files give the same text, whatever they are called.
func TestOpen(t *testing.T) {
	for _, text := range []string{"", "x", invoke, string(bytes.Repeat([]byte(invoke), 5000))} {
		for name, content := range map[string][]byte{"plain": []byte(text), "gzip": zipped(t, text), "zstd": zstandard(t, text)} {
			path := filepath.Join(t.TempDir(), "history")
			require.NoError(t, os.WriteFile(path, content, 0o644))
			r, err := Open(path)
			require.NoError(t, err, name)
			got, err := io.ReadAll(r)
			require.NoError(t, err, name)
			require.Equal(t, text, string(got), name)
			require.NoError(t, r.Close(), name)
		}
	}
}

// TestOpenTorn: a packed file that is cut off is an error, not a shorter history.
func TestOpenTorn(t *testing.T) {
	text := string(bytes.Repeat([]byte(invoke), 500))
	for name, content := range map[string][]byte{"gzip": zipped(t, text), "zstd": zstandard(t, text)} {
		path := filepath.Join(t.TempDir(), "history")
		require.NoError(t, os.WriteFile(path, content[:len(content)-9], 0o644))
		r, err := Open(path)
		require.NoError(t, err)
		_, err = Parse(path, r)
		var p *ParseError
		require.ErrorAs(t, err, &p, name)
		require.NoError(t, r.Close())
	}
}
