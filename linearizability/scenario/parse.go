package scenario

import (
	"slices"
	"strconv"
	"strings"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/faultfs"
	"purgelab/linearizability/check"
	"purgelab/linearizability/invariant"
	"purgelab/traces/behaviours"
)

// Parse reads a scenario. An error is an *Error.
func Parse(file, text string) (*Scenario, error) {
	s := &Scenario{File: file, Replicas: 3, Partitions: 1, Checkpoint: 1000, Segment: 4096, Journal: 4096}
	var messages, bookmarks []replica.Durability
	inSteps := false
	seen := map[string]bool{}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		r := &reader{file: file, line: i + 1, text: l}
		t := strings.TrimSpace(l)
		var err error
		switch {
		case strings.HasPrefix(t, "#"):
		case t == "":
			inSteps = inSteps || len(seen) > 0
		case !inSteps:
			err = s.header(r, seen, map[string]*[]replica.Durability{"messages": &messages, "bookmarks": &bookmarks})
		case strings.HasPrefix(t, "!!"):
			err = s.wrong(r, strings.TrimSpace(t[2:]))
		case strings.HasPrefix(t, "~~"):
			err = s.seen(r, strings.TrimSpace(t[2:]))
		default:
			err = s.step(r)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, m := range orPersisted(messages) {
		for _, b := range orPersisted(bookmarks) {
			s.Policies = append(s.Policies, replica.Policy{Messages: m, Bookmarks: b})
		}
	}
	end := &reader{file: file, line: len(lines), text: lines[len(lines)-1]}
	for _, name := range []string{"scenario", "says", "design"} {
		if !seen[name] {
			return nil, end.bad(1, "the header lacks %q", name+":")
		}
	}
	switch {
	case s.powers && len(s.Designs) > 1 && slices.Contains(s.Designs, replica.ResetRecord) && slices.ContainsFunc(s.Policies, func(p replica.Policy) bool { return p != replica.Policy{} }):
		return nil, end.bad(1, "replicated: after a loss of power reset-record begins op numbers anew, the others a new incarnation; want a file for each")
	case s.recreate > 0 && slices.ContainsFunc(s.Ways(), s.forgetful):
		return nil, end.bad(1, "recreate: want messages and bookmarks persisted, and no disk replaced")
	case s.replaces && slices.Contains(s.Designs, replica.ResetRecord):
		return nil, end.bad(1, "replace-disk: reset-record has no answer to it; want another design")
	case s.Variants != (replica.Variants{}) && (len(s.Designs) != 1 || s.Designs[0] != replica.ResetRecord):
		return nil, end.bad(1, "variant %s: want design reset-record alone", s.Variants)
	case slices.ContainsFunc(s.Refuses, func(id int) bool { return id > s.Replicas }):
		return nil, end.bad(1, "refuses: want replicas up to r%d", s.Replicas)
	case s.driven && (slices.ContainsFunc(s.Steps, func(x Step) bool { return x.act == nil }) || s.Replicas == 5 || s.Partitions != 1 || len(s.Ways()) != 1 || s.Replicas == 1 && s.Policies[0] != replica.Policy{} && s.Designs[0] != replica.ResetRecord || s.Variants != replica.Variants{} && s.Replicas > 1):
		return nil, end.bad(1, "take: want nothing but actions, by one replica or three of one partition under one design, by one under the policies persisted, but of reset-record, of which one alone may be a variant")
	case len(s.Steps) == 0:
		return nil, end.bad(1, "there is no step")
	case (s.Defect == "") != (s.Red == ""):
		return nil, end.bad(1, "want both \"defect:\" and \"red:\" in the header, or neither")
	case s.Defect != "" && !s.driven && !slices.ContainsFunc(s.Steps, func(x Step) bool { return x.Want != x.Wrong }):
		return nil, end.bad(1, "no line with !! says what the defect %s changes", s.Defect)
	}
	return s, nil
}

func orPersisted(list []replica.Durability) []replica.Durability {
	if len(list) == 0 {
		return []replica.Durability{replica.Persisted}
	}
	return list
}

// header reads one line of the form name: value; the policies that it names go into
// policies.
func (s *Scenario) header(r *reader, seen map[string]bool, policies map[string]*[]replica.Durability) error {
	name, value, ok := strings.Cut(r.text, ":")
	at := len(name) + 2
	for at <= len(r.text) && r.text[at-1] == ' ' {
		at++
	}
	value = strings.TrimSpace(value)
	if !ok || value == "" {
		return r.bad(1, "want name: value, got %q", r.text)
	}
	if seen[name] {
		return r.bad(1, "%q is there twice", name)
	}
	seen[name] = true
	switch name {
	case "scenario":
		s.Name = value
	case "says":
		s.Says = value
	case "origin":
		s.Origin = value
	case "replicas":
		if !slices.Contains([]string{"1", "3", "5"}, value) {
			return r.bad(at, "replicas %q: want 1, 3 or 5", value)
		}
		s.Replicas = int(value[0] - '0')
	case "partitions":
		if !slices.Contains([]string{"1", "2", "3", "4"}, value) {
			return r.bad(at, "partitions %q: want 1 to 4", value)
		}
		s.Partitions = int(value[0] - '0')
	case "design":
		for _, w := range strings.Fields(value) {
			d, err := replica.ParseDesign(w)
			if err != nil || !slices.Contains(playable, d) {
				return r.bad(strings.Index(r.text, w)+1, "design %q: want any of %v", w, playable)
			}
			s.Designs = append(s.Designs, d)
		}
	case "variant":
		v, err := replica.ParseVariants(strings.Join(strings.Fields(value), ","))
		if err != nil {
			return r.bad(at, "%v", err)
		}
		s.Variants = v
	case "defect":
		if _, err := defect.Parse(value); err != nil {
			return r.bad(at, "%v", err)
		}
		s.Defect = value
	case "red":
		if !known(value) {
			return r.bad(at, "property %q: want %s or one of %v", value, check.Property, properties)
		}
		s.Red = value
	case "listed":
		for _, w := range strings.Fields(value) {
			if !known(w) {
				return r.bad(strings.Index(r.text, w)+1, "property %q: want %s or one of %v", w, check.Property, properties)
			}
			s.Listed = append(s.Listed, w)
		}
	case "messages", "bookmarks":
		for _, w := range strings.Fields(value) {
			d, err := replica.ParseDurability(w)
			if err != nil {
				return r.bad(strings.Index(r.text, w)+1, "%v", err)
			}
			*policies[name] = append(*policies[name], d)
		}
	case "refuses":
		r.words(strings.Repeat(" ", at-1) + r.text[at-1:])
		for r.peek().text != "" {
			id, err := r.replica(&Scenario{Replicas: 5})
			if err != nil {
				return err
			}
			s.Refuses = append(s.Refuses, id)
		}
	case "checkpoint", "segment", "journal", "compact":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return r.bad(at, "%s %q: want a number from 1", name, value)
		}
		*map[string]*int{"checkpoint": &s.Checkpoint, "segment": &s.Segment, "journal": &s.Journal, "compact": &s.Compact}[name] = n
	default:
		return r.bad(1, "%q: want one of scenario, says, origin, replicas, partitions, design, variant, messages, bookmarks, defect, red, listed, refuses, checkpoint, segment, journal, compact", name)
	}
	return nil
}

// refuses tells whether a rule makes a disk refuse calls, and no more.
func refuses(rule string) bool {
	return slices.ContainsFunc([]faultfs.Action{faultfs.FailBefore, faultfs.FailAfter, faultfs.NoSpace, faultfs.ShortWrite}, func(a faultfs.Action) bool {
		return strings.Contains(rule, string(a))
	})
}

// known tells whether a property is one that is judged.
func known(property string) bool {
	return property == check.Property || property == Reclaimed || slices.Contains(invariant.For(replica.ResetRecord), property) || slices.Contains(invariant.Installs, property)
}

// properties are what a scenario may name beside check.Property.
var properties = slices.Concat(invariant.Names, invariant.Installs)

// playable are the designs that the world knows.
var playable = []replica.Design{replica.Ordered, replica.ResetRecord, replica.Advance}

const arrow = "->"

// step reads what is done, and after an arrow what must be answered.
func (s *Scenario) step(r *reader) error {
	what, want, asks := strings.Cut(r.text, arrow)
	r.words(what)
	on, err := r.partition(s)
	if err != nil {
		return err
	}
	client := mainClient
	if w := r.peek(); strings.HasSuffix(w.text, ":") && len(w.text) > 1 {
		client = strings.TrimSuffix(w.text, ":")
		r.at++
	}
	verb, err := r.next("a step")
	if err != nil {
		return err
	}
	v, ok := verbs[verb.text]
	if !ok {
		return r.bad(verb.column, "step %q: want one of %v", verb.text, verbNames())
	}
	if !slices.Contains(s.clients, client) {
		s.clients = append(s.clients, client)
	}
	var do func(*world) string
	var act *behaviours.Act
	if verb.text == "take" {
		act, err = readTake(r, s)
	} else {
		do, err = v.read(r, s, slices.Index(s.clients, client))
	}
	if err != nil {
		return err
	}
	s.powers = s.powers || strings.Contains(what, "power-loss")
	s.damages = s.damages || verb.text == "rot" || verb.text == "fault" && !refuses(what)
	now := r.flag("at-once")
	if err := r.end(); err != nil {
		return err
	}
	want = strings.TrimSpace(want)
	switch {
	case v.answers && want == "":
		return r.bad(len(r.text)+1, "%s: want %s and the answer that must come", verb.text, arrow)
	case !v.answers && asks:
		return r.bad(len(what)+1, "%s has no answer", verb.text)
	}
	s.Steps = append(s.Steps, Step{Line: r.line, Text: strings.TrimSpace(what), Want: want, Wrong: want, asks: v.asks, counts: verb.text == "files", act: act, do: func(w *world) string {
		got := do(w.all[on])
		if !now {
			w.settle()
		}
		return got
	}})
	return nil
}

// wrong reads what the defect makes of the step above.
func (s *Scenario) wrong(r *reader, text string) error {
	at := strings.Index(r.text, "!!") + 1
	switch {
	case s.Defect == "":
		return r.bad(at, "a line with !! wants \"defect:\" in the header")
	case len(s.Steps) == 0 || s.Steps[len(s.Steps)-1].Want == "":
		return r.bad(at, "a line with !! wants a step with an answer above it")
	case text == "" || text == s.Steps[len(s.Steps)-1].Want:
		return r.bad(at+2, "want another answer than the line above")
	}
	s.Steps[len(s.Steps)-1].Wrong = text
	return nil
}

// seen reads what a report says that the step above was answered.
func (s *Scenario) seen(r *reader, text string) error {
	at := strings.Index(r.text, "~~") + 1
	if len(s.Steps) == 0 || s.Steps[len(s.Steps)-1].Want == "" {
		return r.bad(at, "a line with ~~ wants a step with an answer above it")
	}
	step := &s.Steps[len(s.Steps)-1]
	switch {
	case !step.asks:
		return r.bad(at, "a line with ~~ wants an answer to a client above it")
	case step.Wrong != step.Want || step.Seen != "":
		return r.bad(at, "the step has another answer already")
	case text == "" || text == step.Want:
		return r.bad(at+2, "want another answer than the line above")
	}
	step.Seen = text
	return nil
}
