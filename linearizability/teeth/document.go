package teeth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// notAsked is the cell of a layer that has not been asked yet.
const notAsked = "not asked"

// document is the matrix as docs/defects.md holds it.
type document struct {
	rows     []docRow
	controls []string
}

type docRow struct {
	name, design, property string
	cells                  map[string]string // by layer
}

// Markdown is the matrix for docs/defects.md. What was not asked stays as old, the
// text that stood there, says: other layers, what an interrupt cut off, and with some,
// in which only some defects were asked, the other defects and what was found without
// any.
func (m *Matrix) Markdown(old string, some bool) string {
	before := readDocument(old)
	now := document{controls: before.controls}
	for _, r := range before.rows {
		if some && !slices.ContainsFunc(m.Rows, func(x Row) bool { return x.Tooth.Name == r.name }) {
			now.rows = append(now.rows, r)
		}
	}
	for i := range m.Rows {
		t := &m.Rows[i].Tooth
		row := docRow{t.Name, t.Design, t.Property, map[string]string{}}
		for k, l := range Layers {
			text := m.Rows[i].Cells[k].Short()
			if t.must(l) && !slices.Contains(m.Layers, l) || m.Rows[i].Cells[k].cutOff() {
				text = cmp.Or(before.cell(t.Name, string(l)), notAsked)
			}
			row.cells[string(l)] = text
		}
		now.rows = append(now.rows, row)
	}
	slices.SortStableFunc(now.rows, func(a, b docRow) int {
		return cmp.Or(cmp.Compare(rank(a.design), rank(b.design)), cmp.Compare(a.name, b.name))
	})
	if !some {
		now.controls = nil
		for _, line := range before.controls {
			of, _, _ := strings.Cut(line, ":")
			if !slices.ContainsFunc(m.Controls, func(c Control) bool { return c.Of == of }) {
				now.controls = append(now.controls, line)
			}
		}
		for i := range m.Controls {
			now.controls = append(now.controls, m.Controls[i].String())
		}
		slices.Sort(now.controls)
	}
	return now.String()
}

// rank orders designs as the table does.
func rank(design string) int {
	return slices.Index([]string{"ordered", "advance", "reset-record"}, design)
}

func (d *document) cell(name, layer string) string {
	for _, r := range d.rows {
		if r.name == name {
			return r.cells[layer]
		}
	}
	return ""
}

// readDocument reads what String printed.
func readDocument(text string) (d document) {
	var header []string
	for _, line := range strings.Split(text, "\n") {
		if c, ok := strings.CutPrefix(line, "- "); ok {
			d.controls = append(d.controls, c)
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if header == nil {
			header = cells
			continue
		}
		if len(cells) != len(header) || len(cells) < 3 {
			continue
		}
		row := docRow{cells[0], cells[1], cells[2], map[string]string{}}
		for i := 3; i < len(cells); i++ {
			row.cells[header[i]] = cells[i]
		}
		d.rows = append(d.rows, row)
	}
	return d
}

func (d *document) String() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	h := (&Matrix{}).Header()
	line(h)
	line(slices.Repeat([]string{"---"}, len(h)))
	for _, r := range d.rows {
		cells := []string{r.name, r.design, r.property}
		for _, l := range Layers {
			cells = append(cells, cmp.Or(r.cells[string(l)], notAsked))
		}
		line(cells)
	}
	b.WriteString("\nWithout a defect:\n\n")
	for _, c := range d.controls {
		fmt.Fprintf(&b, "- %s\n", c)
	}
	return b.String()
}
