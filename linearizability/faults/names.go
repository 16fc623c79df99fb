package faults

import (
	"math/rand/v2"

	"purgelab/impl/vfs/faultfs"
)

// ForgetNames lets some of the syncs of directories that fail in a plan lose the
// names, which can be seen as before. The generator is its own, so that the rest of
// the plan stays as it was.
func (p *Plan) ForgetNames(r *rand.Rand) {
	for i := range p.Faults {
		f := &p.Faults[i]
		if f.Kind != DiskFault {
			continue
		}
		if rule := mustParse(f.Rule); rule.Op == "syncdir" && rule.Action == faultfs.FailBefore && r.IntN(2) == 0 {
			rule.Action = faultfs.NamesForget
			f.Rule = rule.String()
		}
	}
}
