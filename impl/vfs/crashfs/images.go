package crashfs

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

// Image is one way in which a power loss can end: a decision for each thing that
// is not stable, in the order in which PowerLoss draws them.
type Image []bool

// Decisions is how many things are not stable: each of them survives a power
// loss or not, so 2 to the power of it is how many ways there are.
func (d *Disk) Decisions() int {
	total := 0
	both := map[*decision]bool{}
	for _, n := range d.reachable() {
		for _, op := range n.pending {
			switch {
			case op.both == nil && op.fate == undecided:
				total++
			case op.both == nil:
			case !op.both.made && !both[op.both]:
				both[op.both] = true
				total++
			}
		}
		for _, u := range n.undo {
			if u.fate == undecided {
				total += u.pieces()
			}
		}
	}
	return total
}

// pieces is how many decisions a power loss takes about a change.
func (u *undo) pieces() int {
	if u.trunc {
		return 1
	}
	k := int((u.off+u.n-1)/Sector - u.off/Sector + 1)
	if u.off+u.n > u.prev {
		k++
	}
	return k
}

// PowerLossAs is PowerLoss with every decision given. Decisions that are missing
// are lost.
func (d *Disk) PowerLossAs(m Image) {
	d.boot++
	d.crashed = false
	next := 0
	keep := func(int) bool {
		next++
		return next <= len(m) && m[next-1]
	}
	for _, n := range d.reachable() {
		if n.dir {
			n.keepNames(keep)
		} else if len(n.undo) > 0 {
			n.keepBytes(keep)
		}
	}
}

// Images lists the ways in which a power loss now can end, up to limit, without
// those that leave the same disk as one before: all of them, in ascending order
// of their decisions, if there are at most limit ways; otherwise nothing kept,
// everything kept, and drawn ones. all tells which.
func (d *Disk) Images(limit int, r *rand.Rand) (list []Image, all bool) {
	n := d.Decisions()
	all = n < 31 && 1<<n <= limit
	ways := limit
	if all {
		ways = 1 << n
	}
	seen := map[uint64]bool{}
	for i := range ways {
		m := make(Image, n)
		for k := range m {
			switch {
			case all:
				m[k] = i>>k&1 == 1
			case i < 2:
				m[k] = i == 1
			default:
				m[k] = r.IntN(2) == 0
			}
		}
		if !all && i > 1 && i%2 == 0 { // a beginning, and half of the rest
			cut := r.IntN(n + 1)
			for k := range cut {
				m[k] = true
			}
		}
		c := d.Clone()
		c.PowerLossAs(m)
		if h := c.Digest(); !seen[h] {
			seen[h] = true
			list = append(list, m)
		}
	}
	return list, all
}

// Clone is a disk of its own in the same state. Files that are open on d are not
// open on the clone; a hook and the log of calls are left behind.
func (d *Disk) Clone() *Disk {
	c := &Disk{nextID: d.nextID, boot: d.boot + 1, crashed: d.crashed}
	nodes := map[*node]*node{}
	both := map[*decision]*decision{}
	for _, n := range d.reachable() {
		m := *n
		nodes[n] = &m
	}
	for _, n := range d.reachable() {
		m := nodes[n]
		m.data, m.undo = bytes.Clone(n.data), slices.Clone(n.undo)
		m.cur, m.stable, m.pending = slices.Clone(n.cur), slices.Clone(n.stable), slices.Clone(n.pending)
		for _, list := range [][]entry{m.cur, m.stable} {
			for i := range list {
				list[i].n = nodes[list[i].n]
			}
		}
		for i := range m.pending {
			op := &m.pending[i]
			if op.n != nil {
				op.n = nodes[op.n]
			}
			if op.both != nil {
				if both[op.both] == nil {
					copied := *op.both
					both[op.both] = &copied
				}
				op.both = both[op.both]
			}
		}
	}
	c.root = nodes[d.root]
	c.visit = d.visit
	return c
}
