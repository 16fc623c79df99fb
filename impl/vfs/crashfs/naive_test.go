package crashfs

import (
	"bytes"
	"math/rand/v2"
	"sort"
)

// naive is the same disk, obviously correct and slow: every file is a stable
// image and the list of all changes since; what the cache shows is worked out
// anew by making all of them, what a power loss leaves by making some.
type naive struct {
	nodes []*naiveNode // in order of creation; 0 is the root
}

type naiveNode struct {
	dir    bool
	stable []byte
	ops    []naiveWrite
	names  map[string]*naiveNode
	moves  []naiveMove
}

type naiveWrite struct {
	off  int64
	data []byte // nil: truncate to off
}

type naiveMove struct {
	from, to string
	n        *naiveNode
	draw     *int // 0 not made, 1 drop, 2 keep
}

func newNaive() *naive {
	return &naive{nodes: []*naiveNode{{dir: true, names: map[string]*naiveNode{}}}}
}

func (m *naive) add(dir bool) *naiveNode {
	n := &naiveNode{dir: dir, names: map[string]*naiveNode{}}
	m.nodes = append(m.nodes, n)
	return n
}

func (n *naiveNode) bytes() []byte {
	out := bytes.Clone(n.stable)
	for _, w := range n.ops {
		if w.data == nil {
			out = setLen(out, w.off)
			continue
		}
		if end := w.off + int64(len(w.data)); end > int64(len(out)) {
			out = setLen(out, end)
		}
		copy(out[w.off:], w.data)
	}
	return out
}

func setLen(b []byte, n int64) []byte {
	out := make([]byte, n)
	copy(out, b)
	return out
}

func (n *naiveNode) list() map[string]*naiveNode { return n.after(func(int) bool { return true }) }

func (n *naiveNode) after(keep func(i int) bool) map[string]*naiveNode {
	out := map[string]*naiveNode{}
	for k, v := range n.names {
		out[k] = v
	}
	for i, op := range n.moves {
		if keep(i) {
			delete(out, op.from)
			if op.to != "" {
				out[op.to] = op.n
			}
		}
	}
	return out
}

func (n *naiveNode) sorted() []string {
	var out []string
	for name, c := range n.list() {
		if c.dir {
			name += "/"
		}
		out = append(out, name)
	}
	sort.Slice(out, func(i, j int) bool { return trimSlash(out[i]) < trimSlash(out[j]) })
	return out
}

func trimSlash(s string) string {
	if s != "" && s[len(s)-1] == '/' {
		return s[:len(s)-1]
	}
	return s
}

func (n *naiveNode) sync() {
	if n.dir {
		n.names, n.moves = n.list(), nil
	} else {
		n.stable, n.ops = n.bytes(), nil
	}
}

// powerLoss draws in the documented order and applies what is kept.
func (m *naive) powerLoss(r *rand.Rand) {
	seen := map[*naiveNode]bool{}
	m.reach(m.nodes[0], seen)
	for _, n := range m.nodes {
		if !seen[n] {
			continue
		}
		switch {
		case n.dir && len(n.moves) > 0:
			n.loseNames(r)
		case !n.dir && len(n.ops) > 0:
			n.loseBytes(r)
		}
	}
}

func (m *naive) reach(n *naiveNode, seen map[*naiveNode]bool) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	for _, c := range n.names {
		m.reach(c, seen)
	}
	for _, op := range n.moves {
		m.reach(op.n, seen)
	}
}

func (n *naiveNode) loseNames(r *rand.Rand) {
	coin := coins(r, len(n.moves))
	kept := make([]bool, len(n.moves))
	for i, op := range n.moves {
		if op.draw != nil && *op.draw != 0 {
			kept[i] = *op.draw == 2
			continue
		}
		kept[i] = coin(i)
		if op.draw != nil {
			*op.draw = 1
			if kept[i] {
				*op.draw = 2
			}
		}
	}
	n.names, n.moves = n.after(func(i int) bool { return kept[i] }), nil
}

func (n *naiveNode) loseBytes(r *rand.Rand) {
	coin := coins(r, len(n.ops))
	out := bytes.Clone(n.stable)   // may be longer than length
	length := int64(len(n.stable)) // that survives
	shown := int64(len(n.stable))  // by the cache at this point
	for i, w := range n.ops {
		if w.data == nil {
			shown = w.off
			if coin(i) {
				length = w.off
				if length < int64(len(out)) {
					out = out[:length]
				}
			}
			continue
		}
		end := w.off + int64(len(w.data))
		for s := w.off / 512; s*512 < end; s++ {
			lo, hi := max(w.off, s*512), min(end, s*512+512)
			if coin(i) {
				if hi > int64(len(out)) {
					out = setLen(out, hi)
				}
				copy(out[lo:hi], w.data[lo-w.off:])
			}
		}
		if end > shown {
			shown = end
			if coin(i) {
				length = max(length, end)
			}
		}
	}
	n.stable, n.ops = setLen(out, length), nil
}

// coins is the documented way of a draw.
func coins(r *rand.Rand, ops int) func(i int) bool {
	switch mode := r.IntN(5); mode {
	case 0, 1:
		return func(int) bool { return mode == 1 }
	case 2:
		limit := r.IntN(ops)
		return func(i int) bool { return i < limit || i == limit && r.IntN(2) == 0 }
	case 3:
		return func(int) bool { return r.IntN(2) == 0 }
	default:
		return func(int) bool { return r.IntN(8) != 0 }
	}
}
