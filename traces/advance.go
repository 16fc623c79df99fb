package traces

import "fmt"

// advance: one replica against Advance; of the group the agreed log is all that
// there is to judge, see TraceAdvanceGroup.
var advance = design{
	name:  "advance",
	local: judge{level: Local, moves: "Transfer", root: "TraceAdvance", spec: "Advance", steps: localSteps, log: movedOps, reason: advanceReason},
	group: judge{level: Group, moves: "TransferGroup", root: "TraceAdvanceGroup", uses: words("TraceOrderedGroup TraceTold"), spec: "OrderedGroup",
		steps: groupSteps, log: agreedLog, reason: groupReason},
	rules: append([]Rule{
		{Action: Commit, Needs: words("op term kind"), May: words("count key offset"), Kinds: effectKinds,
			Group: words("r op t k key o n g u ap st en"),
			Spec:  "OrderedGroup!Commit", Code: "impl/replica: apply"},
		{Action: Materialize, Needs: words("op kind"), May: words("offset count key"), Kinds: effectKinds,
			Local: words("op k key o n ap st en g"), Group: words("r op k key o n ap st en g"),
			Spec: "Advance!Materialize", Code: "impl/replica: materialize"},
		{Action: Checkpoint, Needs: words("op"),
			Local: words("op g ap st en"),
			Spec:  "Advance!Checkpoint", Code: "impl/engine/tagged: checkpoint task"},
		{Action: Reclaim, Needs: words("offset"),
			Local: words("o g ap st en"),
			Spec:  "Advance!Reclaim", Code: "impl/engine/tagged: Reclaim"},
		{Action: ProcessCrash,
			Local: words(""), Group: words("r"),
			Spec: "Advance!ProcessCrash", Code: "impl/sim: down"},
		{Action: PowerLoss,
			Local: words("f o"), Group: words("r"),
			Spec: "Advance!PowerLoss", Code: "impl/sim: down"},
		{Action: Boot, Needs: words("kind front"), May: words("count offset key"), Kinds: words("none"),
			Local: words("n f o g ap st en"), Group: words("r g ap st en"),
			Spec: "Advance!Boot", Code: "impl/replica: Open"},
		{Action: Serve,
			Local: words("g ap st en"),
			Spec:  "Advance!Serve", Code: "impl/replica: checkServing"},
	}, append(agreedRules, moveRules...)...),
}

// advanceReason words what is particular to this design; the rest is as in ordered.
func advanceReason(s step, f facts) string {
	down := f.text("up") == "down"
	switch {
	case s.Ended:
		return localReason(s, f)
	case s.Action == Boot && down && int64(s.Offset) != f.number("lowest"):
		return fmt.Sprintf("the first segment begins at offset %d, the disk says %d", s.Offset, f.number("lowest"))
	case s.Action == Boot && down:
		return foundReason(s, f, int64(len(bookmarks(f, "disk"))))
	case s.Action == Reclaim && !down:
		end, start := f.number("batch", "base")+f.number("batch", "n"), f.number("ckpt", "start")
		switch {
		case int64(s.Offset) <= f.number("lowest"):
			return fmt.Sprintf("the first segment begins at offset %d already", f.number("lowest"))
		case end > start:
			return fmt.Sprintf("offsets below %d are removed with it: the checkpointed start is %d", end, start)
		case int64(s.Applied) != f.number("now", "applied") || int64(s.Start) != f.number("now", "start") || int64(s.End) != f.number("now", "end"):
			return stateReason(s, f)
		}
		return fmt.Sprintf("the batch of op %d is removed: it is not known to be synced", f.number("batch", "op"))
	}
	return localReason(s, f)
}
