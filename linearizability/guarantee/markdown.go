package guarantee

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/linearizability/faults"
)

// Markdown is the page: a table for each subject with the evidence of what is
// violated, then the answers. It is an error if an answer says what the cells do
// not. command is the one that wrote it.
func (m *Matrix) Markdown(command string) (string, error) {
	p := &page{m: m}
	p.line("# Guarantees")
	p.line("")
	p.line("What a purge guarantees, by design, under each class of faults. Written by `%s`; nothing here is written by hand.", command)
	p.line("")
	p.line(reading, m.Runs)
	p.line("")
	for _, c := range faults.Matrix {
		p.line("* **%s**: %s", c, says[c])
	}
	p.line("")
	p.line("The answers to the three questions that these tables are for stand [at the end](#answers),\nand what each policy keeps is put together [before them](#policies).")
	for _, s := range m.subjects() {
		p.subject(s)
	}
	p.byPolicy()
	if list := m.Problems(); len(list) > 0 {
		p.line("\n## What is not settled\n")
		for i := range list {
			p.line("* %s: %s", list[i].Verdict, short(list[i].String()))
		}
	}
	err := p.answers(Answers)
	return p.b.String(), err
}

const reading = `Two halves answer independently. TLC checks bounded models of the design with the
faults of the class, and the simulator makes %d seeded runs of the implementation
under drawn faults of the class, besides the kept plans of
` + "`" + Folder + "`" + `. A cell says:

* *holds*: in both;
* *runs*: holds in all runs; no model says this property of these faults;
* *model*: holds in the model; runs do not judge it by this name, or do not make the class;
* **violated**, with the number of the evidence below the table. What is violated
  without any fault is violated under every class;
* *not met*: no fault of the class took effect in any run, so nothing is known;
* –: neither was asked.

A violation in simulation where the model says that the property holds, or one in
the model that no run shows, fails the command and is told below. Three replicas, or five
where a minority or a majority loses power. The classes:
`

// says of each class what is drawn.
var says = map[faults.Class]string{
	faults.None:          "nothing breaks",
	faults.Retry:         "answers get lost and requests arrive twice, so purges are asked for again",
	faults.LeaderChange:  "the network cuts the leader off until another one leads",
	faults.OneProcess:    "the process of one machine dies, at a step of a purge most often",
	faults.PowerOne:      "one machine loses power, and with it any part of what was not synced",
	faults.PowerMinority: "two machines of five lose power at one instant",
	faults.PowerMajority: "three of five do",
	faults.PowerAll:      "all do",
	faults.DirSync:       "syncs of directories fail, with or without effect",
	faults.SyncError:     "syncs of files fail, and what was to be synced is lost",
	faults.Damaged:       "a small durable record rots or is torn; a replica that refuses it keeps its promise",
	faults.Second:        "a machine crashes in a purge and once more in the recovery",
	faults.Topic:         "a machine crashes when one partition of a topic is purged there and another is not",
	faults.Transfer:      "a replica falls so far behind that it must take another's state, and a step of that is broken",
}

// Command that writes a page.
func (m *Matrix) Command(page string) string {
	if m.Runs == DefaultRuns {
		return "purgelab matrix --out " + page
	}
	return fmt.Sprintf("purgelab matrix --runs %d --out %s", m.Runs, page)
}

type page struct {
	m *Matrix
	b strings.Builder
	n int // numbers of evidence given out
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// subject writes the table of one subject and its evidence.
func (p *page) subject(s Subject) {
	p.line("\n## %s\n", s.Name())
	p.line("Messages %s, bookmarks %s, positions %s.\n", s.Messages, s.Bookmarks, s.Positions)
	classes := p.m.classes()
	head, rule := "| property |", "|---|"
	for _, c := range classes {
		head += " " + string(c) + " |"
		rule += "---|"
	}
	p.line("%s\n%s", head, rule)
	var evidence []string
	for _, property := range s.Properties() {
		var cells []Cell
		for _, c := range classes {
			if b := p.m.Block(s, c); b != nil {
				cells = append(cells, p.m.Cell(b, property))
			}
		}
		mark := ""
		if slices.ContainsFunc(cells, func(c Cell) bool { return c.word() == string(Violated) }) {
			p.n++
			mark = fmt.Sprintf(" [%d](#e%d)", p.n, p.n)
			evidence = append(evidence, p.evidence(property, cells)...)
		}
		row := "| " + property + " |"
		for _, c := range cells {
			if w := c.word(); w == string(Violated) {
				row += " **violated**" + mark + " |"
			} else {
				row += " " + w + " |"
			}
		}
		p.line("%s", row)
	}
	row := "| *runs in which a fault took effect* |"
	for _, c := range classes {
		if b := p.m.Block(s, c); b == nil || b.Simulated == nil {
			row += " – |"
		} else {
			row += fmt.Sprintf(" %d of %d |", b.Simulated.Met, b.Simulated.Runs)
		}
	}
	p.line("%s", row)
	if why := p.unasked(s, classes); why != "" {
		p.line("\n%s", why)
	}
	if len(evidence) > 0 {
		p.line("\nEvidence:\n")
		for _, e := range evidence {
			p.line("%s", e)
		}
	}
}

// word is what the table says.
func (c *Cell) word() string {
	tlc, sim := c.TLC.Outcome, c.Simulation.Outcome
	switch {
	case c.Violated():
		return string(Violated)
	case tlc == Undecided || sim == Undecided:
		return string(Undecided)
	case sim == NotMet:
		return string(NotMet)
	case tlc == Holds && sim == Holds:
		return "holds"
	case sim == Holds:
		return "runs"
	case tlc == Holds:
		return "model"
	}
	return "–"
}

// evidence of one property: of a violation without faults that, else class by class;
// what is the same is said once.
func (p *page) evidence(property string, cells []Cell) []string {
	out := []string{fmt.Sprintf("<a id=\"e%d\"></a>**%d** %s", p.n, p.n, property), ""}
	said := map[string]bool{}
	add := func(c faults.Class, f Finding, how string) {
		if f.Outcome != Violated || said[f.Evidence] {
			return
		}
		said[f.Evidence] = true
		out = append(out, fmt.Sprintf("* %s, %s: %s", c, fmt.Sprintf(how, f.Evidence), short(f.Text)))
	}
	for i := range cells {
		c, plain := &cells[i], &cells[0]
		if i == 0 || plain.Class != faults.None || plain.Simulation.Outcome != Violated {
			add(c.Class, c.Simulation, "`%s`")
		}
		if i == 0 || plain.Class != faults.None || plain.TLC.Outcome != Violated {
			add(c.Class, c.TLC, "TLC, %s")
		}
	}
	return append(out, "")
}

// unasked says why classes were not run.
func (p *page) unasked(s Subject, classes []faults.Class) string {
	var out []string
	for _, c := range classes {
		why := Unasked(s, c)
		if why == "" {
			continue
		}
		if i := slices.IndexFunc(out, func(o string) bool { return strings.HasSuffix(o, ": "+why+".") }); i >= 0 {
			out[i] = strings.Replace(out[i], ": ", ", "+string(c)+": ", 1)
			continue
		}
		out = append(out, fmt.Sprintf("Not run, %s: %s.", c, why))
	}
	return strings.Join(out, "\n")
}

// longest a text may be, in characters.
const longest = 260

// clip makes one line of a text, and not too long a one.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + " …"
	}
	return s
}

// short is a text on one line, without what Markdown takes for its own.
func short(s string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_").Replace(clip(s))
}
