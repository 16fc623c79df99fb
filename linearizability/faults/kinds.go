package faults

import (
	"math/rand/v2"
	"slices"
)

// Kinds lists the kinds of fault that plans of a class have for a cluster of n
// replicas, in the order of Kinds. It looks at many plans, so that nothing has to
// be said twice.
func (c Class) Kinds(n int) []Kind {
	seen := map[Kind]bool{}
	for seed := range uint64(40) {
		p, err := Draw(c, n, 20_000, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			return nil
		}
		p.LoseMemory(c, n, 20_000, rand.New(rand.NewPCG(seed, 1)))
		p.LoseBases(c, 20_000, rand.New(rand.NewPCG(seed, 4)))
		p.LoseProposals(c, n, 20_000, rand.New(rand.NewPCG(seed, 2)))
		p.SpoilTransfers(c, 20_000, rand.New(rand.NewPCG(seed, 3)))
		p.note(seen)
	}
	return slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return !seen[k] })
}

// Kinds lists the kinds of fault of a plan, in the order of Kinds.
func (p *Plan) Kinds() []Kind {
	seen := map[Kind]bool{}
	p.note(seen)
	return slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return !seen[k] })
}

// note takes in the kinds of a plan. A network that is bad all the time is a
// storm that does not end.
func (p *Plan) note(seen map[Kind]bool) {
	for i := range p.Faults {
		seen[p.Faults[i].Kind] = true
	}
	if w := &p.Network; w.Loss > 0 || w.Duplicate > 0 || w.Slow > 0 {
		seen[Storm] = true
	}
}
