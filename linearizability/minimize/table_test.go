package minimize

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/teeth"
	"purgelab/linearizability/verdict"
)

func tooth(t testing.TB, name string) teeth.Tooth {
	list, err := teeth.Select(teeth.Table, []string{name})
	require.NoError(t, err)
	return list[0]
}

func rowsIn(t testing.TB, dir string) *Rows {
	made, err := OpenRows(dir)
	require.NoError(t, err)
	return made
}

func TestRowOfADefect(t *testing.T) {
	dir := t.TempDir()
	row := Defect(context.Background(), tooth(t, "end-from-records"), 0, t.TempDir(), rowsIn(t, dir))
	require.True(t, row.Small(), "%+v", row)
	require.True(t, row.Scenario)
	require.Equal(t, []Row{row}, Read(Markdown([]Row{row})))

	// It is not made again, and others are not taken for it.
	ctx, stop := context.WithCancel(context.Background())
	stop()
	require.Equal(t, row, Defect(ctx, tooth(t, "end-from-records"), 0, t.TempDir(), rowsIn(t, dir)))
	require.True(t, Defect(ctx, tooth(t, "two-outstanding"), 0, t.TempDir(), rowsIn(t, dir)).Interrupted)
}

func TestRowsOfAnotherRevision(t *testing.T) {
	dir := t.TempDir()
	made := rowsIn(t, dir)
	require.NoError(t, made.put(Row{Defect: "stale-read", Ops: 3}))
	name := filepath.Join(dir, madeFile)
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, append(whole, `{"defect":"read-mo`...), 0o644))
	made = rowsIn(t, dir)
	require.True(t, made.Has("stale-read"))
	require.False(t, made.Has("read-mo"), "it was not written to its end")

	require.NoError(t, os.WriteFile(name, []byte("revision 1\n"), 0o644))
	_, err = OpenRows(dir)
	require.ErrorContains(t, err, `got "revision 1"`)
	require.NoError(t, made.Done())
	require.NoDirExists(t, dir)
}

func TestNineInTenMustBeSmall(t *testing.T) {
	rows := make([]Row, 10)
	require.Equal(t, verdict.Pass, Verdict(rows))
	rows[3].Ops = GoalOps + 1
	require.Equal(t, verdict.Pass, Verdict(rows))
	rows[4].Trouble = "no run of 2000 shows it"
	require.Equal(t, verdict.Fail, Verdict(rows))
}

func TestTableKeepsWhatWasNotAsked(t *testing.T) {
	old := []Row{
		{Defect: "read-moved", Design: "advance", Property: "Linearizable", FromOps: 300, Ops: 3, FromFaults: 10, Runs: 200},
		{Defect: "ack-carried", Design: "ordered", Property: "AckDurable", Trouble: "no run of 2000 shows it"},
	}
	text := Markdown(Merge(nil, old))
	require.Equal(t, []Row{old[1], old[0]}, Read(text))
	now := Row{Defect: "stale-read", Design: "ordered", Property: "NoHiddenFresh", FromOps: 300, Ops: 3, FromFaults: 22, Faults: 1, Runs: 7, Scenario: true, Replay: "purgelab run --seed 9 --defect stale-read"}
	require.Equal(t, []Row{old[1], now, old[0]}, Merge(Read(text), []Row{now}))
	require.Contains(t, Markdown(Merge(Read(text), []Row{now})), "2 of 3 defects: at most 10 operations and 2 faults; 1 can be told as a scenario.")
}

// The page holds what the program found, and that is good enough.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/minimize.md")
	require.NoError(t, err)
	rows := Read(string(text))
	require.Greater(t, len(rows), 50)
	require.Equal(t, verdict.Pass, Verdict(rows))
	require.Contains(t, string(text), Markdown(rows))
}
