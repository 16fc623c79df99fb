package teeth

import (
	"fmt"
)

// Short is a cell in a few words: what it takes to see it.
func (c *Cell) Short() string {
	took := ""
	switch {
	case c.Layer == Spec && c.States > 0:
		took = fmt.Sprintf(", %d states", c.States)
	case c.Layer == Scenario && c.Runs > 0:
		took = ", " + count(c.Runs, "play")
	case c.Layer == Trace && c.Runs > 0:
		took = ", " + count(c.Runs, "trace")
	case c.Runs > 0:
		took = ", " + count(c.Runs, "run")
	}
	switch c.Outcome {
	case NotExpected:
		return "-"
	case Caught:
		if c.Layer == Trace {
			return "caught at " + c.Property + took + ": " + c.Condition
		}
		return "caught: " + c.Property + took
	case Other:
		return "WRONG: " + c.Property + took
	case Missed:
		return "MISSED" + took
	}
	return string(c.Outcome) + took
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Header is the first line of the matrix.
func (m *Matrix) Header() []string {
	h := []string{"defect", "design", "breaks"}
	for _, l := range Layers {
		h = append(h, string(l))
	}
	return h
}

// Text is one line of it, in the order of Header.
func (r *Row) Text() []string {
	line := []string{r.Tooth.Name, r.Tooth.Design, r.Tooth.Property}
	for i := range r.Cells {
		line = append(line, r.Cells[i].Short())
	}
	return line
}

// String is what a control found, in one line.
func (c *Control) String() string {
	what := map[string]string{string(Spec): "model", string(Trace): "trace", string(Scenario): "play"}[c.Of]
	if what == "" {
		what = "run"
	}
	return fmt.Sprintf("%s: %s, %s", c.Of, count(c.Runs, what), c.Outcome)
}

// Sum counts what had to be caught.
func (m *Matrix) Sum() (must, caught, missed, undecided int) {
	for i := range m.Rows {
		for _, c := range m.Rows[i].Cells {
			switch c.Outcome {
			case NotExpected:
				continue
			case Caught:
				caught++
			case Undecided:
				undecided++
			default:
				missed++
			}
			must++
		}
	}
	return
}
