package guarantee

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"purgelab/linearizability/faults"
)

// Question is one that teams of brokers argue about, with the answer in sentences
// that point at cells.
type Question struct {
	Asks   string
	Claims []Claim
}

// Claim is a sentence and what the cells must say for it to be true.
type Claim struct {
	Says  string
	Cells []Ref
}

// Ref points at cells: those of a subject, of some classes (all that were asked, if
// nil), of some properties (all, if nil). Each must have the outcome; with Somewhere,
// each property under one of the classes at least. Lost says whether acknowledged
// operations were lost in the runs of these classes.
type Ref struct {
	Subject    Subject
	Classes    []faults.Class
	Properties []string
	Outcome    Outcome
	Somewhere  bool
	Lost       Loss
}

// Loss of what was acknowledged.
type Loss string

const (
	Any     Loss = "" // nothing is said
	Some    Loss = "some"
	Nothing Loss = "nothing"
)

// checkLost tells what was lost instead.
func (m *Matrix) checkLost(r Ref) error {
	if n := m.lostIn(r.Subject, r.Classes); r.Lost != Any && (n > 0) != (r.Lost == Some) {
		return fmt.Errorf("%s, %v: %d acknowledged operations were lost, not %s", r.Subject.Name(), r.Classes, n, r.Lost)
	}
	return nil
}

// check tells what the cells say instead.
func (m *Matrix) check(r Ref) error {
	properties := r.Properties
	if properties == nil {
		properties = r.Subject.Properties()
	}
	all := 0
	for _, property := range properties {
		met, asked := 0, 0
		for _, b := range m.Blocks {
			if b.Subject != r.Subject || r.Classes != nil && !slices.Contains(r.Classes, b.Class) {
				continue
			}
			c := m.Cell(b, property)
			word := c.word()
			if word != "–" {
				asked++
			}
			switch {
			case word == string(r.Outcome) || r.Outcome == Holds && (word == "runs" || word == "model"):
				met++
			case r.Somewhere || word == "–" && (r.Classes == nil || r.Properties == nil):
			default:
				return fmt.Errorf("%s, %s, %s: %s, not %s", b.Name(), b.Class, property, word, r.Outcome)
			}
		}
		if all += met; r.Properties == nil && asked == 0 {
			continue // of what nobody was asked nothing is said
		}
		if met == 0 {
			return fmt.Errorf("%s, %v, %s: no cell says %s", r.Subject.Name(), r.Classes, property, r.Outcome)
		}
	}
	if all == 0 {
		return fmt.Errorf("%s, %v: no cell says %s", r.Subject.Name(), r.Classes, r.Outcome)
	}
	return nil
}

func (r Ref) String() string {
	property, class := "every property", "every class"
	if r.Properties != nil {
		property = strings.Join(r.Properties, ", ")
	}
	switch {
	case r.Classes != nil:
		var names []string
		for _, c := range r.Classes {
			names = append(names, string(c))
		}
		class = strings.Join(names, ", ")
	case r.Somewhere:
		class = "some class"
	}
	out := fmt.Sprintf("[%s](#%s): %s, %s: %s", r.Subject.Name(), anchor(r.Subject.Name()), property, class, r.Outcome)
	if r.Lost != Any {
		out += fmt.Sprintf(", and of what was acknowledged %s is lost", r.Lost)
	}
	return out
}

// anchor of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ReplaceAll(heading, ",", ""), " ", "-")
}

// answers writes them, and fails at the first sentence that is not true.
func (p *page) answers(list []Question) error {
	p.line("\n## Answers\n")
	for _, q := range list {
		p.line("### %s\n", q.Asks)
		for _, c := range q.Claims {
			var where []string
			for _, r := range c.Cells {
				if err := errors.Join(p.m.check(r), p.m.checkLost(r)); err != nil {
					return fmt.Errorf("answer %q: %w", c.Says, err)
				}
				where = append(where, r.String())
			}
			p.line("* %s\n  (%s)", c.Says, strings.Join(where, "; "))
		}
		p.line("")
	}
	return nil
}
