package judge

import (
	"purgelab/model"
	"purgelab/model/op"
)

// successor looks for an order of a history with new incarnations, life by life. For the
// next one it goes back in the order so far, no further than what may be lost, to a state
// from which that may begin, and looks for an order of it from there; if there is none it
// goes back further.
type successor struct {
	*hints
	lives []*life
	order []model.Placed
	proof *model.Proof
	runs  int   // of the finder, so far
	far   int   // how many lives have an order
	why   error // what is in the way of the next one
}

// maxRuns bounds how often the finder runs for one history, variants how many orders of a
// life are tried if the next one cannot follow. For each cut it makes little effort at
// first.
const (
	maxRuns      = 400
	variants     = 6
	littleEffort = 8
)

// succeed looks for an order of a history with new incarnations.
func succeed(h *hints) ([]model.Placed, error) {
	lives, err := h.lives()
	if err != nil {
		return nil, err
	}
	s := &successor{hints: h, lives: lives, proof: model.NewProof(h.sem, h.ops)}
	if s.live(0, nil, 0, maxTries) {
		h.lived = lives
		for _, l := range lives {
			for n, where := range l.read { //purgelab:unordered all of them
				h.read[l.of[n]] = where
			}
		}
		return s.order, nil
	}
	return nil, s.why
}

// live looks for an order of the k-th life, which begins with what was kept after so many
// places, and of all that follow it.
func (s *successor) live(k int, from *model.State, kept, effort int) bool {
	for variant := range variants {
		if s.runs++; s.runs > maxRuns {
			return false
		}
		found, why := s.find(k, from, kept, effort, variant)
		mark := len(s.order)
		if why == nil {
			why = s.place(k, found, kept)
		}
		if why == nil && (k+1 == len(s.lives) || s.begin(k+1)) {
			return true
		}
		s.back(mark)
		if why != nil {
			s.stuck(k, why)
			if effort < maxTries {
				return false
			}
		}
	}
	return false
}

func (s *successor) stuck(k int, why error) {
	if k > s.far || s.why == nil {
		s.far, s.why = k, why
	}
}

// begin tries to begin the k-th life, from what the one before was at last, or earlier.
func (s *successor) begin(k int) bool {
	var last *model.State
	var cuts []int
	for n := s.proof.Places(); s.proof.Kept(n) != nil; n-- {
		if from := s.proof.Kept(n); from != last && s.lives[k].admits(from) {
			cuts = append(cuts, n)
		}
		last = s.proof.Kept(n)
	}
	for _, effort := range []int{littleEffort, maxTries} {
		for _, n := range cuts {
			if s.runs >= maxRuns {
				return false
			}
			if s.live(k, s.proof.Kept(n), n, effort) {
				return true
			}
		}
	}
	return false
}

// admits tells whether a life may begin with what is kept in a state, and more.
func (l *life) admits(s *model.State) bool {
	b := l.begins.Reply
	switch g := b.Position.Generation; {
	case s.Generation() < g:
		return s.Settled() < g
	case s.Generation() > g || s.Start() > b.Start || s.End() > b.End:
		return false
	}
	held := l.logs[s.Generation()]
	for o := min(s.End(), op.Offset(len(held))) - 1; o >= s.Start(); o-- {
		if m, _ := s.Message(o); held[o] != 0 && l.ops[held[o]-1].Request.Payloads[o-l.first(held[o]-1)] != m.Payload {
			return false
		}
	}
	return true
}

// find looks for an order of the k-th life. Variants of it differ in what is earlier than
// need be.
func (s *successor) find(k int, from *model.State, kept, effort, variant int) ([]model.Placed, error) {
	l := s.lives[k]
	f := newFinder(l.hints)
	f.effort, f.variant = effort, variant
	if from != nil {
		f.inherit(from)
		for i := range l.ops {
			f.done[i] = l.ops[i].Reply == nil && !s.open(&l.ops[i], l.of[i], kept)
		}
		if !f.begin(l) {
			return nil, f.stuck
		}
	}
	return f.find()
}

// open tells whether an operation of the whole may take effect after a cut, by its place
// before that.
func (s *successor) open(o *model.Operation, i int32, kept int) bool {
	at, lost := s.proof.Since(i)
	switch {
	case at == 0:
		return true
	case !lost && at <= kept:
		return false
	}
	return o.Again || o.Request.Kind == op.Purge && o.Request.Intent != 0 && s.restarts()
}

// place adds the order of the k-th life to that of the whole.
func (s *successor) place(k int, found []model.Placed, kept int) error {
	l := s.lives[k]
	if kept < len(s.order) {
		found = append([]model.Placed{{Index: 0, As: model.Cut, Open: int64(kept)}}, found...)
	}
	for _, x := range found {
		i := l.of[x.Index]
		if at, _ := s.proof.Since(i); x.As != model.Cut && (l.copied[x.Index] || at > 0 && l.ops[x.Index].Reply == nil) {
			x.As = model.Again
		}
		x.Index = i
		s.order = append(s.order, x)
		if err := s.proof.Place(x); err != nil {
			return err
		}
	}
	return nil
}

// back forgets all but the first places.
func (s *successor) back(places int) {
	if len(s.order) == places {
		return
	}
	s.order, s.proof = s.order[:places], model.NewProof(s.sem, s.ops)
	for _, x := range s.order {
		if err := s.proof.Place(x); err != nil {
			panic(err) // it was placed before
		}
	}
}
