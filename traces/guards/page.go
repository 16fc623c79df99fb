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
	b.WriteString(`# Guards that were changed

Every guard of the specification and of the trace modules is found in their text: a part of a conjunction that says
nothing of the next state, the condition of an IF, and what a set is restricted by. One is changed in a copy, and checks
are asked, the cheapest first, until one is red: TLC on each model that reads the module (the violated property or the
number of states differs from ` + "`spec/manifest.json`" + `); *traces of* a design, the samples of which each is
accepted, or rejected for its line; *model ≡ specification* and *replay*, tests that hold the specification to
` + "`model`" + ` and to the implementation. A property that models are held to is taken for true as a whole, and a model
has to miss it. What only bounds a model is left out.

` + "`make spec-mutations`" + ` asks for one guard of each module, ` + "`make spec-mutations GUARDS=all`" + ` for all; what was answered
for the same specification is not asked again. Both write this page, with what is answered so far.

| module | guards | changed | noticed | not noticed |
|---|---|---|---|---|
`)
	var all [4]int
	for _, m := range slices.Sorted(maps.Keys(guards)) {
		var n [4]int
		n[0] = len(guards[m])
		for _, g := range guards[m] {
			x, asked := a.Answer(g)
			if !asked {
				continue
			}
			n[1]++
			if x.NoticedBy != "" {
				n[2]++
			} else {
				n[3]++
			}
			rows.WriteString(a.row(&x))
		}
		for i := range n {
			all[i] += n[i]
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", m, n[0], n[1], n[2], n[3])
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d |\n", all[0], all[1], all[2], all[3])
	b.WriteString("\n| module | definition | guard | change | noticed by |\n|---|---|---|---|---|\n")
	b.WriteString(rows.String())
	return b.String()
}

func (a *Asker) row(x *Answer) string {
	by := x.NoticedBy + ": " + x.Reason
	if x.NoticedBy == "" {
		by = fmt.Sprintf("*not noticed*, checks that were asked: %d. %s", x.Asked, a.Why(x.Guard))
	}
	return fmt.Sprintf("| %s | %s | `%s` | %s | %s |\n", x.Module, x.Name, clip(x.Text), x.Change, cell(by))
}

// clip shortens a guard; in a table a bar would end its cell.
func clip(s string) string {
	const most = 90
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return cell(s)
}

func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
