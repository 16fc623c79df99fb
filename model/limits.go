package model

import "fmt"

// Limits of a search; 0: none. One that meets a limit, or whose context ends, proves
// nothing. Both are counted, so the same history meets them on every machine.
type Limits struct {
	Steps int64 // of the model
	// Bytes are what the search keeps, at most: porcupine remembers every state that
	// it was in, with a bit for each operation, and forgets none.
	Bytes int64
}

// lookEvery is how many steps of the model pass between two looks at the context: an
// answered operation with many unknown ones before it is one step of the search and
// any number of the model.
const lookEvery = 64

// exhausted tells whether the search must end.
func (p *Problem) exhausted() bool {
	if p.steps >= p.look {
		p.look = p.steps + lookEvery
		if err := p.ctx.Err(); err != nil && p.over == "" {
			p.over = err.Error()
		}
	}
	return p.over != "" || p.limits.Steps > 0 && p.steps > p.limits.Steps
}

// keeps counts what the search keeps of a step.
func (p *Problem) keeps(s *configurations) {
	p.bytes += int64(len(p.Operations)/8) + s.bytes()
	if p.limits.Bytes > 0 && p.bytes > p.limits.Bytes && p.over == "" {
		p.over = fmt.Sprintf("no verdict within %d MiB", p.limits.Bytes>>20)
	}
}

// Bytes of a configuration with its state, of a message, and of what is kept of a
// bookmark, of one possible value of it, of a pending operation and of a chunk.
const (
	configurationBytes = 320
	messageBytes       = 24
	keyedBytes         = 32
	alternativeBytes   = 32
	pendingBytes       = 4
	chunkBytes         = 8
)

// bytes of a set, as if its parts were in no other one.
func (s *configurations) bytes() int64 {
	n := int64(0)
	for i := range s.list {
		n += s.list[i].bytes()
	}
	return n
}

func (c *configuration) bytes() int64 {
	n := configurationBytes + pendingBytes*len(c.pending) + messageBytes*(c.core.log.n%chunkSize) + chunkBytes*(c.core.log.n/chunkSize)
	for i := range c.keys {
		n += keyedBytes
		for j := range c.keys[i].alts {
			n += alternativeBytes + pendingBytes*len(c.keys[i].alts[j].pending)
		}
	}
	return int64(n + configurationBytes*c.trail.len())
}
