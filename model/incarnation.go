package model

import (
	"slices"

	"purgelab/model/op"
)

// begin is with what an incarnation began: the generation and the end of the one
// before, as far as that is known to have been agreed on.
type begin struct {
	incarnation op.Incarnation
	generation  op.Generation
	end         op.Offset
}

// Begin is the state in which incarnation i begins when s is what was kept of the
// one before. Agreed is a position of that; one beyond the end of s means its end.
func (s *State) Begin(i op.Incarnation, agreed op.Position) *State {
	agreed = s.agreed(agreed)
	n := *s
	n.incarnation = max(i, s.incarnation+1)
	n.began = append(slices.Clip(s.began), begin{n.incarnation, agreed.Generation, agreed.Offset})
	return &n
}

func (s *State) agreed(p op.Position) op.Position {
	end := s.position(s.End())
	if p.Incarnation != end.Incarnation || p.Generation > end.Generation || p.Generation == end.Generation && p.Offset > end.Offset {
		return end
	}
	return p
}

// lives tells whether a position names an offset of the current era. One of an
// older incarnation does if every later one began in its generation, above it.
func (s *State) lives(p op.Position) bool {
	if p.Generation != s.generation || p.Incarnation > s.incarnation || p.Incarnation < s.born {
		return false
	}
	for _, b := range s.began {
		if b.incarnation > p.Incarnation && (b.generation != p.Generation || b.end <= p.Offset) {
			return false
		}
	}
	return true
}

// newIncarnation begins one that keeps all of s.
func (s *State) newIncarnation(c Choice) (*State, op.Reply) {
	n := s.Begin(c.Incarnation, c.Agreed)
	reply := n.bounds(op.OK)
	reply.Agreed = s.agreed(c.Agreed)
	return n, reply
}

// misdirected tells whether a request means another incarnation. The intent of a
// purge is carried out in any, once it is committed; who names another one
// before is refused.
func (sem Semantics) misdirected(s *State, r *op.Request, c Choice) bool {
	if r.Incarnation == 0 || r.Incarnation == s.incarnation {
		return false
	}
	return c.Refused || r.Kind != op.Purge || sem.Numbering == Continue
}

// mayLose tells whether a new incarnation may lack an op of kind k that took effect in
// the one before, by what it may lose.
func mayLose(l op.Losses, k op.Kind) bool {
	if l&op.LosesSynced != 0 {
		return true
	}
	switch k {
	case op.Poll, op.StoreBookmark, op.DeleteBookmark:
		return l&op.LosesBookmarks != 0
	case op.Purge: // it takes both, and is as durable as the stricter policy
		return l&op.LosesBookmarks != 0 && l&op.LosesMessages != 0
	}
	return l&op.LosesMessages != 0
}
