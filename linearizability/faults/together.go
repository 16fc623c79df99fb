package faults

// Together leaves out of a plan for n replicas what takes the power from fewer than
// all of them at one instant, and what may make a machine restart by a loss of
// power, or stop. It tells how often all lose power, at most.
func (p *Plan) Together(n int) (kept *Plan, losses int) {
	kept = &Plan{Network: p.Network}
	for _, f := range p.Faults {
		switch f.Kind {
		case Partition, Isolate, Storm, SpoilTransfer, SlowDisk, ProcessCrash:
		case PowerLoss:
			if !f.everybody(n) {
				continue
			}
			losses++
		case CrashAt, CrashAmid:
			if f.Power && (!f.everybody(n) || f.Again > 0) {
				continue
			}
			if f.Power {
				losses++
			}
		default:
			continue
		}
		kept.Faults = append(kept.Faults, f)
	}
	return kept, losses
}

// everybody tells whether a fault strikes all of n replicas.
func (f *Fault) everybody(n int) bool {
	seen := map[int]bool{}
	for _, id := range f.Replicas {
		if id > 0 {
			seen[id] = true
		}
	}
	return len(seen) == n
}
