package teeth

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/scenario"
)

// TestDocument: docs/defects.md shows a row for every defect, caught in every layer
// that has to catch it.
func TestDocument(t *testing.T) {
	raw, err := os.ReadFile("../../docs/defects.md")
	require.NoError(t, err)
	own, err := scenario.Own()
	require.NoError(t, err)
	for _, x := range WithScenarios(Table, own) {
		row := regexp.MustCompile(`(?m)^\| ` + x.Name + ` \|.*$`).FindString(string(raw))
		require.NotEmpty(t, row, "docs/defects.md lacks %s: purgelab teeth %s --out docs/defects.md", x.Name, x.Name)
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		require.Len(t, cells, 3+len(Layers), row)
		require.Equal(t, []string{x.Design, x.Property}, cells[1:3], x.Name)
		for k, l := range Layers {
			if x.must(l) {
				require.True(t, strings.HasPrefix(cells[3+k], "caught"), "%s, %s: %s", x.Name, l, cells[3+k])
			} else {
				require.True(t, cells[3+k] == "-" || strings.HasPrefix(cells[3+k], "caught"), "%s, %s: %s", x.Name, l, cells[3+k])
			}
		}
	}
}

// TestDocumentKeepsWhatWasNotAsked: a run of some layers, or of some defects, changes
// what it asked and nothing else; a whole run leaves no row of a defect that is gone.
func TestDocumentKeepsWhatWasNotAsked(t *testing.T) {
	tooth := func(name, design string) Tooth {
		return Tooth{Name: name, Design: design, Property: "P", Must: []Layer{Spec, Boot}}
	}
	matrix := func(runs int, layers []Layer, names ...string) *Matrix {
		m := &Matrix{Layers: layers}
		for _, name := range names {
			r := Row{Tooth: tooth(name, "ordered")}
			for k, l := range Layers {
				r.Cells[k] = start(&r.Tooth, l, layers)
				if r.Cells[k].Outcome == "" {
					r.Cells[k].Runs = runs
					r.Cells[k].red(true, "P", "", "")
				}
			}
			m.Rows = append(m.Rows, r)
		}
		for _, l := range layers {
			m.Controls = append(m.Controls, Control{Of: string(l), Outcome: Holds, Runs: runs})
		}
		return m
	}
	first := matrix(1, Layers, "a", "c").Markdown("", false)
	require.Contains(t, first, "| a | ordered | P | caught: P, 1 run | - | - | caught: P, 1 run | - |\n| c |")
	boot := matrix(2, []Layer{Boot}, "a", "c").Markdown(first, false)
	require.Contains(t, boot, "| a | ordered | P | caught: P, 1 run | - | - | caught: P, 2 runs | - |\n| c |")
	require.Contains(t, boot, "- boot: 2 runs, holds\n")
	require.Contains(t, boot, "- spec: 1 model, holds\n")
	some := matrix(3, Layers, "b").Markdown(boot, true)
	require.Contains(t, some, "caught: P, 2 runs | - |\n| b | ordered | P | caught: P, 3 runs | - | - | caught: P, 3 runs | - |\n| c |")
	require.Contains(t, some, "- boot: 2 runs, holds\n")
	require.NotContains(t, matrix(4, Layers, "a", "b").Markdown(some, false), "| c |")
	older := "| defect | design | breaks | boot |\n| --- | --- | --- | --- |\n| a | ordered | P | caught: P, 1 run |\n"
	require.Contains(t, matrix(5, []Layer{Boot}, "b").Markdown(older, true), "| a | ordered | P | not asked | not asked | not asked | caught: P, 1 run | not asked |\n| b |")
	require.Equal(t, some, matrix(5, nil, "b").Markdown(some, true))
	cut := matrix(6, []Layer{Boot}, "a")
	cut.Rows[0].Cells[3].fail(interrupted + "enough")
	require.Contains(t, cut.Markdown(boot, true), "| a | ordered | P | caught: P, 1 run | - | - | caught: P, 2 runs | - |")
	require.Contains(t, matrix(5, []Layer{Boot}, "d").Markdown(some, true), "| d | ordered | P | not asked | - | - | caught: P, 5 runs | - |")
}
