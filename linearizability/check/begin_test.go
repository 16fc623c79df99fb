package check

import (
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// remember keeps the states from which a new incarnation may go on.
func (g *generator) remember(before *model.State, r *op.Request) {
	if g.state == before || g.shape.begins == 0 {
		return
	}
	if r.Kind == op.Purge {
		g.purges = append(g.purges, r)
	}
	if !loses(g.loses, r.Kind) {
		g.log = nil
	}
	g.log = append(g.log, g.state)
}

// loses says the rule of docs/contract.md once more.
func loses(l op.Losses, k op.Kind) bool {
	switch {
	case l&op.LosesSynced != 0:
		return true
	case k == op.StoreBookmark || k == op.DeleteBookmark || k == op.Poll:
		return l&op.LosesBookmarks != 0
	case k == op.Purge:
		return l&(op.LosesMessages|op.LosesBookmarks) == op.LosesMessages|op.LosesBookmarks
	}
	return l&op.LosesMessages != 0
}

// named says which incarnation a client means: it hears of a new one sooner or later.
func (g *generator) named(x *client, r *op.Request) *op.Request {
	if g.shape.begins == 0 {
		return r
	}
	if x.belief == 0 || g.r.IntN(3) > 0 {
		x.belief = g.state.Incarnation()
	}
	c := *r
	c.Incarnation = x.belief
	return &c
}

// begin begins a new incarnation from some state of the log, and what was on its
// way to that replica.
func (g *generator) begin() {
	g.begins--
	cut := len(g.log) - 1 - min(g.r.IntN(len(g.log)), g.r.IntN(len(g.log)))
	s := g.log[cut]
	known := g.log[g.r.IntN(cut+1)]
	agreed := op.Position{Incarnation: known.Incarnation(), Generation: known.Generation(), Offset: known.End()}
	for len(g.late) > 0 && g.r.IntN(3) == 0 {
		i := g.r.IntN(len(g.late))
		s, _ = g.semantics.Step(s, g.late[i], model.Choice{Timestamp: op.Timestamp(g.now / 3)})
		g.late = slices.Delete(g.late, i, i+1)
	}
	g.rec.Invoke(-1, g.now, &op.Request{Kind: op.NewIncarnation, MayLose: g.loses})
	next, reply := g.semantics.Step(s, &op.Request{Kind: op.NewIncarnation}, model.Choice{Agreed: agreed})
	g.rec.Answer(-1, g.now, &reply)
	g.state, g.log = next, []*model.State{next}
	g.late = append(g.late, g.purges...) // they are intended until they are settled
}
