package guarantee

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/linearizability/faults"
)

// The tables by policy: rows that differ in nothing else become columns. A cell says
// under which classes a property is violated.

// policy is what a subject syncs before it acknowledges.
type policy struct{ Messages, Bookmarks string }

var policies = []policy{{persisted, persisted}, {replicated, persisted}, {persisted, replicated}, {replicated, replicated}}

func (p policy) String() string {
	if p.Messages == p.Bookmarks {
		return "both " + p.Messages
	}
	return fmt.Sprintf("messages %s, bookmarks %s", p.Messages, p.Bookmarks)
}

// mayLose says which acknowledged operations the loss of power may take.
func (p policy) mayLose() string {
	switch p {
	case policies[0]:
		return "nothing"
	case policies[1]:
		return "appends and deletions of records"
	case policies[2]:
		return "changes of bookmarks"
	}
	return "any of the last, a purge among them"
}

// family is a subject without its policy.
func (s Subject) family() Subject {
	s.Messages, s.Bookmarks = persisted, persisted
	return s
}

func (s Subject) under(p policy) Subject {
	s.Messages, s.Bookmarks = p.Messages, p.Bookmarks
	return s
}

// byPolicy writes the tables of those that run under several policies.
func (p *page) byPolicy() {
	p.line("\n## Policies\n")
	p.line("%s", readingPolicies)
	var done []Subject
	for _, s := range p.m.subjects() {
		of := s.family()
		if slices.Contains(done, of) {
			continue
		}
		done = append(done, of)
		var columns []policy
		for _, x := range policies {
			if slices.Contains(p.m.subjects(), of.under(x)) {
				columns = append(columns, x)
			}
		}
		if len(columns) > 1 {
			p.policiesOf(of, columns)
		}
	}
}

const readingPolicies = `The same cells, with the policies as columns. *holds*: under every class that the row
is run under; otherwise the classes under which the property is violated. What a
policy lets a loss of power take of what was acknowledged is no violation of
AckDurable; how many such operations were lost is told class by class.
`

func (p *page) policiesOf(of Subject, columns []policy) {
	p.line("\n### %s, by policy\n", of.Name())
	head, rule := "| property |", "|---|"
	for _, x := range columns {
		head += fmt.Sprintf(" [%s](#%s) |", x, anchor(of.under(x).Name()))
		rule += "---|"
	}
	p.line("%s\n%s", head, rule)
	row := func(name string, say func(Subject) string) {
		line := "| " + name + " |"
		for _, x := range columns {
			line += " " + say(of.under(x)) + " |"
		}
		p.line("%s", line)
	}
	for _, property := range of.Properties() {
		row(property, func(s Subject) string { return p.m.underAll(s, property) })
	}
	row("*what may be lost*", func(s Subject) string { return policy{s.Messages, s.Bookmarks}.mayLose() })
	if of.Design != "reset-record" {
		row("*acknowledged operations that were lost*", func(s Subject) string { return p.m.lost(s) })
	}
}

// underAll says what a property is under all classes together.
func (m *Matrix) underAll(s Subject, property string) string {
	var violated []string
	words := map[string]bool{}
	for _, b := range m.Blocks {
		if b.Subject != s || Unasked(s, b.Class) != "" {
			continue
		}
		c := m.Cell(b, property)
		w := c.word()
		words[w] = true
		if w == string(Violated) {
			violated = append(violated, string(b.Class))
		}
	}
	switch {
	case len(violated) > 0 && len(words) == 1:
		return "**violated**"
	case len(violated) > 0:
		return "**violated**: " + strings.Join(violated, ", ")
	}
	for _, w := range []string{string(Undecided), string(NotMet), "runs", "holds", "model"} {
		if words[w] {
			return w
		}
	}
	return "–"
}

// lost says how many acknowledged operations new incarnations lacked.
func (m *Matrix) lost(s Subject) string {
	var out []string
	for _, b := range m.Blocks {
		if b.Subject == s && b.Simulated != nil && b.Simulated.Lost > 0 {
			out = append(out, fmt.Sprintf("%s %d", b.Class, b.Simulated.Lost))
		}
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

// lostIn sums it up over some classes, all if there is none.
func (m *Matrix) lostIn(s Subject, classes []faults.Class) int {
	n := 0
	for _, b := range m.Blocks {
		if b.Subject == s && b.Simulated != nil && (classes == nil || slices.Contains(classes, b.Class)) {
			n += b.Simulated.Lost
		}
	}
	return n
}
