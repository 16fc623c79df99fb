package traces

import (
	"cmp"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
)

// under are actions of the specification that trace modules take under another name:
// with the home that is opened, with what was left, or folded.
var under = map[observe.Action]string{
	Boot: "Boot|OpenHome", ProcessCrash: "ProcessCrash|Crash", PowerLoss: "PowerLoss|PowerLossLeaving",
	Materialize: "Materialize|Apply", Filtered: "Filtered|Apply", ResetRecord: "ResetRecord|PurgeLocally",
}

// A trace module takes the action of the specification that an event names, but for
// those that are listed.
func TestTraceModulesTakeTheActions(t *testing.T) {
	for _, d := range designs {
		for _, j := range d.judges() {
			text, err := os.ReadFile("tla/" + j.root + ".tla")
			require.NoError(t, err)
			calls := map[observe.Action]bool{} // by event: whether a definition that takes it calls the action
			for _, def := range strings.Split(comment.ReplaceAllString(string(text), ""), "\n\n") {
				name, body, _ := strings.Cut(def, " ==")
				event := taken.FindStringSubmatch(body)
				if event == nil || !strings.HasPrefix(strings.TrimSpace(name), "Take") {
					continue
				}
				a := observe.Action(event[1])
				action := regexp.MustCompile(`(^|[^"A-Za-z])(` + cmp.Or(under[a], event[1]) + `)([^"A-Za-z]|$)`)
				calls[a] = calls[a] || action.MatchString(body)
			}
			for a, ok := range calls {
				require.Equal(t, bounded[j.root][a] == "", ok, "%s, %s: a step of the specification's action, or in the list", j.root, a)
			}
			if j.root != "TraceAdvanceGroup" { // TraceOrderedGroup without purges
				require.Greater(t, len(calls), 10, j.root)
			}
		}
	}
}

var comment = regexp.MustCompile(`(?s)\(\*.*?\*\)`)

var taken = regexp.MustCompile(`(?:Takes\(|E\.a = )"(\w+)"`)

// docs/traces.md lists them all.
func TestDocumentedBounds(t *testing.T) {
	page, err := os.ReadFile("../docs/traces.md")
	require.NoError(t, err)
	for root, list := range bounded {
		for a, what := range list {
			require.Contains(t, string(page), "| `"+root+"` | `"+string(a)+"` | "+what+" |\n")
		}
	}
}
