package faults

import (
	"math/rand/v2"

	"purgelab/impl/sim"
)

// SpoilTransfers adds to most plans that break everything, and to most swarms, a time in
// which messages of transfers of state are altered on their way, or come late. The
// generator is its own, so that the rest of the plan stays as it was.
func (p *Plan) SpoilTransfers(class Class, span int64, r *rand.Rand) {
	if class != All && class != Swarm || r.IntN(4) == 0 {
		return
	}
	p.Faults = append(p.Faults, Fault{
		At: r.Int64N(1 + span/4), For: span/4 + r.Int64N(1+span), Kind: SpoilTransfer,
		Transfers: &sim.Spoil{Chunk: pick(r, 0, 0.1, 0.4), Manifest: pick(r, 0, 0.2, 0.6), Late: pick(r, 0.5, 1)},
	})
}

// spoilTransfers carries such a fault out; it took effect if something was altered, or
// came late.
func (in *Injection) spoilTransfers(f *Fault) {
	before := in.c.Effects.Moves
	in.c.SpoilTransfers(*f.Transfers)
	in.later(f, func() {
		in.c.SpoilTransfers(sim.Spoil{})
		if m := &in.c.Effects.Moves; m.FlippedChunks > before.FlippedChunks || m.FlippedManifests > before.FlippedManifests || m.Late > before.Late {
			in.took(SpoilTransfer)
		}
	})
}
