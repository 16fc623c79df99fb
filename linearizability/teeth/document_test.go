package teeth

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocument: docs/defects.md shows a row for every defect, caught in every layer
// that has to catch it.
func TestDocument(t *testing.T) {
	raw, err := os.ReadFile("../../docs/defects.md")
	require.NoError(t, err)
	for _, x := range Table {
		row := regexp.MustCompile(`(?m)^\| ` + x.Name + ` \|.*$`).FindString(string(raw))
		require.NotEmpty(t, row, "docs/defects.md lacks %s: purgelab teeth --out docs/defects.md", x.Name)
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
