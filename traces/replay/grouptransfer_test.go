package replay

import "purgelab/traces/behaviours"

// seenOf counts what the replicas of a design should have come across.
func seenOf(list []*behaviours.Behaviour) map[string]int {
	if list[0].Design == "reset-record" {
		return resetMovesSeen(list)
	}
	if list[0].Acts[0].State["older"] != nil {
		return laterMovesSeen(list)
	}
	return movesSeen(list)
}

// resetMovesSeen is movesSeen of reset-record.
func resetMovesSeen(list []*behaviours.Behaviour) map[string]int {
	n := map[string]int{
		"offers": 0, "installs": 0, "installs that are a purge": 0, "installs of another floor": 0, "installs of messages": 0,
		"transfers overtaken by a purge": 0, "purges of who offered": 0, "leaders that have installed": 0,
	}
	for _, b := range list {
		offered, installed := "", map[any]bool{}
		for i := 1; i < len(b.Acts); i++ {
			a, was := &b.Acts[i], b.Acts[i-1].State
			r, _ := a.With["r"].(string)
			now, _ := a.State["rep"].(map[string]any)[r].(map[string]any)
			before, _ := was["rep"].(map[string]any)[r].(map[string]any)
			switch a.Action {
			case "OfferTransfer":
				n["offers"]++
				offered = r
			case "PurgeLocally":
				if r == offered {
					n["purges of who offered"]++
				}
			case "DropTransfer":
				n["transfers overtaken by a purge"]++
			case "BecomeLeader":
				if offered = ""; installed[r] {
					n["leaders that have installed"]++
				}
			case "CommitInstall":
				installed[r] = true
				n["installs"]++
				switch {
				case integer(now["gen"]) > integer(before["gen"]):
					n["installs that are a purge"]++
				case now["floor"] != before["floor"]:
					n["installs of another floor"]++
				}
				if len(now["msgs"].([]any)) > 0 {
					n["installs of messages"]++
				}
			}
		}
	}
	return n
}

// laterMovesSeen is movesSeen of replicas that lose their memory.
func laterMovesSeen(list []*behaviours.Behaviour) map[string]int {
	n := map[string]int{
		"installs": 0, "offers in a later incarnation": 0, "offers of one before": 0, "incarnations that begin while a state is taken": 0,
		"transfers that a crash interrupts": 0,
	}
	for _, b := range list {
		later := false
		for i := 1; i < len(b.Acts); i++ {
			a, was := &b.Acts[i], b.Acts[i-1].State
			taken := func(r string) bool {
				is, _ := given(was, r)
				return is.op > 0
			}
			switch a.Action {
			case "CommitInstall":
				n["installs"]++
			case "OfferTransfer":
				if later {
					n["offers in a later incarnation"]++
				}
			case "RefuseTransfer":
				if settled(a).With["s"] != nil {
					n["offers of one before"]++
				}
			case "NewIncarnation":
				if later = true; taken("r1") || taken("r2") || taken("r3") {
					n["incarnations that begin while a state is taken"]++
				}
			case "ProcessCrash", "PowerLoss":
				if taken(a.With["r"].(string)) {
					n["transfers that a crash interrupts"]++
				}
			}
		}
	}
	return n
}

// movesSeen counts what replicas that take each other's state should have come across.
func movesSeen(list []*behaviours.Behaviour) map[string]int {
	n := map[string]int{
		"offers": 0, "logs that begin later": 0, "installs": 0, "installs that are a purge": 0, "installs of a state from before a purge": 0,
		"installs of messages": 0, "states taken from two": 0, "transfers that a crash interrupts": 0, "offers of what is there": 0,
		"transfers given up": 0, "offers let go": 0, "offers that end with the lead": 0,
	}
	count := func(what string, is bool) {
		if is {
			n[what]++
		}
	}
	for _, b := range list {
		from := map[string]any{} // whom the first half of a state came from
		for i := 1; i < len(b.Acts); i++ {
			a, was := &b.Acts[i], b.Acts[i-1].State
			r, _ := a.With["r"].(string)
			now, _ := b.Acts[i].State["rep"].(map[string]any)[r].(map[string]any)
			before, _ := was["rep"].(map[string]any)[r].(map[string]any)
			leads := len(was["leader"].([]any)) > 0 && was["leader"].([]any)[0] == r
			switch a.Action {
			case "OfferTransfer":
				n["offers"]++
			case "Compact":
				n["logs that begin later"]++
			case "RefuseTransfer":
				n["offers of what is there"]++
			case "StageChunk":
				count("states taken from two", integer(a.With["j"]) == 2 && from[r] != a.With["s"])
				from[r] = a.With["s"]
			case "ProcessCrash", "PowerLoss":
				is, _ := given(was, r)
				count("transfers that a crash interrupts", is.op > 0)
			case "DropTransfer":
				n["transfers given up"]++
			case "DropOffer":
				count("offers let go", leads)
				count("offers that end with the lead", !leads)
			case "CommitInstall":
				n["installs"]++
				count("installs of messages", len(now["segs"].([]any)) > 0)
				count("installs that are a purge", integer(now["gen"]) > integer(before["gen"]) || b.Design == "advance" && integer(now["start"]) > integer(before["start"]))
				count("installs of a state from before a purge", purgedSince(a.State["log"].([]any)[integer(a.With["n"]):integer(a.State["commit"])]))
			}
		}
	}
	return n
}

// purgedSince tells whether one of the ops is a purge; of advance, a deletion of all records.
func purgedSince(ops []any) bool {
	for _, v := range ops {
		if o := v.(map[string]any); o["k"] == "purge" || o["k"] == "advance" && integer(o["o"]) == -1 {
			return true
		}
	}
	return false
}
