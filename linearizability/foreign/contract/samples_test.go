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
// lists all of them, and a right and a wrong one of every contract and format. The folder of a sample names the contract.
func TestSamples(t *testing.T) {
	text, err := os.ReadFile("../../../docs/foreign.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\w+)/([\w.-]+) \| ([\w-]*) ?\| (pass|fail) \|`).FindAllStringSubmatch(string(text), -1)
	listed := map[string]bool{}
	shown := map[sampleKind]bool{}
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
		if row[3] == "" && (row[4] == "pass" || strings.HasPrefix(row[2], "bad")) {
			shown[sampleKind{row[1], formatOf(t, "../testdata/"+name), rep.Total.Verdict}] = true
		}
	}
	for _, c := range Contracts {
		for _, format := range []foreign.Format{foreign.Purgelab, foreign.CSV, foreign.Jepsen} {
			for _, v := range []verdict.Verdict{verdict.Pass, verdict.Fail} {
				want := format != foreign.Jepsen || c.Name == "continue"
				require.Equal(t, want, shown[sampleKind{c.Name, format, v}], "a sample of %s as %s with verdict %s", c.Name, format, v)
			}
		}
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

// sampleKind is what there must be a sample of, without any weaker promise. A good one
// that only a weaker contract takes is no bad one.
type sampleKind struct {
	contract string
	format   foreign.Format
	verdict  verdict.Verdict
}

func formatOf(t *testing.T, name string) foreign.Format {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	format, _ := foreign.Detect(f)
	return format
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
