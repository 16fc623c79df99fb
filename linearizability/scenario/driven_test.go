package scenario

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/verdict"
	"purgelab/traces"
	"purgelab/traces/behaviours"
	"purgelab/traces/models"
	"purgelab/traces/replay"
	"purgelab/traces/tlc"
)

var update = flag.Bool("update", false, "write the table of counterexamples into docs/replay.md")

const (
	specDir = "../../spec"
	page    = "../../docs/replay.md"
)

// notLed are models that violate a property by actions through which no replica is led,
// and why.
var notLed = map[string]string{
	"defect-two-incarnations": "in the specification the second takes the place of the first everywhere; in the implementation both have one number, and who has begun it stays where it is",
}

// noSuchDefect are models whose defect the implementation cannot have as one rule left
// out, and why. They are followed as far as that goes.
var noSuchDefect = map[string]string{
	"defect-anyone-leads":                  "raft itself votes for no log that ends before its own",
	"defect-chunk-of-another-offer":        "two rules forbid it: a sender sends chunks of the offer that it is asked for, or none, and a receiver takes those of the offer that it pulls",
	"defect-empty-leader-overwrites":       "two rules forbid it: who has not applied what it knows to be committed offers nothing, and what is offered is a checkpoint, under the number of its own op",
	"defect-journaled-ops-dropped":         "two rules forbid it: a replica takes no state of ops that it knows to be committed, as it still does after a crash, and none of ops that its journal holds",
	"defect-no-first-entry":                "raft itself begins each term of a leader with an entry",
	"defect-older-incarnation-accepted":    "three rules forbid it: a message of another incarnation has no effect, what a replica takes lies in the folder of its incarnation, and an offer of an older one is refused",
	"defect-replay-covered-ops":            "two rules forbid it: a replay begins above the op of the checkpoint, and so does the journal of a home that was installed",
	"defect-reset-empty-leader-overwrites": "two rules forbid it, as of `tlc-empty-leader-overwrites`",
}

// modulesNotLed are the modules of models of which no replica is led the way of a
// counterexample, and why.
var modulesNotLed = map[string]string{
	"MCPartition.tla": "the contract is no replica: `model` is compared with it",
}

// ofItself tells whether a model shows something without any defect: what can happen, or
// what a design cannot give.
func ofItself(model string) bool {
	return strings.HasPrefix(model, "witness-") || strings.HasPrefix(model, "limit-")
}

// led are the scenarios that lead a replica, by the model that they come from.
func led(t *testing.T) map[string]*Scenario {
	out := map[string]*Scenario{}
	for _, s := range own(t) {
		if s.driven {
			name := strings.TrimPrefix(s.Name, "tlc-")
			if !ofItself(name) {
				name = "defect-" + name
			}
			out[name] = s
		}
	}
	return out
}

// TestRoundTrips: what TLC finds in a specification with a defect is found in the
// implementation with the defect of that name, and not without it; and what the
// implementation did without it the specification accepts. docs/replay.md has it all.
func TestRoundTrips(t *testing.T) {
	tool, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	all, err := models.Load(specDir)
	require.NoError(t, err)
	files := led(t)
	var played []*Result
	var list []*traces.Trace
	var rows []string
	for _, m := range all {
		if m.Defect == "" && !ofItself(m.Name) {
			continue
		}
		s := files[m.Name]
		why, known := notLed[m.Name]
		if behaviours.Drivable(m) != nil {
			require.False(t, known, m.Name)
			why, known = modulesNotLed[m.Module]
			require.True(t, known, "%s: no scenario, and no reason why of a model of %s there is none", m.Name, m.Module)
		}
		if known {
			require.Nil(t, s, m.Name)
			rows = append(rows, fmt.Sprintf("| `%s` | not led: %s | | | |\n", m.Name, why))
			continue
		}
		require.NotNil(t, s, "%s: purgelab trace behaviours --model %s --counterexample --out linearizability/scenario/files", m.Name, m.Name)
		require.Contains(t, s.Origin, m.Expect)
		if name := inImplementation(m.Defect); name != "" {
			require.Equal(t, name, s.Defect, "the implementation has the defect, and the scenario does not show it")
			require.Empty(t, noSuchDefect[m.Name], m.Name)
		}
		if strings.HasPrefix(m.Name, "limit-") {
			require.Equal(t, m.Expect, s.Listed[0], m.Name)
		}
		for _, defective := range []bool{false, true} {
			if defective && s.Defect == "" {
				continue
			}
			r := Play(context.Background(), s, s.Ways()[0], defective)
			require.Empty(t, r.Trouble())
			trace, err := r.DrivenTrace()
			require.NoError(t, err)
			played, list = append(played, r), append(list, trace)
		}
	}
	reports, err := traces.Validate(context.Background(), tool, traces.Options{Spec: specDir}, list)
	require.NoError(t, err)
	for i, r := range played {
		if !r.Defective {
			require.Equal(t, tlc.Pass, reports[i].Verdict, "%s: %s %v", r.Scenario.Name, reports[i].Reason, reports[i].Rejections)
			rows = append(rows, fmt.Sprintf("| `%s` | %d | %s |", r.Scenario.Name, len(r.Answers), strings.TrimSuffix(strings.TrimPrefix(r.Scenario.Origin, "TLC, "), " violated")))
			switch {
			case strings.HasPrefix(r.Scenario.Name, "tlc-witness-"):
				rows[len(rows)-1] += " shows what can happen | |\n"
			case strings.HasPrefix(r.Scenario.Name, "tlc-limit-"):
				rows[len(rows)-1] += " what the design cannot give | |\n"
			case r.Scenario.Defect == "":
				why := noSuchDefect["defect-"+strings.TrimPrefix(r.Scenario.Name, "tlc-")]
				require.NotEmpty(t, why, r.Scenario.Name)
				rows[len(rows)-1] += " no such defect: " + why + " | |\n"
			}
			continue
		}
		require.NotEqual(t, tlc.Undecided, reports[i].Verdict, "%s: %s", r.Scenario.Name, reports[i].Reason)
		var red []string
		for _, x := range r.Red {
			red = append(red, x.Property)
		}
		slices.Sort(red)
		rows[len(rows)-1] += fmt.Sprintf(" %s | %s |\n", strings.Join(red, ", "), map[bool]string{true: "accepted", false: "rejected"}[reports[i].Verdict == tlc.Pass])
	}
	slices.Sort(rows)
	table := "| scenario, or model | actions | violated in the model | violated with the defect | trace with it |\n|---|---|---|---|---|\n" + strings.Join(rows, "")
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(b), "| scenario, or model |")
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, "\n\n")
	require.True(t, ok)
	text := before + table + "\n" + after
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o666))
		return
	}
	require.Equal(t, text, string(b), "go test ./linearizability/scenario -run TestRoundTrips -update")
}

// TestFoundAgain: the file is what TLC finds, or it finds another one that is as good.
func TestFoundAgain(t *testing.T) {
	tool, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	all, err := models.Load(specDir)
	require.NoError(t, err)
	model := func(name string) models.Model {
		return all[slices.IndexFunc(all, func(m models.Model) bool { return m.Name == name })]
	}
	for _, name := range []string{"limit-reset-record-boundary", "defect-marker-no-dirsync", "defect-settled-at-proposal", "defect-stale-pull-kept", "defect-suspects-unheard"} {
		t.Run(name, func(t *testing.T) {
			m := model(name)
			b, property, err := behaviours.Counterexample(context.Background(), tool, specDir, m)
			require.NoError(t, err)
			c, err := FromCounterexample(context.Background(), b, cmp.Or(m.Defect, m.Name), property, m.Why)
			require.NoError(t, err)
			if name == "defect-suspects-unheard" {
				// TLC asks what comes at last while it goes on to find states, and which
				// counterexample it finds first depends on how fast the machine is.
				require.True(t, c.Reproduced())
				return
			}
			text, err := os.ReadFile("files/" + c.Name + ".txt")
			require.NoError(t, err)
			require.Equal(t, string(text), c.Text)
		})
	}

	// A model that holds has none, one of what never ends is not led.
	holds := model("defect-marker-no-dirsync")
	holds.Cfg = "MCOrderedLocalFew.cfg"
	_, _, err = behaviours.Counterexample(context.Background(), tool, specDir, holds)
	var none *behaviours.HoldsError
	require.ErrorAs(t, err, &none)
	holds.Module = "MCPartition.tla"
	var other *behaviours.NotDrivableError
	require.ErrorAs(t, behaviours.Drivable(holds), &other)
}

// TestReproduced: with the defect something is violated that is not listed, and what can happen is followed.
func TestReproduced(t *testing.T) {
	of := &Scenario{Listed: []string{"A"}}
	calm := &Result{Scenario: of, Red: []verdict.Result{{Verdict: verdict.Fail, Property: "A"}}}
	red := &Result{Scenario: of, Red: []verdict.Result{{Verdict: verdict.Fail, Property: "B"}}}
	undecided := &Result{Scenario: of, Red: red.Red, Undecided: "interrupted"}
	calmUndecided := &Result{Scenario: of, Red: calm.Red, Undecided: "interrupted"}
	differs := &replay.Difference{}
	for _, c := range []struct {
		is   Counterexample
		want bool
	}{
		{Counterexample{Calm: calm, Red: red, Difference: differs}, true},
		{Counterexample{Calm: calm, Red: calm}, false},
		{Counterexample{Calm: red, Red: red}, false},
		{Counterexample{Calm: calm, Red: undecided, Difference: differs}, false},
		{Counterexample{Calm: calmUndecided, Red: red, Difference: differs}, false},
		{Counterexample{Calm: calm, Difference: differs}, true}, // the implementation has no such defect
		{Counterexample{Calm: calm}, false},                     // and what it lets happen is seen by nobody
		{Counterexample{Calm: calmUndecided, Difference: differs}, false},
		{Counterexample{Calm: calmUndecided, Shows: true}, false},
		{Counterexample{Calm: calm, Shows: true}, true},
		{Counterexample{Calm: calm, Shows: true, Difference: differs}, false},
		{Counterexample{Calm: calm, Limit: "A"}, true},
		{Counterexample{Calm: calm, Limit: "A", Difference: differs}, false},
		{Counterexample{Calm: calm, Limit: "B"}, false},
		{Counterexample{Calm: red, Limit: "B"}, false},
	} {
		require.Equal(t, c.want, c.is.Reproduced(), "%+v", c.is)
	}
}

// TestNotTaken: what the replicas, as they are, cannot be led to is not taken, and stops none.
func TestNotTaken(t *testing.T) {
	group := strings.Replace(head, "replicas: 1", "replicas: 3", 1)
	for _, text := range []string{
		head + "take Boot -> serves, op 0, start 0, end 0: nothing\ntake Boot -> not taken; serves, op 0, start 0, end 0: nothing\n" +
			"take Materialize n=2 append 1 -> not taken; serves, op 0, start 0, end 0: nothing\n" +
			"take StageManifest n=1 -> not taken; serves, op 0, start 0, end 0: nothing\n" +
			"take Answer get k1 -> serves, op 0, start 0, end 0: nothing\n",
		strings.Replace(head, "ordered", "advance", 1) + "take Boot -> serves, op 0, start 0, end 0: nothing\n" +
			"take ListOffsets start=0 end=1 -> serves, op 0, start 0, end 0: nothing\n",
		strings.Replace(head, "ordered", "reset-record", 1) + "take Boot -> serves, op 0, start 0, end 0: nothing\n" +
			"take ResetFrontier g=1 -> serves, op 0, start 0, end 0: nothing\ntake StepFails step=x -> not taken; serves, op 0, start 0, end 0: nothing\n" +
			"take SyncFails step=unlinked -> not taken; serves, op 0, start 0, end 0: nothing\n" +
			"take Recreate -> down\ntake Boot -> serves, op 0, start 0, end 0: nothing\n" +
			"take CommitElsewhere append 1 -> not taken; serves, op 0, start 0, end 0: nothing\n",
		group + "take ProcessCrash r=r2 -> down\ntake ProcessCrash r=r3 -> down\ntake DropOffer r=r1 -> leads, op 0, start 0, end 0: nothing\n" +
			"take Propose n=1 of=r2 step=learner other -> not taken; r1 leads, op 0, committed 0\n",
	} {
		s, err := Parse("f.txt", text)
		require.NoError(t, err)
		require.Empty(t, Play(context.Background(), s, s.Ways()[0], false).Trouble())
	}
}

// TestLedMistakes: what is wrong with a step that leads a replica is named with its place.
func TestLedMistakes(t *testing.T) {
	group := strings.Replace(head, "replicas: 1", "replicas: 3", 1)
	for _, c := range []struct{ text, want string }{
		{head + "take -> down\n", "f.txt:6:6: want an action of the specification"},
		{head + "take Jump -> down\n", `f.txt:6:6: action "Jump"`},
		{head + "take Materialize n=x append 1 -> down\n", `f.txt:6:18: n "x": want a number`},
		{head + "take Materialize n=1 append -> down\n", `f.txt:6:22: op "append": want one of`},
		{head + "take Materialize n=1 store k1 y 0 -> down\n", `f.txt:6:31: o "y": want a number`},
		{group + "take Boot r=r4 -> down\n", `f.txt:6:11: r "r4": want r1 to r3`},
		{group + "take Boot r=2 -> down\n", `f.txt:6:11: r "2": want r1 to r3`},
		{group + "take Propose n=1 append 1 me -> down\n", `f.txt:6:18: op "append 1 me": want one of`},
		{group + "take Answer r=r1 poll k1 first x earliest -> down\n", `f.txt:6:32: max "x": want a number`},
		{group + "take Propose n=1 store k1 0 0 bear -> down\n", `f.txt:6:18: op "store k1 0 0 bear": want one of`},
		{strings.Replace(group, "ordered", "reset-record\nvariant: retry-sync", 1) + "take Boot r=r1 -> down\n", "f.txt:7:1: take: want nothing but actions"},
		{head + "take Materialize n=1 -> down\n", "f.txt:6:6: Materialize: want an op, one of"},
		{head + "take Materialize n=-1 append 1 -> down\n", `f.txt:6:18: n "-1": want a number`},
		{head + "take Materialize n=1 store me 0 0 -> down\n", `f.txt:6:28: key "me": want k1`},
		{head + "take Materialize n=1 other -> down\n", "f.txt:6:22: op [k |-> other] of the specification: no request is like it"},
		{head + "take PowerLoss -> down\n", "f.txt:6:6: PowerLoss: want keep="},
		{head + "take Boot r=r1 -> down\n", `f.txt:6:11: r "r1": there is one replica`},
		{group + "take Propose n=1 -> down\n", "f.txt:6:6: Propose: want an op, one of"},
		{group + "take Materialize n=1 -> down\n", "f.txt:6:6: Materialize: want r="},
		{group + "take Answer r=r1 -> down\n", "f.txt:6:6: Answer: want a read, one of [get list poll]"},
		{group + "take Answer r=r1 poll k1 soon 3 earliest -> down\n", "f.txt:6:18: read "},
		{group + "take Propose n=1 of=r4 step=learner other -> down\n", `f.txt:6:18: of "r4": want r1 to r3`},
		{strings.Replace(group, "ordered", "reset-record", 1) + "take ProcessCrash r=r1 -> down\n", "f.txt:6:6: ProcessCrash: want s="},
		{strings.Replace(group, "ordered", "reset-record", 1) + "take DropOffer r=r1 -> down\n", `f.txt:6:6: action "DropOffer"`},
		{group + "take Serve -> down\n", `f.txt:6:6: action "Serve"`},
		{head + "take Boot -> down\nlatest -> 0\n", "f.txt:7:1: take: want nothing but actions"},
	} {
		_, err := Parse("f.txt", c.text)
		require.ErrorContains(t, err, c.want)
	}
}
