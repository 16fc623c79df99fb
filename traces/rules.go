package traces

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/observe"
)

// Rule says what an event of one action carries beyond time, replica,
// partition, action and the state after it (gen, applied, start, end), which
// all events have. A field that a rule does not name is zero.
type Rule struct {
	Action observe.Action
	// Needs and May name the fields that are, or may be, other than zero.
	Needs, May []string
	Kinds      []string // legal values of kind, if it has one
	Levels     []Level  // where the event is judged
	Spec       string   // the specification's action
	Code       string   // where the implementation takes the step
}

// Kinds of effect, and of ops.
var (
	effectKinds = []string{"append", "store", "delete", "advance", "other"}
	opKinds     = []string{"append", "store", "delete", "advance", "purge", "other"}
	bootKinds   = []string{"none", "begun", "complete"}
)

// Rules is the schema of events, one rule per action.
var Rules = []Rule{
	{Action: Commit, Needs: []string{"op", "term", "kind"}, May: []string{"count", "key", "offset"}, Kinds: opKinds, Levels: []Level{Group},
		Spec: "OrderedGroup!Commit", Code: "impl/replica: apply"},
	{Action: Materialize, Needs: []string{"op", "kind"}, May: []string{"offset", "count", "key"}, Kinds: effectKinds, Levels: []Level{Local, Group},
		Spec: "Ordered!Materialize", Code: "impl/replica: materialize"},
	{Action: PurgeBegin, Needs: []string{"op", "gen"}, Levels: []Level{Local},
		Spec: "Ordered!PurgeBegin", Code: "impl/engine/tagged: purge task"},
	{Action: PurgeSwitch, Needs: []string{"op", "gen"}, Levels: []Level{Local},
		Spec: "Ordered!PurgeSwitch", Code: "impl/engine/tagged: purge task"},
	{Action: PurgeComplete, Needs: []string{"op", "gen"}, Levels: []Level{Local, Group},
		Spec: "Ordered!PurgeComplete", Code: "impl/engine/tagged: purge task"},
	{Action: PurgeDuplicate, Needs: []string{"op"}, May: []string{"kind"}, Kinds: []string{"", "other"}, Levels: []Level{Local, Group},
		Spec: "Ordered!PurgeDuplicate", Code: "impl/replica: applyPurge"},
	{Action: Checkpoint, May: []string{"op"}, Levels: []Level{Local},
		Spec: "Ordered!Checkpoint", Code: "impl/engine/tagged: checkpoint task"},
	{Action: Reclaim, Levels: []Level{Local},
		Spec: "Ordered!Reclaim", Code: "impl/engine/tagged: Reclaim"},
	{Action: ProcessCrash, Levels: []Level{Local, Group},
		Spec: "Ordered!ProcessCrash", Code: "impl/sim: down"},
	{Action: PowerLoss, Levels: []Level{Local, Group},
		Spec: "Ordered!PowerLoss", Code: "impl/sim: down"},
	{Action: Boot, Needs: []string{"kind"}, May: []string{"op"}, Kinds: bootKinds, Levels: []Level{Local, Group},
		Spec: "Ordered!Boot", Code: "impl/replica: Open"},
	{Action: Serve, Levels: []Level{Local},
		Spec: "Ordered!Serve", Code: "impl/replica: checkServing"},
	{Action: BecomeLeader, Needs: []string{"term"}, Levels: []Level{Group},
		Spec: "OrderedGroup!BecomeLeader", Code: "impl/replica: followRole"},
	{Action: Answer, Needs: []string{"kind"}, May: []string{"key", "offset", "count"}, Levels: []Level{Group},
		Spec: "OrderedGroup!Answer", Code: "impl/replica: served"},
}

// rule finds the rule of an action.
func rule(a observe.Action) (Rule, bool) {
	for _, r := range Rules {
		if r.Action == a {
			return r, true
		}
	}
	return Rule{}, false
}

func actionNames() string {
	var names []string
	for _, r := range Rules {
		names = append(names, string(r.Action))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// judgedAt tells whether the action is part of a level.
func judgedAt(a observe.Action, l Level) bool {
	r, _ := rule(a)
	return slices.Contains(r.Levels, l)
}

// field is one of the fields that only some actions have.
type field struct {
	name string
	zero bool
	text string
}

func fieldsOf(e observe.Event) []field {
	return []field{
		{"op", e.Op == 0, fmt.Sprint(e.Op)},
		{"term", e.Term == 0, fmt.Sprint(e.Term)},
		{"kind", e.Kind == "", e.Kind},
		{"key", e.Key == "", e.Key},
		{"offset", e.Offset == 0, fmt.Sprint(e.Offset)},
		{"count", e.Count == 0, fmt.Sprint(e.Count)},
	}
}

// check holds an event to the header and to the rule of its action.
func (h Header) check(e observe.Event) error {
	if e.Replica < 1 || e.Replica > h.Replicas {
		return fmt.Errorf("replica %d: the header says 1 to %d", e.Replica, h.Replicas)
	}
	if int(e.Partition) >= h.Partitions {
		return fmt.Errorf("partition %d: the header says 0 to %d", e.Partition, h.Partitions-1)
	}
	if slices.Contains(unspecified, h.Design) {
		return nil // it has actions of its own
	}
	r, ok := rule(e.Action)
	if !ok {
		return fmt.Errorf("action %q: want one of %s", e.Action, actionNames())
	}
	for _, f := range fieldsOf(e) {
		switch {
		case f.zero && slices.Contains(r.Needs, f.name):
			return fmt.Errorf("%s without %s", e.Action, f.name)
		case !f.zero && !slices.Contains(r.Needs, f.name) && !slices.Contains(r.May, f.name):
			return fmt.Errorf("%s with %s %s: it has none", e.Action, f.name, f.text)
		}
	}
	if slices.Contains(r.Needs, "gen") && e.Generation == 0 {
		return fmt.Errorf("%s without gen", e.Action)
	}
	if r.Kinds != nil && !slices.Contains(r.Kinds, e.Kind) {
		return fmt.Errorf("%s of kind %q: want one of %s", e.Action, e.Kind, strings.Join(r.Kinds, ", "))
	}
	if e.Action == Materialize || e.Action == Commit {
		return checkEffect(e)
	}
	return nil
}

// checkEffect holds the fields of an effect to its kind.
func checkEffect(e observe.Event) error {
	takes := map[string][]string{
		"append": {"offset", "count"}, "store": {"key", "offset"}, "delete": {"key"}, "advance": {"offset"},
	}[e.Kind]
	for _, f := range fieldsOf(e) {
		if f.name != "offset" && f.name != "count" && f.name != "key" {
			continue
		}
		allowed := slices.Contains(takes, f.name)
		if !allowed && !f.zero {
			return fmt.Errorf("%s of kind %s with %s %s: it has none", e.Action, e.Kind, f.name, f.text)
		}
		if allowed && f.zero && f.name != "offset" {
			return fmt.Errorf("%s of kind %s without %s", e.Action, e.Kind, f.name)
		}
	}
	return nil
}
