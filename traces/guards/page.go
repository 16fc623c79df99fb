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
that read the module are asked, those of each kind until one is red:

* **models**: the property that TLC finds violated, or the number of states, differs from `+"`spec/manifest.json`"+`. Models
  for which that plans more than %d seconds are not asked.
* **ties**, which hold the specification to something else. *Model ≡ specification*: every transition of the contract
  is one of `+"`model`"+`, and the other way round. *Traces of* a design: samples of traces of the implementation, of which each
  is accepted, or rejected as is told of it. *Replay of* a design: the implementation does what every transition of a model of
  one replica says. *Replay of groups*: and what drawn behaviours of three say.

A property that models are held to is taken for true as a whole, and a model has to miss it: no tie can. What only bounds
a model is left out.

`+"`make spec-mutations`"+` asks in each module for one guard after the other, from the middle one on, until one is noticed,
and not only because the text makes no sense any more: first models, then ties, each for at most %d guards if another
kind notices one. Of what ties do not notice models are asked, too. `+"`make spec-mutations GUARDS=all`"+` asks for all
guards, of those that models notice no ties. What was answered for the same specification is not asked again. Both write
this page, with what is answered so far.

| module | guards | changed | noticed by models | by ties | not noticed |
|---|---|---|---|---|---|
`, mostSeconds, most)
	var all [5]int
	for _, m := range slices.Sorted(maps.Keys(guards)) {
		var n [5]int
		n[0] = len(guards[m])
		for _, g := range guards[m] {
			x := a.Answer(g)
			if x.Model.Asked+x.Tie.Asked == 0 {
				continue
			}
			n[1]++
			if x.Model.By != "" {
				n[2]++
			}
			if x.Tie.By != "" {
				n[3]++
			}
			if a.Asked(g) && !x.Noticed() {
				n[4]++
			}
			rows.WriteString(a.row(&x))
		}
		for i := range n {
			all[i] += n[i]
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", m, n[0], n[1], n[2], n[3], n[4])
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d | %d |\n", all[0], all[1], all[2], all[3], all[4])
	b.WriteString("\n| module | definition | guard | change | models | ties |\n|---|---|---|---|---|---|\n")
	b.WriteString(rows.String())
	return b.String()
}

func (a *Asker) row(x *Answer) string {
	said := func(k Kind) string {
		switch n := x.of(k); {
		case n.By != "":
			return n.By + ": " + n.Reason
		case !a.askable(&x.Guard, k):
			return "—"
		case n.Asked == 0:
			return "not asked"
		default:
			return n.none()
		}
	}
	model, tie := clip(said(Model), 160), clip(said(Tie), 160)
	if a.Asked(x.Guard) && !x.Noticed() {
		model += ". *Not noticed:* " + cell(Why(x.Guard))
	}
	return fmt.Sprintf("| %s | %s | `%s` | %s | %s | %s |\n", x.Module, x.Name, clip(x.Text, 90), x.Change, model, tie)
}

// none is what checks say none of which is red.
func (n *Notice) none() string {
	if n.Late > 0 {
		return fmt.Sprintf("none of %d, %d without an answer in time", n.Asked, n.Late)
	}
	return fmt.Sprintf("none of %d", n.Asked)
}

// clip shortens what is said; in a table a bar would end its cell.
func clip(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return cell(s)
}

func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
