package faults

import "math/rand/v2"

// LoseProposals adds to half of the plans of retries moments in which the leader drops
// what it would propose, so that a purge is proposed again without a change of leader.
// The generator is its own, so that the rest of the plan stays as it was.
func (p *Plan) LoseProposals(class Class, n int, span int64, r *rand.Rand) {
	if class != Retry && class != Swarm || r.IntN(2) == 0 {
		return
	}
	for range 1 + r.IntN(4) {
		p.Faults = append(p.Faults, Fault{At: begin + r.Int64N(max(1, span-begin)), For: 20 + r.Int64N(200), Kind: DropProposals, Replicas: some(n, 1, r)})
	}
}
