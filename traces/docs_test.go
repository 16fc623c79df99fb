package traces

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of actions in docs/traces.md is Rules.
func TestDocumentedActionsAreTheRules(t *testing.T) {
	b, err := os.ReadFile("../docs/traces.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(b), "|---|---|---|---|---|\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, r := range Rules {
		var levels, fields, may []string
		for _, l := range r.Levels {
			levels = append(levels, strings.ToUpper(string(l)[:1]))
		}
		for _, f := range r.Needs {
			fields = append(fields, "`"+f+"`")
		}
		for _, f := range r.May {
			may = append(may, "`"+f+"`")
		}
		if len(may) > 0 {
			fields = append(fields, "("+strings.Join(may, ", ")+")")
		}
		row := fmt.Sprintf("| `%s` | %s | %s | `%s` | `%s` |", r.Action, strings.Join(levels, " "), strings.Join(fields, ", "), r.Spec, r.Code)
		want = append(want, strings.ReplaceAll(row, "|  |", "| |"))
	}
	require.Equal(t, strings.Join(want, "\n"), table)
}

// Every rule names an action that its specification module has.
func TestRulesNameActionsOfTheSpecification(t *testing.T) {
	for _, r := range Rules {
		module, action, ok := strings.Cut(r.Spec, "!")
		require.True(t, ok, r.Spec)
		require.Equal(t, string(r.Action), action)
		text, err := os.ReadFile("../spec/" + module + ".tla")
		require.NoError(t, err)
		require.Regexp(t, regexp.MustCompile(`(?m)^\(\* ACTION `+action+`$`), string(text))
	}
}
