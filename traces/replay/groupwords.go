package replay

import (
	"fmt"
	"maps"

	"purgelab/traces/behaviours"
)

// This file makes actions of a group such that they can be written down: with all that the
// driver has to know of the state in their parameters.

// name is what the specification calls a member.
func (m *member) name() string { return fmt.Sprintf("r%d", m.id) }

// settled is an action with these parameters, and without those that nobody needs.
func settled(a *behaviours.Act) *behaviours.Act {
	log, ok := a.State["log"].([]any)
	if !ok {
		return a // it was read
	}
	out := *a
	out.With = maps.Clone(a.With)
	if a.State["acked"] != nil {
		if q, ok := a.With["q"].([]any); ok {
			out.With["q"] = joined(q)
		}
		return &out
	}
	switch a.Action {
	case "Propose":
		out.With["n"] = float64(len(log))
		if x, ok := a.State["change"].(map[string]any); ok && integer(x["n"]) == len(log) {
			out.With["of"], out.With["step"], out.With["commit"] = x["r"], x["step"], a.State["commit"]
		}
	case "NewIncarnation":
		delete(out.With, "n") // the plane finds that, and what follows
		delete(out.With, "rest")
		delete(out.With, "o") // a hint, which is left open
		out.With["most"] = a.State["most"]
	case "PowerLoss":
		if held, ok := a.State["held"].(map[string]any); ok {
			out.With["kept"] = held[fmt.Sprintf("r%d", a.Replica)]
		}
	case "Commit", "Materialize":
		delete(out.With, "o")
		if list, ok := a.State["lacking"].([]any); ok && a.Action == "Commit" && len(list) > 0 {
			out.With["without"] = joined(list)
		}
	case "StageChunk":
		is, _ := given(a.State, fmt.Sprint(a.With["r"]))
		out.With["batches"] = float64(is.batches)
	case "BecomeLeader":
		out.With["n"] = float64(len(log))
		out.With["commit"] = a.State["commit"]
		delete(out.With, "kept")
	}
	return &out
}
