package traces

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/traces/tlc"
)

// installed is the first boot after the first install.
func installed(t *testing.T, ev []observe.Event) int {
	i := first(t, ev, 0, is(CommitInstall))
	return first(t, ev, i, is(Boot), by(ev[i].Replica))
}

// bootsWith edits what the boot of an install shows.
func bootsWith(edit func(*observe.Event)) func(*testing.T, []observe.Event) ([]observe.Event, int) {
	return func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := installed(t, ev)
		edit(&ev[i])
		return ev, i
	}
}

// without removes the first event of an action; what comes next of another one has
// nothing to go on.
func without(a, then observe.Action) func(*testing.T, []observe.Event) ([]observe.Event, int) {
	return func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(a))
		ev = slices.Delete(ev, i, i+1)
		return ev, first(t, ev, i, is(then))
	}
}

// What nobody may do who offers a state, or takes one.
var moveCorruptions = []corruption{
	{"compacted-past-the-checkpoint", "state-taken", changed(func(e *observe.Event) { e.Op = e.Applied + 1 }, is(Compact))},
	{"offered-while-behind", "state-taken", changed(func(e *observe.Event) { e.Last = e.Applied + 1 }, is(OfferTransfer))},
	{"staged-what-nobody-offered", "state-taken", without(OfferTransfer, StageManifest)},
	{"staged-what-it-has", "state-taken", changed(func(e *observe.Event) { e.Last = e.Op }, is(StageManifest))},
	{"installed-before-it-was-whole", "state-taken", without(StageState, CommitInstall)},
	{"installed-after-it-was-overtaken", "state-taken", changed(func(e *observe.Event) { e.Last = e.Op }, is(CommitInstall))},
	{"installed-another-state", "state-taken", changed(func(e *observe.Event) { e.End++ }, is(CommitInstall))},
	{"installed-with-another-boundary", "state-taken", bootsWith(func(e *observe.Event) { e.Op-- })},
	{"installed-with-an-older-bookmark", "state-taken", bootsWith(func(e *observe.Event) { e.Count++ })},
	{"staged-another-boundary", "state-taken", changed(func(e *observe.Event) { e.Boundary-- }, is(StageManifest))},
	{"reset-compacted-past-the-checkpoint", "reset-record-state-taken", changed(func(e *observe.Event) { e.Op = e.Applied + 1 }, is(Compact))},
	{"reset-offered-while-behind", "reset-record-state-taken", changed(func(e *observe.Event) { e.Last = e.Applied + 1 }, is(OfferTransfer))},
	{"reset-offered-with-another-floor", "reset-record-state-taken", changed(func(e *observe.Event) { e.Boundary++ }, is(OfferTransfer))},
	{"reset-staged-what-nobody-offered", "reset-record-state-taken", without(OfferTransfer, StageManifest)},
	{"reset-staged-what-it-has", "reset-record-state-taken", changed(func(e *observe.Event) { e.Last = e.Op }, is(StageManifest))},
	{"reset-staged-another-generation", "reset-record-state-taken", changed(func(e *observe.Event) { e.Generation-- }, is(StageManifest))},
	{"reset-installed-before-it-was-whole", "reset-record-state-taken", without(StageState, CommitInstall)},
	{"reset-installed-another-state", "reset-record-state-taken", changed(func(e *observe.Event) { e.End++ }, is(CommitInstall))},
	{"reset-installed-with-another-floor", "reset-record-state-taken", bootsWith(func(e *observe.Event) { e.Op++ })},
	{"reset-installed-with-an-older-bookmark", "reset-record-state-taken", bootsWith(func(e *observe.Event) { e.Count++ })},
	{"reset-dropped-another-transfer", "reset-record-state-taken", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(StageState))
		ev[i].Action = DropTransfer
		ev[i].Op--
		return ev, i
	}},
	{"advance-compacted-past-the-checkpoint", "advance-state-taken", changed(func(e *observe.Event) { e.Op = e.Applied + 1 }, is(Compact))},
	{"advance-staged-what-nobody-agreed-on", "advance-state-taken", changed(func(e *observe.Event) { e.Op = 99 }, is(StageManifest))},
	{"advance-staged-what-it-has", "advance-state-taken", changed(func(e *observe.Event) { e.Last = e.Op }, is(StageManifest))},
	{"advance-staged-with-a-boundary", "advance-state-taken", changed(func(e *observe.Event) { e.Boundary = 1 }, is(StageManifest))},
	{"advance-dropped-another-transfer", "advance-state-taken", changed(func(e *observe.Event) { e.Op-- }, is(DropTransfer))},
	{"advance-installed-before-it-was-whole", "advance-state-taken", without(StageState, CommitInstall)},
	{"advance-installed-after-it-was-overtaken", "advance-state-taken", changed(func(e *observe.Event) { e.Last = e.Op }, is(CommitInstall))},
	{"advance-installed-another-state", "advance-state-taken", changed(func(e *observe.Event) { e.End++ }, is(CommitInstall))},
	{"advance-installed-with-an-older-bookmark", "advance-state-taken", bootsWith(func(e *observe.Event) { e.Count++ })},
	{"offered-in-another-state", "state-taken", changed(func(e *observe.Event) { e.End++ }, is(OfferTransfer))},
	{"reset-offered-in-another-state", "reset-record-state-taken", changed(func(e *observe.Event) { e.End++ }, is(OfferTransfer))},
	{"compacted-twice", "state-taken", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Compact))
		return slices.Insert(ev, i, ev[i]), i + 1
	}},
	{"copied-with-another-end", "advance-state-copied", changed(func(e *observe.Event) { e.End++ }, is(CopyState))},
	{"copied-another-state", "advance-state-copied", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(CopyState))
		ev[i].Op--
		return ev, i
	}},
}

// A crash may come right after the record of an install, before anybody tells it: the
// next boot shows it.
func TestInstallThatNobodyToldIsAccepted(t *testing.T) {
	tr := readSample(t, "testdata/accepted/state-taken.ndjson")
	for _, untold := range [][]observe.Action{{CommitInstall}, {StageState, CommitInstall}} {
		out := &Trace{Name: tr.Name, Header: tr.Header}
		for _, l := range tr.Lines {
			if l.Action == CommitInstall {
				crash := l
				crash.Event = observe.Event{Time: l.Time, Replica: l.Replica, Action: PowerLoss}
				out.Lines = append(out.Lines, crash)
			}
			if !slices.Contains(untold, l.Action) {
				out.Lines = append(out.Lines, l)
			}
		}
		r := validate(t, out)[0]
		require.Equal(t, tlc.Pass, r.Verdict, "%s %v", r.Reason, r.Rejections)
	}
}
