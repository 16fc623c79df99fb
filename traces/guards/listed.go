package guards

import "strings"

// listed are changes that no check notices, by module, definition and the beginning of
// the guard.
var listed = []struct{ module, name, text, why string }{
	{"AgreedLog", "Stop", "r \\notin down", "a replica that is down and stops is down as before"},
	{"Intent", "Ask", "g > intent", "whoever asks, asks for the next generation"},
}

// Why says why nobody has to notice a change; empty: there is no reason.
func Why(g *Guard) string {
	for _, l := range listed {
		if l.module == g.Module && l.name == g.Name && strings.HasPrefix(g.Text, l.text) {
			return l.why
		}
	}
	return ""
}
