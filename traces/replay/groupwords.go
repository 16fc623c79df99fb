package replay

import (
	"fmt"
	"maps"
	"slices"

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
	if a.State["first"] != nil {
		return settledReset(a, log)
	}
	out := *a
	out.With = maps.Clone(a.With)
	if a.State["acked"] != nil {
		if by, ok := a.With["by"].([]any); ok {
			out.With["by"] = joined(by)
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
	case "StageManifest", "RefuseTransfer":
		if older, _ := a.State["older"].([]any); !slices.Contains(older, a.With["s"]) {
			delete(out.With, "s") // whoever leads
		}
	case "StageChunk":
		delete(out.With, "s")
		delete(out.With, "j")
		is, _ := given(a.State, fmt.Sprint(a.With["r"]))
		out.With["batches"] = float64(is.batches)
	case "BecomeLeader":
		out.With["n"] = float64(len(log))
		out.With["commit"] = a.State["commit"]
		delete(out.With, "kept")
	}
	return &out
}

// settledReset is settled of reset-record.
func settledReset(a *behaviours.Act, log []any) *behaviours.Act {
	out := *a
	out.With = map[string]any{}
	maps.Copy(out.With, a.With)
	commit, stale := integer(a.State["commit"]), a.State["stale"].([]any)
	switch a.Action {
	case "Propose", "StoreProgress":
		delete(out.With, "k")
		out.With["n"] = float64(len(log))
		out.With["o"] = map[string]any{"k": "other"}
		if a.With["k"] != "other" {
			out.With["id"], out.With["o"] = requested(log[len(log)-1].(map[string]any), a.State["bare"] == true)
		}
	case "Receive":
		held := integer(inRep(a, a.Replica, "held"))
		out.With["n"], out.With["commit"] = float64(held), float64(min(commit, held))
	case "Commit":
		out.With["n"] = float64(commit)
		if first := integer(a.State["first"]); commit < first {
			out.With["first"] = float64(first)
		}
		if len(stale) > 0 {
			out.With["without"] = joined(stale)
		}
	case "Apply":
		out.With["n"] = inRep(a, a.Replica, "applied")
	case "Answer":
		out.With["q"] = map[string]any{"f": "poll", "key": keyName(consumer), "strategy": "next", "max": 100.0, "reset": "earliest"}
		out.With["r"] = a.State["leader"]
		fmt.Sscanf(fmt.Sprint(a.State["leader"]), "r%d", &out.Replica)
	case "ProcessCrash", "PowerLoss":
		out.With["s"] = joined(a.With["s"].([]any))
	case "Boot":
		out.With["applied"] = inRep(a, a.Replica, "applied")
	case "StageManifest":
		delete(out.With, "s") // whoever leads
	}
	return &out
}

// requested is an op of the log of reset-record as requests have it, whose positions may be
// bare, and what its message says.
func requested(e map[string]any, bare bool) (id any, o map[string]any) {
	switch e["k"] {
	case "advance":
		return nil, map[string]any{"k": "advance", "o": -1.0}
	case "store":
		return nil, map[string]any{"k": "store", "key": keyName(consumer), "o": e["o"], "g": e["era"], "bare": bare}
	}
	return e["id"], map[string]any{"k": "append", "n": 1.0}
}
