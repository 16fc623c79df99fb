package replay

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the tables into docs/replay.md")

// The tables in docs/replay.md are those by which actions are taken.
func TestDocumentedTables(t *testing.T) {
	const file = "../../docs/replay.md"
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(b)
	for _, d := range Table {
		before, rest, ok := strings.Cut(text, "### "+d.Name+"\n\n")
		require.True(t, ok, d.Name)
		end := strings.Index(rest, "#")
		require.Positive(t, end+1, d.Name)
		text = before + "### " + d.Name + "\n\n" + d.markdown() + "\n" + rest[end:]
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		return
	}
	require.Equal(t, text, string(b), "go test ./traces/replay -run TestDocumentedTables -update")
}

func (d *Design) markdown() string {
	out := "| action | the driver | code | note |\n|---|---|---|---|\n"
	for _, r := range d.Rows {
		out += fmt.Sprintf("| `%s` | %s | `%s` | %s |\n", r.Action, r.Call, r.Code, r.Note)
	}
	return strings.ReplaceAll(out, "|  |", "| |")
}
