package traces

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Rule says what an event of one action carries beyond time, replica,
// partition, action and the state after it (gen, applied, start, end), which
// all events have. A field that a rule does not name is zero.
type Rule struct {
	Action observe.Action
	// Needs and May name the fields that are, or may be, other than zero.
	Needs, May []string
	Kinds      []string // legal values of kind, if it has one
	// Local and Group are the fields of the record that the trace module of that
	// level reads (record in module.go); nil if the event is not judged there.
	Local, Group []string
	Spec         string // the specification's action
	Code         string // where the implementation takes the step
}

// words splits a list. It is never nil: an event may have no field at all.
func words(list string) []string { return append([]string{}, strings.Fields(list)...) }

func (r *Rule) fields(l Level) []string {
	if l == Local {
		return r.Local
	}
	return r.Group
}

// Kinds of effect, and of ops.
var (
	effectKinds = words("append store delete advance other")
	opKinds     = words("append store delete advance purge other")
	bootKinds   = words("none begun complete")
)

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
		{"front", e.Front == 0, fmt.Sprint(e.Front)},
		{"last", e.Last == 0, fmt.Sprint(e.Last)},
		{"resetting", e.Resetting == 0, fmt.Sprint(e.Resetting)},
		{"boundary", e.Boundary == 0, fmt.Sprint(e.Boundary)},
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
	d := findDesign(h.Design)
	r, ok := d.rule(e.Action)
	if !ok {
		return fmt.Errorf("action %q: want one of %s", e.Action, d.actionNames())
	}
	for _, f := range fieldsOf(e) {
		switch {
		case f.zero && slices.Contains(r.Needs, f.name):
			return fmt.Errorf("%s without %s", e.Action, f.name)
		case !f.zero && !slices.Contains(r.Needs, f.name) && !slices.Contains(r.May, f.name):
			return fmt.Errorf("%s with %s %s: it has none", e.Action, f.name, f.text)
		}
	}
	if r.down() && (e.Generation != 0 || e.Applied != 0 || e.Start != 0 || e.End != 0) {
		return fmt.Errorf("%s shows gen=%d applied=%d start=%d end=%d: a machine that is down shows nothing", e.Action, e.Generation, e.Applied, e.Start, e.End)
	}
	if slices.Contains(r.Needs, "gen") && e.Generation == 0 {
		return fmt.Errorf("%s without gen", e.Action)
	}
	if r.Kinds != nil && !slices.Contains(r.Kinds, e.Kind) {
		return fmt.Errorf("%s of kind %q: want one of %s", e.Action, e.Kind, strings.Join(r.Kinds, ", "))
	}
	if e.Action == NewIncarnation {
		if _, err := op.ParsePosition(e.Key); err != nil {
			return fmt.Errorf("%s: %w", e.Action, err)
		}
		if e.Count > int(e.Incarnation) {
			return fmt.Errorf("%s: incarnation %d begins in incarnation %d", e.Action, e.Count, e.Incarnation)
		}
	}
	switch {
	case r.asks() && e.Kind == "append" && e.Offset != 0:
		return fmt.Errorf("%s of kind %s with offset %d: it has none before it takes effect", e.Action, e.Kind, e.Offset)
	case r.takesEffect():
		return checkEffect(e)
	case e.Action == Answer:
		return checkAnswer(e)
	}
	return nil
}

// refusals are the kinds of an Answer that refuses: the codes of replies.
var refusals = func() (out []string) {
	for c := op.OK + 1; c <= op.BadRequest; c++ {
		out = append(out, c.String())
	}
	return out
}()

// checkAnswer holds the fields of an answer to its kind.
func checkAnswer(e observe.Event) error {
	switch {
	case e.Kind == "poll":
	case e.Kind == "get-bookmark" && e.Key == "":
		return fmt.Errorf("%s of kind %s without key", e.Action, e.Kind)
	case e.Kind == "list-offsets" && e.Key != "":
		return fmt.Errorf("%s of kind %s with key %s: it has none", e.Action, e.Kind, e.Key)
	case e.Kind != "get-bookmark" && e.Kind != "list-offsets" && !slices.Contains(refusals, e.Kind):
		return fmt.Errorf("%s of kind %q: want poll, get-bookmark, list-offsets, or the code of a refusal", e.Action, e.Kind)
	case e.Count != 0 && e.Kind != "gone":
		return fmt.Errorf("%s of kind %s with count %d: it has none", e.Action, e.Kind, e.Count)
	}
	return nil
}

// down tells that there is no state after the event.
func (r *Rule) down() bool {
	return r.Action == ProcessCrash || r.Action == PowerLoss || r.Action == BeginSequence
}

// asks tells that the event says what was asked for, and not yet what came of it.
func (r *Rule) asks() bool {
	return slices.Contains([]observe.Action{Commit, Hold, Release, Refuse}, r.Action)
}

// takesEffect tells whether kind says which of the other fields there are.
func (r *Rule) takesEffect() bool { return len(r.Kinds) > 0 && r.Kinds[0] == effectKinds[0] }

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
