package sim

// dropper is a Member whose proposals can be dropped.
type dropper interface{ DropProposals(dropped func()) }

// DropProposals makes the replicas of partitions that a machine runs now drop what they
// would propose, until mend is called or they are opened anew. hit is called for each.
func (c *Cluster) DropProposals(id int, hit func()) (mend func()) {
	var list []dropper
	for h := range c.machines[id].members {
		if m, ok := c.machines[id].members[h].member.(dropper); ok {
			m.DropProposals(func() {
				c.Effects.Dropped++
				hit()
			})
			list = append(list, m)
		}
	}
	return func() {
		for _, m := range list {
			m.DropProposals(nil)
		}
	}
}
