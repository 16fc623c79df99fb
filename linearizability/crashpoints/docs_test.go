package crashpoints

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
)

// steps are the calls of a purge in the order in which a machine makes them: a
// record that is written counts as one, and each is named once.
func steps(d replica.Design) (out []string) {
	m := play(Options{Design: d}, nil)
	seen := map[string]bool{}
	for _, c := range m.disk.Calls()[:m.ended] {
		name := string(c.Label)
		for _, part := range []string{".create", ".write", ".sync", ".rename", ".dirsync"} {
			if whole := strings.TrimSuffix(name, part); seen[whole] || part == ".create" {
				name = whole
			}
		}
		purge := strings.HasPrefix(name, "purge.")
		if d == replica.Advance {
			purge = name == "checkpoint.record" || name == "segment.reclaim"
		}
		if purge && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// TestDocumentedSteps: docs/purge.md names the calls of a purge as they are made.
func TestDocumentedSteps(t *testing.T) {
	raw, err := os.ReadFile("../../docs/purge.md")
	require.NoError(t, err)
	for _, d := range []replica.Design{replica.Ordered, replica.ResetRecord, replica.Advance} {
		_, section, ok := strings.Cut(string(raw), "\n## "+d.String()+"\n")
		require.True(t, ok, d)
		section, _, _ = strings.Cut(section, "\n## ")
		section, _, _ = strings.Cut(section, "\n### ")
		var shown []string
		for _, row := range regexp.MustCompile("(?m)^\\| `([a-z.-]+)` \\|").FindAllStringSubmatch(section, -1) {
			shown = append(shown, row[1])
		}
		require.Equal(t, steps(d), shown, d)
	}
}

// TestDocumentedVariants: docs/purge.md explains each variant.
func TestDocumentedVariants(t *testing.T) {
	raw, err := os.ReadFile("../../docs/purge.md")
	require.NoError(t, err)
	for _, name := range replica.VariantNames {
		require.Contains(t, string(raw), "\n| `"+name+"` |")
	}
}
