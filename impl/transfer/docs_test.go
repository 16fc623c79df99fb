package transfer

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
)

// documented is a disk call as docs/transfer.md shows it: a record, which is several
// calls, by its name.
func documented(label vfs.Label) string {
	parts := strings.Split(strings.TrimSuffix(string(label), "-sync"), ".")
	if len(parts) > 2 && parts[1] != "chunk" {
		parts = parts[:2]
	}
	return strings.Join(parts, ".")
}

// TestDocumentedSteps: docs/transfer.md names every disk call of an install, in the
// order in which they are made, file by file. The record of the install is that of
// the replica, with a name of its own.
func TestDocumentedSteps(t *testing.T) {
	raw, err := os.ReadFile("../../docs/transfer.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(raw), "| disk calls | action |")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	each(t, func(t *testing.T, l layout) {
		from := source(t, l, 0)
		s, m := offered(t, from, SenderOptions{})
		x := newMachine(t, l, older, s, m, shown(t, from), 0)
		x.disk.LogCalls(true)
		require.NoError(t, x.life(t))
		step, seen := 0, map[string]bool{}
		for _, c := range x.disk.Calls() {
			name := documented(c.Label)
			if !strings.HasPrefix(name, "transfer.") || name == "transfer.commit" || seen[name] {
				continue
			}
			seen[name] = true
			at := strings.Index(table, "`"+name+"`")
			require.GreaterOrEqual(t, at, 0, "docs/transfer.md lacks %s", name)
			row := strings.Count(table[:at], "\n")
			require.GreaterOrEqual(t, row, step, "docs/transfer.md has %s before what precedes it", name)
			step = row
		}
		require.Greater(t, len(seen), 8)
	})
}
