package guards

import (
	"slices"
	"strings"
)

// listed are changes that no check notices, by module, definition and the beginning of
// the guard.
var listed = []struct{ module, name, text, why string }{
	{"AgreedLog", "Stop", "r \\notin down", "a replica that is down and stops is down as before"},
	{"Intent", "Ask", "g > intent", "whoever asks, asks for the next generation"},
	{"TraceAdvance", "TakeStageManifest", "Running", "there is no sample of a replica that is down and takes a state"},
	{"TraceOrdered", "TakeStageManifest", "E.op > E.l", "in every sample, what the replica has is what it has journaled"},
	{"TraceResetRecordGroup", "TakeFiltered", "E.op = rep[E.r].applied + 1", "the replica's own piece of the trace is held to it, too"},
	{"ResetRecordGroup", "PurgeLocally", "rep[r].up", "a replica that stops keeps its state: one that purges and stops leaves the same"},
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
