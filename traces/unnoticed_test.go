package traces_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// corrected is of a change after which the header counts the events that are left.
const corrected = ", count corrected"

// prefix is the kind of change that leaves a good trace.
const prefix = "end lost" + corrected

// leastNoticed is how many of a hundred changes of a kind are noticed.
var leastNoticed = map[string]int{"field": 95, "event lost" + corrected: 65, "order": 95}

// unnoticed are the changes that a trace may have and still be accepted, and why: by
// the kind of change, the actions, and the fields; * is any. Of an exchange both are among
// the actions. Where holds is not nil, it sees in the trace whether that is so.
var unnoticed = []struct {
	of, actions, fields, why string
	holds                    func(*mutant) bool
}{
	{"field", "*", "t", "time is not judged, only its order", nil},
	{"field", "Commit", "term kind key offset count", "of an op without effect only its number counts, and of terms that they do not fall", nil},
	{"field", "Answer", "count", "a poll may have fewer records than there are, and starts anywhere within the bounds", nil},
	{"field", "Answer", "key offset kind partition", "another read with this answer: it is held to the bounds and the bookmark of its replica", nil},
	{"field", "Checkpoint Compact", "op replica", "any op that is applied may be saved, and any that is saved may be dropped from the journal", nil},
	{"field", "Reclaim", "gen offset replica", "whoever has files that nobody needs may remove them", nil},
	{"field", "OfferTransfer StageManifest CommitInstall", "term count kind key", "terms, folders and bytes of a transfer are not in the specification", nil},
	{"field", "ReclaimOld RefuseTransfer", "*", "it is judged on no level", nil},
	{"field", "Boot Serve StageManifest", "start end gen op incarnation", "of a replica that has applied nothing since", nil},
	{"event lost" + corrected, "Answer", "", "an answer changes nothing", nil},
	{"event lost" + corrected, "Checkpoint Compact Reclaim ReclaimOld RefuseTransfer", "", "nobody has to save, drop or remove anything, unless a boot shows it", nil},
	{"event lost" + corrected, "Serve", "", "a replica need not serve; that it leads or answers is judged in the group", nil},
	{"event lost" + corrected, "BecomeLeader", "", "who leads first may lead from the beginning", (*mutant).first},
	{"event lost" + corrected, "ChangeMembers", "", "another replica tells of the same change", (*mutant).toldTwice},
	{"event lost" + corrected, "PowerLoss", "", "that a sequence of ops begins says that power was lost", next("BeginSequence")},
	{"event lost" + corrected, "StageState CommitInstall CopyState", "", "the boot that comes next shows it", next("Boot")},
	{"event lost" + corrected, "Materialize Commit Journal PurgeBegin PurgeSwitch PurgeComplete Boot Joined ChangeMembers NewIncarnation StageManifest", "",
		"the replica crashes right after it, or the run ends: a crash may come before a step is told", next("", "ProcessCrash", "PowerLoss")},
	{prefix, "trace", "", "what was done up to there was done", nil},
	{"order", "Answer Reclaim ReclaimOld RefuseTransfer", "", "neither changes what a replica shows, and both show the same", nil},
}

// next tells that the action that comes next of the replica is one of some; "" is none.
func next(some ...string) func(*mutant) bool {
	return func(m *mutant) bool {
		for _, e := range m.in.said[m.at+1:] {
			if e["replica"] == m.in.said[m.at]["replica"] {
				return slices.Contains(some, fmt.Sprint(e["action"]))
			}
		}
		return slices.Contains(some, "")
	}
}

// first tells that the action was never taken before.
func (m *mutant) first() bool {
	return !slices.ContainsFunc(m.in.said[1:m.at], func(e map[string]any) bool { return e["action"] == m.in.said[m.at]["action"] })
}

// toldTwice tells that another event is of the same action and op.
func (m *mutant) toldTwice() bool {
	is := m.in.said[m.at]
	return slices.ContainsFunc(m.in.said, func(e map[string]any) bool {
		return e["action"] == is["action"] && e["op"] == is["op"] && e["replica"] != is["replica"]
	})
}

// why is the row that says why a change is not noticed, or -1.
func (m *mutant) why() int {
	actions, field, _ := strings.Cut(m.what, ".")
	for i, u := range unnoticed {
		among := func(a string) bool { return u.actions == "*" || slices.Contains(strings.Fields(u.actions), a) }
		if u.of != m.of || slices.ContainsFunc(strings.Split(actions, ", "), func(a string) bool { return !among(a) }) {
			continue
		}
		if u.holds != nil && !u.holds(m) {
			continue
		}
		if u.of != "field" || u.fields == "*" || slices.Contains(strings.Fields(u.fields), field) {
			return i
		}
	}
	return -1
}

// outcomes counts what became of mutants.
type outcomes struct {
	counts map[string]map[string]int // by kind of change and outcome
	kept   map[string]int            // of those accepted, by kind and why
	used   map[int]bool              // rows of unnoticed that excused one
}

func (o *outcomes) add(t *testing.T, m *mutant, outcome string) {
	if o.counts[m.of] == nil {
		o.counts[m.of] = map[string]int{}
	}
	o.counts[m.of][outcome]++
	switch why := m.why(); {
	case outcome == "undecided":
		t.Errorf("%s: undecided", m.name)
	case outcome == "accepted" && why < 0:
		t.Errorf("%s: accepted, and nothing says why it may be: %s", m.name, m.change)
	case outcome == "accepted":
		if m.of != prefix {
			t.Logf("accepted: %s: %s", m.name, m.change)
		}
		o.used[why] = true
		o.kept[m.of+" | "+unnoticed[why].why]++
	}
}

// caught are the changes of a kind that are noticed.
func (o *outcomes) caught(of string) int { return o.counts[of]["refused"] + o.counts[of]["rejected"] }

// total are all changes of a kind.
func (o *outcomes) total(of string) (n int) {
	for _, count := range o.counts[of] {
		n += count
	}
	return n
}

// page is docs/mutations.md.
func (o *outcomes) page() string {
	var b strings.Builder
	b.WriteString(`# Traces that were changed

Good traces of every design, with transfers and new incarnations among them, each changed in one place: a field of one
event gets the value that it has in another event; an event is left out; the end is left out; two events of a replica
change places. The reader refuses what the schema does not have, or what lacks events that the header counts; so events
are left out with a header that counts the others, too. TLC rejects what no behaviour of the specification explains.
` + "`make mutations`" + ` writes this page.

| change | traces | refused | reach TLC | rejected | accepted | noticed | noticed by TLC |
|---|---|---|---|---|---|---|---|
`)
	for _, of := range slices.Sorted(maps.Keys(o.counts)) {
		c := o.counts[of]
		reach := c["rejected"] + c["accepted"]
		all := reach + c["refused"]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %s | %s |\n", of, all, c["refused"], reach, c["rejected"], c["accepted"],
			share(o.caught(of), all), share(c["rejected"], reach))
	}
	b.WriteString("\nA beginning of a behaviour is a behaviour: that the end is lost only a count can tell, and none of those that are\nleft may be rejected. Those that are accepted:\n\n| change | why it may be | traces |\n|---|---|---|\n")
	for _, why := range slices.Sorted(maps.Keys(o.kept)) {
		fmt.Fprintf(&b, "| %s | %d |\n", why, o.kept[why])
	}
	return b.String()
}

// share is n of all, as a percentage.
func share(n, all int) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(all))
}
