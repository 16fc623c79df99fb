package traces

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tables of actions in docs/traces.md are the rules of the designs.
func TestDocumentedActionsAreTheRules(t *testing.T) {
	b, err := os.ReadFile("../docs/traces.md")
	require.NoError(t, err)
	for _, d := range designs {
		_, table, ok := strings.Cut(string(b), "### "+d.name+"\n")
		require.True(t, ok, d.name)
		_, table, ok = strings.Cut(table, "|---|---|---|---|---|\n")
		require.True(t, ok, d.name)
		table, _, _ = strings.Cut(table, "\n\n")
		require.Equal(t, d.table(), table, d.name)
	}
}

// table is the rules of a design as rows, but for those of which it says nothing.
func (d *design) table() string {
	var rows []string
	for _, r := range d.rules {
		if !d.speaksOf(r.Action) {
			continue
		}
		var levels, fields, may []string
		for _, l := range []Level{Local, Group} {
			if r.fields(l) != nil {
				levels = append(levels, strings.ToUpper(string(l)[:1]))
			}
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
		rows = append(rows, strings.ReplaceAll(row, "|  |", "| |"))
	}
	return strings.ReplaceAll(strings.Join(rows, "\n"), "| `` |", "| |")
}

// Every rule names an action that its specification module has, and every judged
// event an action of the trace module of its level.
func TestRulesNameActionsOfTheSpecification(t *testing.T) {
	for _, d := range designs {
		for _, r := range d.rules {
			action := string(r.Action)
			if module, name, ok := strings.Cut(r.Spec, "!"); ok {
				require.Equal(t, action, name)
				text, err := os.ReadFile("../spec/" + module + ".tla")
				require.NoError(t, err)
				require.Regexp(t, regexp.MustCompile(`(?m)^\(\* ACTION `+action+`$`), string(text))
			} else {
				require.Empty(t, r.Spec) // a matter of consensus: the trace module says what it must
			}
			for _, j := range d.judges() {
				if r.fields(j.level) == nil {
					continue
				}
				taken := false
				for _, m := range append([]string{j.root}, j.uses...) {
					text, err := os.ReadFile("tla/" + m + ".tla")
					require.NoError(t, err)
					taken = taken || strings.Contains(string(text), `Takes("`+action+`")`)
				}
				require.True(t, taken, "%s takes no %s", j.root, action)
			}
		}
	}
}
