package tlc

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Table prints a counterexample: one row per step with its action and only
// what the step changed.
//
//	step  action         changed
//	   1  (start)        on = FALSE
//	                     presses = [ann |-> 0, bob |-> 0]
//	   2  Press          on: FALSE → TRUE
//	                     presses.ann: 0 → 1
//
// A record in a variable called "last" is shown with the action, as its
// parameters. Variables that begin with ghost_ exist for the proof and are left
// out after the first step, unless nothing else changed.
func Table(steps []Step) string {
	type row struct{ step, action, changed string }
	rows := []row{{"step", "action", "changed"}}
	wide := len("action")
	for i, s := range steps {
		var changes []string
		for _, c := range stepChanges(steps, i) {
			changes = append(changes, clip(c.String(), 160))
		}
		if len(changes) == 0 {
			changes = []string{stillText(s)}
		}
		action := actionText(steps, i)
		wide = max(wide, min(utf8.RuneCountInString(action), 60))
		for j, c := range changes {
			if j == 0 {
				rows = append(rows, row{fmt.Sprint(s.Number), action, c})
			} else {
				rows = append(rows, row{"", "", c})
			}
		}
	}
	var b strings.Builder
	for _, r := range rows {
		pad := max(wide-utf8.RuneCountInString(r.action), 0)
		fmt.Fprintf(&b, "%4s  %s%s  %s\n", r.step, r.action, strings.Repeat(" ", pad), r.changed)
	}
	return b.String()
}

// stepChanges is what step i shows: all variables of the first step, later
// those that changed.
func stepChanges(steps []Step, i int) []Change {
	var before Step
	if i > 0 {
		before = steps[i-1]
	}
	var shown, ghosts []Change
	for _, c := range Diff(before, steps[i]) {
		switch {
		case isLast(c.Path):
			if i == 0 {
				continue
			}
			if v, _ := steps[i].Lookup("last"); v.Shape == Record || v.Shape == Tuple {
				continue // shown with the action
			}
			shown = append(shown, c)
		case strings.HasPrefix(c.Path, "ghost_"):
			ghosts = append(ghosts, c)
		default:
			shown = append(shown, c)
		}
	}
	if len(shown) == 0 && i > 0 {
		return ghosts
	}
	return shown
}

func isLast(path string) bool {
	return path == "last" || strings.HasPrefix(path, "last.") || strings.HasPrefix(path, "last[")
}

func stillText(s Step) string {
	if s.Back > 0 {
		return fmt.Sprintf("back to step %d, for ever", s.Back)
	}
	if s.Action == "Stuttering" {
		return "nothing more happens, for ever"
	}
	return "(nothing)"
}

// actionText is the action's name, with the fields of last if it is a record
// that this step wrote.
func actionText(steps []Step, i int) string {
	s := steps[i]
	if s.Action == "Initial predicate" {
		return "(start)"
	}
	last, ok := s.Lookup("last")
	if !ok || last.Shape != Record || s.Back > 0 {
		return s.Action
	}
	if i > 0 {
		if was, ok := steps[i-1].Lookup("last"); ok && was.String() == last.String() {
			return s.Action
		}
	}
	var parts []string
	for k, key := range last.Keys {
		text := last.Items[k].Sorted().String()
		if strings.EqualFold(strings.Trim(text, `"`), s.Action) {
			continue
		}
		parts = append(parts, key.Text+"="+text)
	}
	if len(parts) == 0 {
		return s.Action
	}
	return s.Action + "(" + clip(strings.Join(parts, " "), 100) + ")"
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
