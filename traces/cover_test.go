package traces

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/traces/models"
)

// Every action of a judged module is one that a trace can show, or has a reason why
// none can; and no reason is of an action that is not there or has an event.
func TestActionsThatNoTraceShows(t *testing.T) {
	actions, err := models.Actions("../spec")
	require.NoError(t, err)
	left := map[string]bool{}
	for name := range never {
		left[name] = true
	}
	for _, d := range designs {
		for _, j := range d.judges() {
			if d == &advance && j.level == Group {
				continue // that of ordered
			}
			events := map[string]bool{}
			for _, r := range d.rules {
				if r.fields(j.level) != nil {
					s := step{Line: Line{Event: observe.Event{Action: r.Action}}, Unseen: true}
					name, _ := s.action(j)
					events[name] = true
				}
			}
			// Steps without an event.
			events["OrderedGroup!Propose"] = true
			events["ResetRecordGroup!RequestPurge"] = true
			events["Transfer!CommitElsewhere"] = true
			for _, m := range d.modules(j.level) {
				for _, a := range actions[m] {
					name := m + "!" + a
					require.Equal(t, never[name] == "", events[name], name)
					delete(left, name)
				}
			}
		}
	}
	require.Empty(t, left)
}

// What a trace shows once is counted once, with where it came from; what it does not
// show is missed.
func TestCover(t *testing.T) {
	actions, err := models.Actions("../spec")
	require.NoError(t, err)
	of := func(list ...*Trace) map[string]Shown {
		out := map[string]Shown{}
		for _, s := range Cover(list, actions) {
			out[s.What] = s
		}
		return out
	}
	tr := readSample(t, "testdata/accepted/interrupted-purge.ndjson")
	got := of(tr)
	require.Positive(t, got[crashAfter(PurgeBegin)].Count+got[crashAfter(PurgeSwitch)].Count)
	begun := got["Ordered!PurgeBegin"]
	require.False(t, begun.Missed())
	require.Equal(t, tr.origin(), begun.First)

	// Without its purges.
	none := &Trace{Name: tr.Name, Header: tr.Header}
	for _, l := range tr.Lines {
		if l.Action != PurgeSwitch {
			none.Lines = append(none.Lines, l)
		}
	}
	begun = of(none)["Ordered!PurgeSwitch"]
	require.True(t, begun.Missed(), "%+v", begun)
	require.Equal(t, 2*got["Ordered!PurgeBegin"].Count, of(tr, tr)["Ordered!PurgeBegin"].Count)
}
