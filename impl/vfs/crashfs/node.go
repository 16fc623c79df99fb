package crashfs

import (
	"bytes"
	"slices"
	"strings"
)

// node is a file or a directory.
type node struct {
	id   uint64 // order of creation; draws are made in this order
	dir  bool
	mark uint64 // of the last walk that saw it

	// Of a file.
	data []byte // what the cache shows
	undo []undo // one entry per change since the last Sync, oldest first
	lost bool   // some changes, of bytes or of names, never become stable; see Forget

	// Of a directory.
	cur     []entry // names in the cache, sorted
	stable  []entry // names at the last SyncDir, sorted
	pending []nameOp
}

// undo takes back one change of a file's bytes or length.
type undo struct {
	off   int64  // where old goes; of a truncation, the new size
	n     int64  // bytes written; 0 of a truncation
	prev  int64  // length before
	old   []byte // bytes that were replaced or cut
	trunc bool
	fate  fate
}

// entry is one name in a directory.
type entry struct {
	name string
	n    *node
}

// nameOp is one change of names in a directory. From, if not empty, goes away;
// to, if not empty, becomes n.
type nameOp struct {
	from, to string
	n        *node
	// Shared by the two halves of a rename between directories; nil otherwise.
	both *decision
	fate fate
}

// decision is a draw that two operations share.
type decision struct{ made, keep bool }

// write changes the cache and remembers how to take that back.
func (n *node) write(p []byte, off int64) {
	if len(p) == 0 {
		return
	}
	end, prev := off+int64(len(p)), int64(len(n.data))
	u := undo{off: off, n: int64(len(p)), prev: prev}
	if off < prev {
		u.old = bytes.Clone(n.data[off:min(end, prev)])
	}
	if end > prev {
		n.resize(end)
	}
	copy(n.data[off:end], p)
	n.undo = append(n.undo, u)
}

// truncate changes the length in the cache.
func (n *node) truncate(size int64) {
	prev := int64(len(n.data))
	if size == prev {
		return
	}
	u := undo{off: size, prev: prev, trunc: true}
	if size < prev {
		u.old = bytes.Clone(n.data[size:])
	}
	n.resize(size)
	n.undo = append(n.undo, u)
}

// resize sets the length of data; new bytes are zero.
func (n *node) resize(size int64) {
	prev := int64(len(n.data))
	if size <= prev {
		n.data = n.data[:size]
		return
	}
	if size <= int64(cap(n.data)) {
		n.data = n.data[:size]
		clear(n.data[prev:])
		return
	}
	// Twice, and half as much again once that is a lot: a file that grows by
	// appends is copied about twice, and takes at most twice its bytes.
	room := 2 * int64(cap(n.data))
	if room > 512<<10 {
		room = room / 4 * 3
	}
	grown := make([]byte, size, max(size, room))
	copy(grown, n.data)
	n.data = grown
}

// sync makes what the cache shows stable.
func (n *node) sync() {
	if n.lost {
		n.syncRest()
		return
	}
	if cap(n.undo) > 1024 {
		n.undo = nil
		return
	}
	clear(n.undo)
	n.undo = n.undo[:0]
}

// syncNames makes the names of a directory stable.
func (n *node) syncNames() {
	if n.lost {
		n.syncRest()
		return
	}
	n.stable = append(n.stable[:0:0], n.cur...)
	n.pending = nil
}

// change applies a nameOp to the cache and remembers it.
func (n *node) change(op nameOp) {
	n.cur = op.apply(n.cur)
	n.pending = append(n.pending, op)
}

// apply makes the change in a list of names.
func (op nameOp) apply(names []entry) []entry {
	if op.from != "" {
		if i, found := search(names, op.from); found {
			names = slices.Delete(names, i, i+1)
		}
	}
	if op.to != "" {
		i, found := search(names, op.to)
		if found {
			names[i].n = op.n
		} else {
			names = slices.Insert(names, i, entry{op.to, op.n})
		}
	}
	return names
}

// lookup finds a name in the cache.
func (n *node) lookup(name string) *node {
	if i, found := search(n.cur, name); found {
		return n.cur[i].n
	}
	return nil
}

func search(names []entry, name string) (int, bool) {
	return slices.BinarySearchFunc(names, name, func(e entry, s string) int { return strings.Compare(e.name, s) })
}
