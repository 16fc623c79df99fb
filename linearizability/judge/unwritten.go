package judge

import (
	"fmt"
	"slices"

	"purgelab/model/op"
)

// stray is a message that a poll shows and no append has.
type stray struct {
	poll int32
	at   op.Position
	m    op.Payload
}

// strays: the log of a partition begins empty, and what is in it was appended by somebody.
func (h *hints) strays() {
	for _, s := range h.stray {
		h.because(Gap, fmt.Sprintf("%s is read at %s, and no append wrote it", s.m, s.at), s.poll)
	}
}

// freely is how many messages appends may have put anywhere: those of unknown outcome that
// nobody read.
type freely struct {
	calls []int64 // of those appends, sorted
	room  []int   // messages of the first so many
}

func (h *hints) freely() freely {
	f := freely{room: []int{0}}
	calls, _ := h.events()
	for _, i := range calls {
		o := &h.ops[i]
		if _, read := h.read[i]; o.Request.Kind == op.Append && o.Reply == nil && !read {
			f.calls = append(f.calls, o.Call)
			f.room = append(f.room, f.room[len(f.calls)-1]+len(o.Request.Payloads))
		}
	}
	return f
}

// until is how many of them may be there at an instant.
func (f *freely) until(t int64) int {
	k, _ := slices.BinarySearch(f.calls, t)
	return f.room[k]
}

// beyond: an answer that shows an end shows that every offset below was written, by an
// append that was called before the answer returned. There must be enough of them: those
// whose messages are known to be there, and those whose messages are nowhere else.
func (h *hints) beyond() {
	if h.later || h.succeeded {
		return // messages may be there from before, and copies of requests in two incarnations
	}
	free, holes := h.freely(), map[op.Generation][]int{}
	for g, held := range h.logs { //purgelab:unordered each generation by itself
		n := make([]int, len(held)+1) // holes below each offset
		for o := range held {
			n[o+1] = n[o]
			if held[o] == 0 {
				n[o+1]++
			}
		}
		holes[g] = n
	}
	for i := range h.ops {
		n := &h.needs[i]
		if h.ops[i].Reply == nil || n.anyGen || n.endMin <= 0 {
			continue
		}
		below := holes[n.gen]
		if below == nil {
			below = []int{0}
		}
		known := min(int(n.endMin), len(below)-1)
		missing, room := below[known]+int(n.endMin)-known, free.until(h.ops[i].Return)
		if missing <= room {
			continue
		}
		class := Gap
		if n.role == keyed {
			class = FreshSkipped // the bookmark lies at or above the end
		}
		h.because(class, fmt.Sprintf("the end is at least %d, and at most %d messages were appended to generation %d before", n.endMin, int(n.endMin)-missing+room, n.gen), int32(i))
	}
}
