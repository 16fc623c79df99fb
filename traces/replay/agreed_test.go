package replay

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/traces/behaviours"
)

// Three replicas come to have one log as AgreedLog says, under either policy, and with a
// defect of syncs, of memory or of new incarnations they do not.
func TestAgreedLog(t *testing.T) {
	for _, c := range []struct {
		model    string
		count    int
		volatile bool // a loss of power makes a suspect
		defects  []string
	}{
		{"sim-agreed-log", 60, true, []string{"ack-before-sync", "ack-carried", "suspect-votes", "suspect-acks", "commit-clamped", "two-incarnations", "lost-disk-unnoticed", "join-once", "recovered-not-synced"}},
		{"sim-agreed-log-replicated", 100, true, []string{"suspect-votes", "suspect-acks", "commit-clamped", "two-incarnations"}},
		{"sim-agreed-log-persisted", 40, false, []string{"ack-before-sync", "ack-carried", "lost-disk-unnoticed", "journal-roll-no-dirsync"}},
	} {
		t.Run(c.model, func(t *testing.T) {
			list := drawn(t, c.model, c.count)
			follows(t, list)
			t.Run("shows", func(t *testing.T) {
				seen := agreedSeen(list)
				t.Log(seen)
				for _, r := range agreedRows {
					if r.Action == "NewIncarnation" && !c.volatile {
						continue // nobody forgets
					}
					require.Positive(t, seen[string(r.Action)], "%s is in the table and was never taken", r.Action)
				}
				for _, what := range []string{"elections that cut the log", "journals that hold what was cut", "losses of what was written", "disks replaced after a rejoin"} {
					require.Positive(t, seen[what], what)
				}
				for _, what := range []string{"losses of what was acknowledged", "incarnations that hold more", "rejoins in a later incarnation"} {
					require.Equal(t, c.volatile, seen[what] > 0, what)
				}
				if c.model == "sim-agreed-log-replicated" {
					require.Positive(t, seen["incarnations that lack what was committed"])
				}
				finds(t, list, c.defects)
			})
		})
	}
}

// agreedSeen counts actions, and what they find.
func agreedSeen(list []*behaviours.Behaviour) map[string]int {
	seen := map[string]int{}
	for _, b := range list {
		rejoined := false
		for i := range b.Acts[1:] {
			was, a := b.Acts[i].State, &b.Acts[i+1]
			seen[string(a.Action)]++
			note := func(what string, is bool) {
				if is {
					seen[what]++
				}
			}
			r := fmt.Sprint(a.With["r"])
			of := func(s map[string]any, name string) map[string]any { return s[name].(map[string]any) }
			length := func(s map[string]any, r string) int { return len(of(s, "journal")[r].([]any)) }
			logged := func(s map[string]any) int { return len(s["log"].([]any)) }
			switch a.Action {
			case "Elect":
				note("elections that cut the log", logged(a.State) < logged(was))
			case "Receive":
				note("journals that hold what was cut", length(was, r) >= length(a.State, r))
			case "LosePower":
				note("losses of what was written", length(a.State, r) < length(was, r))
				note("losses of what was acknowledged", length(a.State, r) < integer(of(was, "acked")[r]))
			case "NewIncarnation":
				note("incarnations that lack what was committed", integer(a.State["commit"]) < integer(was["commit"]))
				note("incarnations that hold more", integer(a.State["commit"]) > integer(was["commit"]))
			case "Rejoin":
				rejoined = true
				note("rejoins in a later incarnation", integer(was["inc"]) > 1)
			case "ReplaceDisk":
				note("disks replaced after a rejoin", rejoined)
			}
		}
	}
	return seen
}

// What is said of a journal and is not so is found.
func TestAgreedDifferences(t *testing.T) {
	for _, c := range []struct {
		field string
		spoil func(s map[string]any)
		want  string
	}{
		{"commit", func(s map[string]any) { s["commit"] = s["commit"].(float64) + 1 }, "commit"},
		{"stable", func(s map[string]any) {
			m := s["stable"].(map[string]any)
			m["r1"] = m["r1"].(float64) + 1
		}, "rep.r1.stable"},
		{"term", func(s map[string]any) {
			e := s["journal"].(map[string]any)["r1"].([]any)[0].(map[string]any)
			e["t"] = e["t"].(float64) + 1
		}, "rep.r1.journal[0].t"},
		{"policy", func(s map[string]any) {
			s["journal"].(map[string]any)["r1"].([]any)[0].(map[string]any)["v"] = "replicated"
		}, "rep.r1.journal[0].v"},
		{"acked", func(s map[string]any) { s["acked"].(map[string]any)["r2"] = 0.0 }, "rep.r2.acked"},
		{"journal", func(s map[string]any) {
			m := s["journal"].(map[string]any)
			m["r1"] = append(m["r1"].([]any), map[string]any{"v": "persisted", "t": 1.0})
		}, "rep.r1.journal[1]"},
		{"suspect", func(s map[string]any) { s["suspect"].(map[string]any)["r1"] = 0.0 }, "rep.r1.suspect"},
		{"shows", func(s map[string]any) {
			s["journal"].(map[string]any)["r3"] = []any{map[string]any{"v": "persisted", "t": 1.0}}
		}, "rep.r3.shows"},
		{"shows, but has lost all", func(s map[string]any) { s["suspect"].(map[string]any)["r3"] = -2.0 }, "rep.r3.shows"},
		{"down", func(s map[string]any) { s["down"] = []any{"r1"} }, "rep.r1.down"},
		{"inc", func(s map[string]any) { s["inc"] = 2.0 }, "inc"},
		{"leader", func(s map[string]any) { s["leader"] = []any{"r2"} }, "leader"},
		{"basis", func(s map[string]any) { s["basis"] = 1.0 }, "basis"},
	} {
		b := &behaviours.Behaviour{}
		b.Design, b.Replicas = "ordered", 3
		per := func(a, b, c any) map[string]any { return map[string]any{"r1": a, "r2": b, "r3": c} }
		entry := func() []any { return []any{map[string]any{"v": "persisted", "t": 1.0}} }
		state := func(j, stable, acked map[string]any, commit float64) map[string]any {
			return map[string]any{
				"journal": j, "stable": stable, "acked": acked, "commit": commit, "suspect": per(-1.0, -1.0, -1.0), "log": j["r1"], "down": []any{}, "inc": 1.0,
				"leader": []any{"r1"}, "floor": 0.0, "due": []any{}, "basis": 0.0, "persisted": map[string]any{"messages": false, "bookmarks": true},
			}
		}
		none := []any{}
		add := func(name string, with, s map[string]any) {
			a := behaviours.Act{With: with, State: s}
			a.Action, a.Replica = observe.Action(name), 1
			fmt.Sscanf(fmt.Sprint(with["r"]), "r%d", &a.Replica)
			b.Acts = append(b.Acts, a)
		}
		add("Init", nil, state(per(none, none, none), per(0.0, 0.0, 0.0), per(0.0, 0.0, 0.0), 0))
		add("ProposeAt", map[string]any{"r": "r1", "v": "persisted", "n": 1.0}, state(per(entry(), none, none), per(0.0, 0.0, 0.0), per(0.0, 0.0, 0.0), 0))
		add("SyncJournal", map[string]any{"r": "r1"}, state(per(entry(), none, none), per(1.0, 0.0, 0.0), per(1.0, 0.0, 0.0), 0))
		add("Receive", map[string]any{"r": "r2", "n": 1.0}, state(per(entry(), entry(), none), per(1.0, 0.0, 0.0), per(1.0, 0.0, 0.0), 0))
		add("SyncJournal", map[string]any{"r": "r2"}, state(per(entry(), entry(), none), per(1.0, 1.0, 0.0), per(1.0, 1.0, 0.0), 0))
		add("CommitBy", map[string]any{"by": []any{"r1", "r2"}, "n": 1.0}, state(per(entry(), entry(), none), per(1.0, 1.0, 0.0), per(1.0, 1.0, 0.0), 1))
		lost := state(per(entry(), entry(), none), per(1.0, 1.0, 0.0), per(1.0, 1.0, 0.0), 1)
		lost["suspect"] = per(-1.0, -1.0, 0.0)
		add("LosePower", map[string]any{"r": "r3", "n": 0.0}, lost)
		diff, err := Replay(b, 0)
		require.NoError(t, err)
		require.Nil(t, diff)
		c.spoil(b.Acts[len(b.Acts)-1].State)
		diff, err = Replay(b, 0)
		require.NoError(t, err)
		require.NotNil(t, diff, c.field)
		require.Equal(t, c.want, diff.Field)
	}
}
