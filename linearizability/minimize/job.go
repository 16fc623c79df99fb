package minimize

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// candidate is what may be red: a pointer to what is never changed. Nil is none.
type candidate interface {
	comparable
	key() string // equal ones have equal keys
	size() (ops, faults int)
}

// job looks for the smallest red candidate.
type job[C candidate] struct {
	jobs     int // at a time
	progress func(Progress)
	from     Progress
	// red tells whether a candidate is; an error ends all.
	red func(context.Context, C) (bool, error)
	// other is a candidate under another seed, and others how many of them it is tried
	// under besides its own.
	other  func(C, uint64) C
	others int

	best  C
	runs  int // candidates looked at, each once
	tried *memory
	err   error // why it cannot go on
}

// begin remembers how large the first one is.
func (m *job[C]) begin(first C) {
	m.best = first
	m.from.FromOps, m.from.FromFaults = first.size()
}

func (m *job[C]) going(ctx context.Context) bool { return m.err == nil && ctx.Err() == nil }

// take makes the first red one of n candidates the best, and gives its number; -1 if
// none is red.
func (m *job[C]) take(ctx context.Context, n int, of func(i int) C) int {
	each := 1 + m.others
	candidate := func(i int) C {
		c := of(i / each)
		var none C
		if k := i % each; k > 0 && c != none {
			c = m.other(c, uint64(k))
		}
		return c
	}
	found := m.first(ctx, n*each, candidate)
	m.count(found, n*each, candidate)
	if found < 0 {
		return -1
	}
	m.best = candidate(found)
	return found / each
}

// first is the number of the first red candidate of n, -1 if there is none or ctx ended
// before it was known. Candidates after it may have been tried, too.
func (m *job[C]) first(ctx context.Context, n int, candidate func(i int) C) int {
	var none C
	var mu sync.Mutex
	next, found := 0, n
	worker := func() error {
		for {
			mu.Lock()
			i := next
			next++
			stop := i >= found || m.err != nil || ctx.Err() != nil
			mu.Unlock()
			if stop {
				return nil
			}
			c := candidate(i)
			if c == none {
				continue
			}
			key := c.key()
			red, known := m.tried.get(key)
			if !known {
				var err error
				if red, err = m.red(ctx, c); err != nil || ctx.Err() != nil {
					mu.Lock()
					m.err = err
					mu.Unlock()
					return nil
				}
				m.tried.put(key, red)
			}
			if red {
				mu.Lock()
				found = min(found, i)
				mu.Unlock()
			}
		}
	}
	jobs := m.jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var g errgroup.Group
	for range min(jobs, n) {
		g.Go(worker)
	}
	_ = g.Wait() // a worker's error is the job's
	if found == n || m.err != nil || ctx.Err() != nil {
		return -1
	}
	return found
}

// count adds the candidates that had to be looked at, if they were looked at one after
// the other, and tells how far it is.
func (m *job[C]) count(found, n int, candidate func(i int) C) {
	var none C
	if found >= 0 {
		n = found + 1
	}
	for i := range n {
		if c := candidate(i); c != none && m.tried.count(c.key()) {
			m.runs++
		}
	}
	if m.progress != nil {
		p := m.from
		p.Runs = m.runs
		p.Ops, p.Faults = m.best.size()
		m.progress(p)
	}
}

// part is a list of things in a candidate that can be left out.
type part[C candidate] struct {
	size func(C) int
	// without leaves out [from, to); nil: that cannot be.
	without func(c C, from, to int) C
}

// chunks leaves out chunks of a part, large ones first.
func (m *job[C]) chunks(ctx context.Context, p part[C]) {
	for size := p.size(m.best); size >= 1 && m.going(ctx); {
		for at := 0; at < p.size(m.best) && m.going(ctx); {
			n := p.size(m.best)
			c := m.best
			i := m.take(ctx, (n-at+size-1)/size, func(i int) C {
				return p.without(c, at+i*size, min(n, at+(i+1)*size))
			})
			if i < 0 {
				break
			}
			at += i * size
		}
		size = min(size/2, p.size(m.best))
	}
}

// each changes one thing after the other, n of them; what cannot be changed is nil.
func (m *job[C]) each(ctx context.Context, size func(C) int, change func(c C, i int) C) {
	for at := 0; m.going(ctx); at++ {
		n, c := size(m.best), m.best
		if at >= n {
			return
		}
		i := m.take(ctx, n-at, func(i int) C { return change(c, at+i) })
		if i < 0 {
			return
		}
		at += i
		if size(m.best) < n {
			at-- // another one stands there now
		}
	}
}

// alone makes one change.
func (m *job[C]) alone(ctx context.Context, change func(C) C) {
	c := m.best
	m.take(ctx, 1, func(int) C { return change(c) })
}
