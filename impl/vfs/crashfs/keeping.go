package crashfs

// Change is one change that is not stable: of names in a directory, or of a part of
// the bytes or the length of a file.
type Change struct {
	// Path of the directory or file, as the cache shows it, or as it may be after a
	// power loss if the cache does not show it.
	Path string
	// Nth change of the directory or file, from 0, of those that are not stable.
	Nth int
	// Of names: From, if not empty, goes away; To, if not empty, appears or becomes
	// another file.
	From, To string
	// Of bytes: where the write that they are a part of begins and ends. Of a
	// truncation Offset is the new length, and End 0.
	Offset, End int64
}

// Names tells whether it is a change of names.
func (c Change) Names() bool { return c.From != "" || c.To != "" }

// PowerLossKeeping is PowerLoss in which keep decides about every change. Of a write
// it is asked for each sector, and for the length.
func (d *Disk) PowerLossKeeping(keep func(Change) bool) {
	d.boot++
	d.crashed = false
	nodes, paths := d.reachable(), d.paths()
	for _, n := range nodes {
		c := Change{Path: paths[n]}
		switch {
		case n.dir:
			pending := n.pending
			n.keepNames(func(i int) bool {
				c.Nth, c.From, c.To = i, pending[i].from, pending[i].to
				return keep(c)
			})
		case len(n.undo) > 0:
			undo := n.undo
			n.keepBytes(func(i int) bool {
				c.Nth, c.Offset, c.End = i, undo[i].off, undo[i].off+undo[i].n
				if undo[i].trunc {
					c.End = 0
				}
				return keep(c)
			})
		}
	}
}

// paths names every node that can be reached.
func (d *Disk) paths() map[*node]string {
	out := map[*node]string{d.root: "."}
	var walk func(n *node)
	walk = func(n *node) {
		var found []entry
		found = append(append(found, n.cur...), n.stable...)
		for _, op := range n.pending {
			if op.n != nil && op.to != "" {
				found = append(found, entry{op.to, op.n})
			}
		}
		for _, e := range found {
			if _, named := out[e.n]; named {
				continue
			}
			out[e.n] = e.name
			if n != d.root {
				out[e.n] = out[n] + "/" + e.name
			}
			walk(e.n)
		}
	}
	walk(d.root)
	return out
}
