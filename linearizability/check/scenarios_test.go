package check

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
)

// TestScenarios judges what real brokers did: each file holds a history and
// several ends of it, those observed, which must be rejected, and the expected
// one, which must be accepted.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.Len(t, files, 11)
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		require.NoError(t, err)
		require.Equal(t, "history", a.Files[0].Name)
		rejected := 0
		for _, end := range a.Files[1:] {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+end.Name, func(t *testing.T) {
				text := string(a.Files[0].Data) + string(end.Data)
				events, err := history.Parse(file, strings.NewReader(text))
				require.NoError(t, err)
				ops, err := history.Pair(file, events)
				require.NoError(t, err)
				v, all, err := Check(context.Background(), ops, Options{})
				require.NoError(t, err)
				if end.Name == "expected" {
					require.Equal(t, verdict.Pass, v.Verdict, v.Reason)
					return
				}
				rejected++
				require.Equal(t, verdict.Fail, v.Verdict)
				require.Greater(t, all[0].Line, strings.Count(string(a.Files[0].Data), "\n"), "the fault lies in the end: %s", v.Reason)
				t.Log(v.Reason)
			})
		}
		require.NotZero(t, rejected, file)
	}
}
