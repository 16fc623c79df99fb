package replay

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	put := func(title, table string) {
		before, rest, ok := strings.Cut(text, "### "+title+"\n\n")
		require.True(t, ok, title)
		end := strings.Index(rest, "#")
		require.Positive(t, end+1, title)
		text = before + "### " + title + "\n\n" + table + "\n" + rest[end:]
	}
	for _, d := range Table {
		put(d.Name, markdown(d.Rows))
	}
	for _, d := range Groups {
		put(d.Name+", a group", markdown(plain(d.Rows)))
	}
	var out strings.Builder
	out.WriteString("| module | action | why it is not taken |\n|---|---|---|\n")
	for _, x := range untakenActions {
		action := "all"
		if x.action != "" {
			action = "`" + x.action + "`"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", x.module, action, x.why)
	}
	put("Actions that are not taken", out.String())
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		return
	}
	require.Equal(t, text, string(b), "go test ./traces/replay -run TestDocumentedTables -update")
}

func markdown(rows []Row) string {
	out := "| action | the driver | code | note |\n|---|---|---|---|\n"
	for _, r := range rows {
		out += fmt.Sprintf("| `%s` | %s | `%s` | %s |\n", r.Action, r.Call, r.Code, r.Note)
	}
	return strings.ReplaceAll(out, "|  |", "| |")
}

// replayed are the modules whose actions replicas are led through, with the tables.
var replayed = map[string][]Row{
	"Ordered": orderedRows, "Transfer": orderedRows, "Advance": advanceRows, "ResetRecord": resetRows, "TransferReset": resetRows,
	"OrderedGroup": plain(logGroupRows), "TransferGroup": plain(moveGroupRows), "ResetRecordGroup": plain(resetGroupRows), "TransferResetGroup": plain(moveResetRows),
	"AgreedLog": plain(agreedRows),
}

func plain(rows []GroupRow) (out []Row) {
	for _, r := range rows {
		out = append(out, r.Row)
	}
	return out
}

// untakenActions are those through which no replica is led; without an action all of a
// module.
var untakenActions = []struct{ module, action, why string }{
	{"Partition", "", "a contract, not a replica: `model` is compared with it, transition by transition"},
	{"ResetRecord", "DropFloor", "in a Boot that follows a BeginSequence, before anything is read"},
	{"ResetRecord", "RecordNotSynced", "it stops a replica, but one of the variant retry-sync, and no counterexample of that has it"},
	{"ResetRecord", "Refuse", "who has come to lead leads on"},
	{"ResetRecordGroup", "BeginSequence", "all replicas lose their journals"},
}

var header = regexp.MustCompile(`(?m)^\(\* ACTION (\w+)`)

// Every action of the specification is taken by a table, or there is a reason why it is not.
func TestEveryActionHasItsPlace(t *testing.T) {
	files, err := filepath.Glob(specDir + "/*.tla")
	require.NoError(t, err)
	has := map[string]bool{} // module, or module and action
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		module := strings.TrimSuffix(filepath.Base(file), ".tla")
		for _, m := range header.FindAllStringSubmatch(string(text), -1) {
			action := m[1]
			has[module], has[module+" "+action] = true, true
			taken := slices.ContainsFunc(replayed[module], func(r Row) bool { return string(r.Action) == action })
			reasons := 0
			for _, x := range untakenActions {
				if x.module == module && (x.action == "" || x.action == action) {
					reasons++
				}
			}
			require.True(t, taken && reasons == 0 || !taken && reasons == 1, "%s: %s: taken: %v, reasons why not: %d", module, action, taken, reasons)
		}
	}
	for _, x := range untakenActions {
		require.True(t, has[strings.TrimSpace(x.module+" "+x.action)], "%s %s: no such action", x.module, x.action)
	}
	require.True(t, has["Ordered PurgeBegin"] && has["OrderedGroup Commit"])
}
