package contract

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/verdict"
)

// TestSamples: the samples have the verdicts that docs/foreign.md lists, and it
// lists all of them. The folder of a sample names the contract.
func TestSamples(t *testing.T) {
	text, err := os.ReadFile("../../../docs/foreign.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\w+)/([\w.-]+) \| ([\w-]*) ?\| (pass|fail) \|`).FindAllStringSubmatch(string(text), -1)
	listed := map[string]bool{}
	for _, row := range rows {
		name := row[1] + "/" + row[2]
		c, err := Find(row[1])
		require.NoError(t, err)
		c, err = c.Weaken(strings.Fields(row[3]))
		require.NoError(t, err)
		h, err := c.Read("../testdata/"+name, foreign.Auto)
		require.NoError(t, err)
		rep, err := c.Judge(context.Background(), h, Options{})
		require.NoError(t, err)
		require.Equal(t, row[4], rep.Total.Verdict.String(), "%s, allowed %s: %s", name, row[3], rep.Total.Reason)
		listed[name] = true
	}
	files, err := filepath.Glob("../testdata/*/*")
	require.NoError(t, err)
	for _, f := range files {
		name := filepath.Base(filepath.Dir(f)) + "/" + filepath.Base(f)
		if filepath.Base(filepath.Dir(f)) != "fuzz" {
			require.True(t, listed[name], "docs/foreign.md does not list %s", name)
		}
	}
}

// TestDocumentedContracts: docs/foreign.md names every contract with its weaker
// promises.
func TestDocumentedContracts(t *testing.T) {
	text, err := os.ReadFile("../../../docs/foreign.md")
	require.NoError(t, err)
	for _, c := range Contracts {
		var names []string
		for _, o := range c.Options {
			names = append(names, "`"+o.Name+"`")
			require.Contains(t, string(text), "\n| `"+o.Name+"` |")
		}
		require.Regexp(t, "(?m)^\\| `"+c.Name+"` \\|.*\\| "+strings.Join(names, " ")+" \\|$", string(text))
	}
}

// TestDocumentedTable: the table that docs/foreign.md shows is a right history.
func TestDocumentedTable(t *testing.T) {
	text, err := os.ReadFile("../../../docs/foreign.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```csv\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, block)
	name := filepath.Join(t.TempDir(), "table.csv")
	require.NoError(t, os.WriteFile(name, block[1], 0o644))
	c, err := Find("nats")
	require.NoError(t, err)
	h, err := c.Read(name, foreign.Auto)
	require.NoError(t, err)
	rep, err := c.Judge(context.Background(), h, Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Pass, rep.Total.Verdict, rep.Total.Reason)
}

// FuzzJudge: whatever a file holds, it is refused as bad input, or judged.
func FuzzJudge(f *testing.F) {
	files, err := filepath.Glob("../testdata/*/*.*")
	require.NoError(f, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		for i := range Contracts {
			f.Add(text, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		name := filepath.Join(t.TempDir(), "history")
		require.NoError(t, os.WriteFile(name, text, 0o644))
		c := Contracts[int(n)%len(Contracts)]
		h, err := c.Read(name, foreign.Auto)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		_, err = c.Judge(ctx, h, Options{})
		require.Less(t, time.Since(began), 20*time.Second, "the end of a context ends a judgement")
		if err != nil {
			var e *foreign.Error
			require.ErrorAs(t, err, &e)
		}
	})
}
