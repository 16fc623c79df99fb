package guards

import (
	"slices"
	"strings"
)

// listed are changes that no check notices, by module, definition and the beginning of
// the guard.
var listed = []struct{ module, name, text, why string }{
	{"Intent", "Ask", "g > intent", "whoever asks, asks for the next generation"},
}

// Why says why nobody has to notice a change; empty: there is no reason.
func (a *Asker) Why(g Guard) string {
	if g.Change == Always {
		if slices.ContainsFunc(a.checks, func(c check) bool { return c.reads[g.Module] && c.apt(&g) }) {
			return ""
		}
		return "no model is there that has to violate it"
	}
	for _, l := range listed {
		if l.module == g.Module && l.name == g.Name && strings.HasPrefix(g.Text, l.text) {
			return l.why
		}
	}
	return ""
}
