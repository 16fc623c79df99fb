package crashfs

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// PowerLoss stops the machine and draws what survives; see the package comment.
// It draws for files and directories in the order of their creation: first the
// way (mode), then one decision per operation in the order of the operations,
// of a write first one per sector in ascending order and then one for the
// length if the write extended the file.
func (d *Disk) PowerLoss(r *rand.Rand) {
	d.boot++
	d.crashed = false
	for _, n := range d.reachable() {
		if n.dir {
			n.loseNames(r)
		} else {
			n.loseBytes(r)
		}
	}
}

// draw decides which operations survive. Five ways, because independent coins
// alone would almost never keep all or none of a long list.
type draw struct {
	r     *rand.Rand
	mode  int
	limit int // of prefix: the operation that may be torn
}

const (
	keepNone = iota
	keepAll
	keepPrefix
	keepHalf
	keepMost
	modes
)

func newDraw(r *rand.Rand, ops int) draw {
	d := draw{r: r, mode: r.IntN(modes)}
	if d.mode == keepPrefix {
		d.limit = r.IntN(ops)
	}
	return d
}

func (d draw) keep(i int) bool {
	switch d.mode {
	case keepNone:
		return false
	case keepAll:
		return true
	case keepPrefix:
		return i < d.limit || i == d.limit && d.r.IntN(2) == 0
	case keepHalf:
		return d.r.IntN(2) == 0
	}
	return d.r.IntN(8) != 0
}

// loseBytes leaves of the changes since the last Sync what the draw keeps.
func (n *node) loseBytes(r *rand.Rand) {
	if len(n.undo) > 0 {
		n.keepBytes(newDraw(r, len(n.undo)).keep)
	}
}

// keepBytes leaves of the changes since the last Sync what keep says, which is
// asked about change i once for each piece of it.
func (n *node) keepBytes(draw func(i int) bool) {
	written := n.rewind()
	length := int64(len(n.data))
	for i, u := range n.undo {
		keep := u.fate.or(draw)
		if u.trunc {
			if keep(i) {
				length = u.off
				n.resize(min(int64(len(n.data)), length))
			}
			continue
		}
		end := u.off + u.n
		for at := u.off; at < end; {
			next := min((at/Sector+1)*Sector, end)
			if keep(i) {
				n.resize(max(int64(len(n.data)), next))
				copy(n.data[at:next], written[i][at-u.off:next-u.off])
			}
			at = next
		}
		if end > u.prev && keep(i) {
			length = max(length, end)
		}
	}
	n.resize(length)
	n.undo, n.lost = nil, false
}

// rewind takes all changes back, newest first, so that data is the stable
// image, and returns what each of them had written.
func (n *node) rewind() [][]byte {
	written := make([][]byte, len(n.undo))
	for i := len(n.undo) - 1; i >= 0; i-- {
		u := &n.undo[i]
		written[i] = bytes.Clone(n.data[u.off : u.off+u.n])
		n.resize(u.prev)
		copy(n.data[min(u.off, u.prev):], u.old)
	}
	return written
}

// loseNames leaves of the changes since the last SyncDir what the draw keeps.
func (n *node) loseNames(r *rand.Rand) {
	if len(n.pending) > 0 {
		n.keepNames(newDraw(r, len(n.pending)).keep)
	}
}

// keepNames leaves of the changes since the last SyncDir what draw says.
func (n *node) keepNames(draw func(i int) bool) {
	names := slices.Clone(n.stable)
	for i, op := range n.pending {
		keep := false
		switch b := op.both; {
		case b == nil:
			keep = op.fate.or(draw)(i)
		case b.made:
			keep = b.keep
		default:
			keep = draw(i)
			b.made, b.keep = true, keep
		}
		if keep {
			names = op.apply(names)
		}
	}
	n.cur, n.lost = names, false
	n.syncNames()
}

// reachable returns every node that a name leads to, in the cache or possibly
// after a power loss, in the order of creation.
func (d *Disk) reachable() []*node {
	d.visit++
	var out []*node
	var walk func(n *node)
	walk = func(n *node) {
		if n == nil || n.mark == d.visit {
			return
		}
		n.mark = d.visit
		out = append(out, n)
		for _, e := range n.cur {
			walk(e.n)
		}
		for _, e := range n.stable {
			walk(e.n)
		}
		for _, op := range n.pending {
			walk(op.n)
		}
	}
	walk(d.root)
	slices.SortFunc(out, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	return out
}

// Digest hashes the whole disk as the cache shows it, with the number of
// unsynced changes of every file and directory.
func (d *Disk) Digest() uint64 {
	h := xxhash.New()
	var num [8]byte
	put := func(v int) {
		binary.LittleEndian.PutUint64(num[:], uint64(v))
		h.Write(num[:])
	}
	var walk func(n *node)
	walk = func(n *node) {
		put(len(n.data))
		h.Write(n.data)
		put(len(n.undo))
		put(len(n.pending))
		put(len(n.cur))
		for _, e := range n.cur {
			h.WriteString(e.name)
			put(len(e.name))
			walk(e.n)
		}
	}
	walk(d.root)
	return h.Sum64()
}
