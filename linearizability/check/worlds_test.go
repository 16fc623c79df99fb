package check

import (
	"slices"
	"testing"

	"purgelab/model"
	"purgelab/model/op"
)

// worlds is the textbook's search when there are new incarnations: everything
// that the partition was is kept, and every continuation is tried.
type worlds struct {
	sem    model.Semantics
	ops    []model.Operation
	stamps []op.Timestamp
}

// world is one possible partition. past are the states from which a new
// incarnation may go on, the current one last.
type world struct {
	state *model.State
	past  []moment
}

type moment struct {
	state *model.State
	done  uint64 // operations that were executed, a bit each
}

func (w *worlds) first() world {
	s := model.Init()
	return world{s, []moment{{s, 0}}}
}

func (a world) equal(b world) bool {
	return a.state.Equal(b.state) && slices.EqualFunc(a.past, b.past, func(x, y moment) bool { return x.done == y.done && x.state.Equal(y.state) })
}

func (a world) done() uint64 { return a.past[len(a.past)-1].done }

// outcomes are all that operation i may make of a state, its answer aside.
func (w *worlds) outcomes(s *model.State, i int) []*model.State {
	o := &w.ops[i]
	choices := []model.Choice{{}}
	if o.Request.Kind == op.Append {
		for _, ts := range w.stamps {
			choices = append(choices, model.Choice{Timestamp: ts})
		}
	}
	var out []*model.State
	for _, c := range choices {
		if next, _ := w.sem.Step(s, o.Request, c); next != s {
			out = append(out, next)
		}
	}
	return out
}

// after is the world when operation i made s of its state. Whether a bookmark of
// unknown outcome was kept is left open, whatever its policy.
func (w *worlds) after(a world, i int, s *model.State) world {
	past, done := a.past, a.done()|1<<i
	if may := w.mayLose(s.Incarnation()); s != a.state && !loses(may, w.ops[i].Request.Kind) && !(w.ops[i].Reply == nil && keyed(w.ops[i].Request)) {
		past = nil
	}
	if s == a.state {
		past = slices.Clone(past)
		past[len(past)-1].done = done
		return world{s, past}
	}
	return world{s, append(slices.Clip(past), moment{s, done})}
}

func keyed(r *op.Request) bool {
	return r.Kind == op.StoreBookmark || r.Kind == op.DeleteBookmark || r.Kind == op.Poll
}

func (w *worlds) mayLose(i op.Incarnation) op.Losses {
	for _, o := range w.ops {
		if o.Request.Kind == op.NewIncarnation && o.Reply.Agreed.Incarnation == i {
			return o.Request.MayLose
		}
	}
	return 0
}

// intended are the worlds in which any intents that were lost are carried out
// again.
func (w *worlds) intended(a world) []world {
	out := []world{a}
	if a.state.Incarnation() == 1 {
		return out
	}
	for k := 0; k < len(out); k++ {
		for i := range w.ops {
			if w.ops[i].Request.Kind != op.Purge || w.sem.Numbering == model.Continue || a.done()&(1<<i) != 0 || !w.before(i, a.state.Incarnation()) {
				continue
			}
			for _, s := range w.outcomes(out[k].state, i) {
				out = append(out, w.after(out[k], i, s))
			}
		}
	}
	return out
}

// before tells whether an operation was called before an incarnation had begun.
func (w *worlds) before(i int, in op.Incarnation) bool {
	for _, o := range w.ops {
		if o.Request.Kind == op.NewIncarnation && o.Reply.Position.Incarnation == in {
			return w.ops[i].Call < o.Return
		}
	}
	return false
}

func (w *worlds) step(a world, i int) []world {
	o := &w.ops[i]
	if o.Request.Kind == op.NewIncarnation {
		return w.begin(a, o)
	}
	if o.Reply == nil {
		out := []world{a}
		for _, s := range w.outcomes(a.state, i) {
			out = append(out, w.after(a, i, s))
		}
		return out
	}
	next, want := w.sem.Step(a.state, o.Request, model.ChoiceOf(o.Request, o.Reply))
	if model.Differs(o.Request, &want, o.Reply) != "" {
		return nil
	}
	return []world{w.after(a, i, next)}
}

// begin begins a new incarnation from every moment, with every sequence of
// operations after it that may be in another log.
func (w *worlds) begin(a world, o *model.Operation) []world {
	var out []world
	in := o.Reply.Agreed.Incarnation
	var fill func(m moment, depth int)
	fill = func(m moment, depth int) {
		next, want := w.sem.Step(m.state, o.Request, model.ChoiceOf(o.Request, o.Reply))
		if model.Differs(o.Request, &want, o.Reply) == "" && w.agrees(m.state, o) {
			out = append(out, world{next, []moment{{next, m.done}}})
		}
		if depth == 4 {
			return
		}
		for i := range w.ops {
			x := &w.ops[i]
			if m.done&(1<<i) != 0 || x.Call > o.Return || x.Request.Incarnation > in || x.Reply != nil && x.Request.Kind != op.Purge || x.Request.Kind == op.NewIncarnation {
				continue
			}
			for _, s := range w.outcomes(m.state, i) {
				fill(moment{s, m.done | 1<<i}, depth+1)
			}
		}
	}
	for _, m := range a.past {
		fill(m, 0)
	}
	return out
}

// agrees tells whether no answer names another message at a position that lives on.
func (w *worlds) agrees(s *model.State, o *model.Operation) bool {
	a := o.Reply.Agreed
	if a.Generation != s.Generation() {
		return true
	}
	for i := range w.ops {
		x := &w.ops[i]
		if x.Reply == nil || x.Reply.Code != op.OK || x.Reply.Position.Incarnation != a.Incarnation || x.Reply.Position.Generation != a.Generation {
			continue
		}
		var held []op.Payload
		switch x.Request.Kind {
		case op.Append:
			held = x.Request.Payloads
		case op.Poll:
			for _, r := range x.Reply.Records {
				held = append(held, r.Payload)
			}
		}
		for k, p := range held {
			at := x.Reply.Position.Offset + op.Offset(k)
			if m, ok := s.Message(at); ok && at < a.Offset && m.Payload != p {
				return false
			}
		}
	}
	return true
}

// TestNewIncarnationsAgreeWithNaive compares the two on small histories with new
// incarnations, as recorded and distorted.
func TestNewIncarnationsAgreeWithNaive(t *testing.T) { agreeWithNaive(t, true) }
