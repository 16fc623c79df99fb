package judge

import (
	"errors"
	"fmt"

	"purgelab/model"
	"purgelab/model/op"
)

// hints is what the answers of a whole history reveal: where each message is, and what
// each answer needs.
type hints struct {
	sem   model.Semantics
	ops   []model.Operation
	needs []need         // of answered operations
	born  op.Incarnation // 0: no answer names it
	keys  map[op.Key]int32
	// logs says, for every offset of a generation, which append wrote the message
	// there: its index + 1, or 0 if no answer shows it.
	logs map[op.Generation][]int32
	// read is where the messages of appends of unknown outcome are.
	read map[int32]reading
	// purgesOf lists the purges that may have begun a generation.
	purgesOf map[op.Generation][]int32
	// stamps are the timestamps that list-offsets found.
	stamps map[op.Position]op.Timestamp
	// riddles are what answers show of a bookmark and no answered operation explains, by
	// key, sorted: something of unknown outcome made it so.
	riddles [][]riddle
	shows   [][]riddle // with those that something explains

	last map[int32]op.Offset // bookmarks, as the next incarnation shows them first

	room op.Offset // how many more offsets may be noted
	// unfit is why no order can be looked for; reasons are those that were met.
	unfit  error
	begins bool    // there are new incarnations
	lived  []*life // then, those that have an order
	later  bool    // there was something before, of which nothing is known
	// succeeded: other incarnations come before or after, and were left out
	succeeded bool
	reasons   []Reason
	stray     []stray              // messages that nobody appended
	sought    bool                 // for a reason, which was
	found     *Reason              // nil: there is none
	writers   map[op.Payload][]nth // made when asked for
	gens      []op.Generation      // sorted; made when asked for
	calls     []int32              // in the order of time, like returns; made when asked for
	returns   []int32
}

// hintsOf reads a history.
func hintsOf(sem model.Semantics, ops []model.Operation) *hints {
	h := newHints(sem, ops)
	if h.judgeable(); h.unfit == nil {
		h.learn()
	}
	return h
}

func newHints(sem model.Semantics, ops []model.Operation) *hints {
	return &hints{
		sem: sem, ops: ops, keys: map[op.Key]int32{}, logs: map[op.Generation][]int32{}, read: map[int32]reading{},
		purgesOf: map[op.Generation][]int32{}, stamps: map[op.Position]op.Timestamp{},
	}
}

// learn reads all answers.
func (h *hints) learn() {
	h.place()
	h.recognize()
	h.needs = make([]need, len(h.ops))
	for i := range h.ops {
		o := &h.ops[i]
		if o.Request.Kind == op.Purge {
			h.intends(int32(i))
		}
		if o.Reply == nil {
			continue
		}
		h.needs[i] = h.needOf(o, o.Reply)
		if o.Request.Kind == op.ListOffsets && o.Reply.Timestamp != 0 {
			h.stamps[op.Position{Generation: o.Reply.Position.Generation, Offset: o.Reply.Position.Offset}] = o.Reply.Timestamp
		}
	}
	h.puzzle()
}

// judgeable tells whether this package knows what the answers of a history reveal.
func (h *hints) judgeable() {
	purged := false
	for i := range h.ops {
		o := &h.ops[i]
		switch {
		case o.Request.Kind == op.NewIncarnation:
			h.unfit, h.begins = fmt.Errorf("line %d: a new incarnation begins", o.Line), true
			return
		case o.Request.Kind == op.Purge:
			purged = true
		}
		if o.Reply != nil {
			h.born = max(h.born, o.Reply.Position.Incarnation)
		}
	}
	if h.born == 0 && purged && h.sem.Numbering == model.Restart {
		h.unfit = errors.New("no answer tells its generation")
	}
}

func (h *hints) intends(i int32) {
	o := &h.ops[i]
	g := o.Request.Intent
	switch {
	case o.Reply != nil && o.Reply.Code != op.OK:
		return
	case o.Reply != nil:
		g = o.Reply.Position.Generation
	}
	h.purgesOf[g] = append(h.purgesOf[g], i) // 0: any generation
}

// key numbers bookmarks.
func (h *hints) key(k op.Key) int32 {
	i, ok := h.keys[k]
	if !ok {
		i = int32(len(h.keys))
		h.keys[k] = i
	}
	return i
}

// maxGap bounds offsets that no append explains: they cost memory.
const maxGap = 1 << 16

// place puts acknowledged appends at their positions.
func (h *hints) place() {
	h.room = maxGap
	for i := range h.ops {
		if r := h.ops[i].Request; r.Kind == op.Append {
			h.room += op.Offset(len(r.Payloads))
		}
	}
	for i := range h.ops {
		o := &h.ops[i]
		if o.Request.Kind == op.Append && o.Reply != nil && o.Reply.Code == op.OK {
			h.put(int32(i), o.Reply.Position, -1)
		}
	}
}

// put notes that the messages of an append are at a position; reader is the poll that
// shows it, or -1: its own answer does.
func (h *hints) put(i int32, p op.Position, reader int32) bool {
	held, end := h.logs[p.Generation], p.Offset+op.Offset(len(h.ops[i].Request.Payloads))
	n := end - op.Offset(len(held))
	if p.Offset < 0 || n > h.room {
		h.unfit = fmt.Errorf("line %d: position %s: no appends reach there", h.ops[max(i, reader)].Line, p)
		return false
	}
	if n > 0 {
		h.room -= n
		held = append(held, make([]int32, n)...)
		h.logs[p.Generation] = held
	}
	for o := p.Offset; o < end; o++ {
		if other := held[o] - 1; other >= 0 {
			h.reused(other, i, max(i, reader), o)
			return false
		}
	}
	for o := p.Offset; o < end; o++ {
		held[o] = i + 1
	}
	return true
}

// reading is where a message of an append of unknown outcome was read first.
type reading struct {
	base   op.Position // of the first message of the append
	stamp  op.Timestamp
	reader int32
}

// recognize finds the appends of unknown outcome whose messages were read.
func (h *hints) recognize() {
	unknown := h.unknownMessages()
	for i := range h.ops {
		a := h.ops[i].Reply
		if a == nil || h.ops[i].Request.Kind != op.Poll {
			continue
		}
		held := h.logs[a.Position.Generation]
		for k, m := range a.Records {
			p := op.Position{Incarnation: a.Position.Incarnation, Generation: a.Position.Generation, Offset: a.Position.Offset + op.Offset(k)}
			if p.Offset >= 0 && p.Offset < op.Offset(len(held)) && held[p.Offset] != 0 {
				if owner := held[p.Offset] - 1; h.ops[owner].Request.Payloads[p.Offset-h.first(owner)] != m.Payload {
					h.misplaced(int32(i), p, m.Payload, owner)
					break
				}
				continue
			}
			u, ok := unknown[m.Payload]
			if !ok || u.op < 0 {
				h.misplaced(int32(i), p, m.Payload, -1)
				break
			}
			if _, known := h.read[u.op]; known {
				h.misplaced(int32(i), p, m.Payload, -1)
				break
			}
			p.Offset -= u.nth
			if !h.put(u.op, p, int32(i)) {
				break
			}
			h.read[u.op] = reading{p, m.Timestamp, int32(i)}
			held = h.logs[p.Generation]
		}
	}
}

// unknownMessages are those of appends of unknown outcome; -1: it is not the only append
// of that message.
func (h *hints) unknownMessages() map[op.Payload]nth {
	out := map[op.Payload]nth{}
	for i := range h.ops {
		if o := &h.ops[i]; o.Request.Kind == op.Append && o.Reply == nil {
			for k, p := range o.Request.Payloads {
				n := nth{int32(i), op.Offset(k)}
				if _, many := out[p]; many {
					n.op = -1
				}
				out[p] = n
			}
		}
	}
	for i := range h.ops {
		if o := &h.ops[i]; o.Request.Kind == op.Append && o.Reply != nil && len(out) > 0 {
			for _, p := range o.Request.Payloads {
				if _, many := out[p]; many {
					out[p] = nth{op: -1}
				}
			}
		}
	}
	return out
}

// nth is a message of an append.
type nth struct {
	op  int32
	nth op.Offset
}

// stamp is the timestamp of an append whose position is known.
func (h *hints) stamp(i int32) op.Timestamp {
	if a := h.ops[i].Reply; a != nil {
		return a.Timestamp
	}
	return h.read[i].stamp
}

// first is the offset of the first message of an append whose position is known.
func (h *hints) first(i int32) op.Offset { return h.base(i).Offset }

func (h *hints) base(i int32) op.Position {
	if a := h.ops[i].Reply; a != nil {
		return a.Position
	}
	return h.read[i].base
}
