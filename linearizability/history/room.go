package history

import (
	"strings"

	"github.com/cespare/xxhash/v2"

	"purgelab/model/op"
)

// room is where what one history holds is kept. A history has millions of requests,
// replies and texts that all live as long as it does, so they share blocks: that halves
// the time to read them, and the collector of garbage has less to look at. The zero
// value is empty.
type room struct {
	requests slab[op.Request]
	replies  slab[op.Reply]
	payloads slab[op.Payload]
	records  slab[op.Record]
	texts    texts
}

// slab hands out values from blocks, the first of which are small.
type slab[T any] struct {
	free []T
	size int // of the latest block
}

const (
	firstSlab = 8
	mostSlab  = 1024
)

// take returns n zero values that nobody else has.
func (s *slab[T]) take(n int) []T {
	if s.free == nil || n > len(s.free) {
		s.size = min(max(2*s.size, firstSlab), mostSlab)
		s.free = make([]T, max(s.size, n))
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

func (s *slab[T]) one() *T { return &s.take(1)[0] }

// texts keeps strings. One that was kept lately is not kept again: what is appended is
// mostly read soon after.
type texts struct {
	lately []string // by hash
	block  strings.Builder
}

const (
	lately    = 1 << 12
	textBlock = 64 << 10
)

// of returns the string of some bytes.
func (t *texts) of(b []byte) string {
	if t.lately == nil {
		t.lately = make([]string, lately)
	}
	known := &t.lately[xxhash.Sum64(b)%lately]
	if *known == string(b) {
		return *known
	}
	from := t.block.Len()
	if from+len(b) > t.block.Cap() { // what is kept stays in the block that it is in
		t.block, from = strings.Builder{}, 0
		t.block.Grow(max(textBlock, len(b)))
	}
	t.block.Write(b)
	*known = t.block.String()[from:]
	return *known
}
