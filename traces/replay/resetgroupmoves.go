package replay

import (
	"purgelab/impl/replica"
	"purgelab/traces/behaviours"
)

// This file leads replicas of a group of reset-record that take each other's state: as in
// the other designs, but for what the specification takes in one step here.

// takeResetOffer: of a purge an offer hears when somebody asks for what is gone, or when
// nobody asks for long.
func takeResetOffer(g *group, a *behaviours.Act) error {
	if g.of(a).r.View().Offers != 0 {
		if err := takeDropOffer(g, a); err != nil {
			return err
		}
	}
	return takeOfferTransfer(g, a)
}

func takeResetManifest(g *group, a *behaviours.Act) error {
	if err := takeGroupManifest(g, a); err != nil {
		return err
	}
	m := g.of(a)
	for m.pull.asked != nil {
		if err := g.chunk(m); err != nil {
			return err
		}
	}
	return nil
}

func takeResetDropTransfer(g *group, a *behaviours.Act) error {
	m := g.of(a)
	if err := g.until(m, replica.Install, a.Action); err != nil {
		return err
	}
	return g.until(m, replica.Clear, "ReclaimOld")
}

// wantResetMoves adds to a state what TransferResetGroup has besides: the op as of which a
// replica is given a state.
func wantResetMoves(out, s map[string]any, name string) {
	if given, ok := s["given"].(map[string]any); ok {
		out["given"] = given[name].(map[string]any)["n"]
	}
}

// resetMovesState adds what a replica shows, in that form.
func (m *member) resetMovesState(out map[string]any) {
	if m.g.moves == nil {
		return
	}
	x, _, err := m.manifest()
	switch out["given"] = 0.0; {
	case err != nil:
		out["given"] = err.Error()
	case x != nil:
		out["given"] = counted(uint64(x.Point.Applied), base)
	}
}
