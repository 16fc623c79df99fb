package judge

import (
	"fmt"

	"purgelab/model/op"
)

// oneIncarnation: without a new incarnation between them, all answers name the same one. The
// position of a bookmark is left to the rules about those.
func (h *hints) oneIncarnation() {
	if h.begins {
		return
	}
	first, told := int32(-1), op.Incarnation(0)
	_, returns := h.events()
	for _, i := range returns {
		k, a := h.ops[i].Request.Kind, h.ops[i].Reply
		if k == op.GetBookmark || !positioned(k, a) || a.Position.Incarnation == 0 {
			continue
		}
		switch n := a.Position.Incarnation; {
		case first < 0:
			first, told = i, n
		case n != told:
			h.because(StaleRead, fmt.Sprintf("incarnations %d and %d are told of, and none began", told, n), first, i)
			return // the others are the same mistake
		}
	}
}

// refusedNumbers: a number is refused as stale if a higher one of its session was executed.
// So somebody asked for that before the answer.
func (h *hints) refusedNumbers() {
	highest := map[op.Session]op.Sequence{}
	calls, returns := h.events()
	for len(returns) > 0 {
		if i := returns[0]; len(calls) == 0 || h.ops[i].Return < h.ops[calls[0]].Call {
			returns = returns[1:]
			if r := h.ops[i].Request; h.ops[i].Reply.Code == op.StaleSequence && highest[r.Session] <= r.Sequence {
				h.because(RetriedTwice, fmt.Sprintf("session %d, sequence %d is refused as a number that is over, and there is no higher one", r.Session, r.Sequence), i)
			}
			continue
		}
		r := h.ops[calls[0]].Request
		highest[r.Session] = max(highest[r.Session], r.Sequence)
		calls = calls[1:]
	}
}
