package guards

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Page is docs/spec-mutations.md: of each module how many guards were asked for, and
// every answer.
func (a *Asker) Page(guards map[string][]Guard) string {
	var b, rows strings.Builder
	fmt.Fprintf(&b, `# Guards that were changed

Every guard of the specification and of the trace modules is found in their text: a part of a conjunction that says
nothing of the next state, the condition of an IF, and what a set is restricted by. One is changed in a copy, and checks
that read the module are asked until one is red: ties first, those that read the fewest modules before others. A check
counts if it is green without the change, and not red only because TLC cannot evaluate the change.

* **Ties** hold the specification to something else. *Traces of* a design: samples of traces of the implementation, of
  which each is accepted, or rejected as is told of it. *Replay of* a model of a group or of one replica: the
  implementation does what drawn behaviours of three replicas say, or every transition of one. *Model ≡ specification*: every
  transition of the contract is one of `+"`model`"+`, and the other way round.
* **Models**: the property that TLC finds violated, or the number of states, differs from `+"`spec/manifest.json`"+`. Models
  for which that plans more than %d seconds are not asked.

A property that models are held to is taken for true as a whole, and a model has to miss it: no tie can. What only bounds
a model is left out.

`+"`make spec-mutations`"+` changes guards of each module, from the middle one on, until one is noticed: ties are asked for
%d guards, each tie for all of them before the next one is; models only if no tie reads the module, or none notices
these, or most guards are properties.
`+"`make spec-mutations GUARDS=all`"+` asks for all guards, of each first ties and then models; `+"`GUARDS=Ordered,Advance`"+` for
those of two modules. What a check answered is not asked again while the modules, configurations and samples that it reads
are the same. This page has all that is answered so far; where nobody notices a change it says why that does no harm.

| module | guards | asked for | noticed by ties | by models | cannot be evaluated | not noticed |
|---|---|---|---|---|---|---|
`, mostSeconds, few)
	var all [6]int
	for _, m := range slices.Sorted(maps.Keys(guards)) {
		n := [6]int{len(guards[m])}
		for i := range guards[m] {
			g := &guards[m][i]
			x := a.Answer(g)
			if x.Asked == 0 {
				continue
			}
			n[1]++
			switch {
			case x.Kind == Tie:
				n[2]++
			case x.Kind == Model:
				n[3]++
			case x.Left == 0 && x.Senseless > 0:
				n[4]++
			case x.Unnoticed():
				n[5]++
			}
			fmt.Fprintf(&rows, "| %s | %s | `%s` | %s | %s |\n", m, g.Name, cell(clip(g.Text, 90)), g.Change, cell(x.said(g)))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", m, n[0], n[1], n[2], n[3], n[4], n[5])
		for i := range n {
			all[i] += n[i]
		}
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d | %d | %d |\n", all[0], all[1], all[2], all[3], all[4], all[5])
	b.WriteString("\n| module | definition | guard | change | noticed by |\n|---|---|---|---|---|\n")
	b.WriteString(rows.String())
	return b.String()
}

// said is who notices a change, or how many do not.
func (x *Answer) said(g *Guard) string {
	if x.By != "" {
		return fmt.Sprintf("%s: %s", x.By, clip(x.Says, 160))
	}
	out := fmt.Sprintf("none of %d", x.Asked)
	if x.Senseless > 0 {
		out += fmt.Sprintf("; %s: %d", senseless, x.Senseless)
	}
	if x.Left > 0 {
		out += fmt.Sprintf("; not asked: %d", x.Left)
	}
	if x.Unnoticed() {
		out += ". " + Why(g)
	}
	return out
}

// clip shortens what is said.
func clip(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// cell is text in a table, where a bar would end its cell.
func cell(s string) string {
	return strings.ReplaceAll(s, "|", `\|`)
}
