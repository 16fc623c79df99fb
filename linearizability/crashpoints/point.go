package crashpoints

import (
	"fmt"
	"strings"

	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
)

// Kind is what strikes at a disk call.
type Kind uint8

// The kinds. Before and After are as seen from the call's effect.
const (
	FailBefore Kind = iota
	FailAfter
	SyncForget // of a sync: see package faultfs
	SyncEvict
	NamesForget // of the sync of a folder
	ProcessBefore
	ProcessAfter
	PowerBefore
	PowerAfter
	kinds
)

var kindNames = [...]string{"fail-before", "fail-after", "sync-forget", "sync-evict", "names-forget", "process-crash-before", "process-crash-after", "power-loss-before", "power-loss-after"}

func (k Kind) String() string { return kindNames[k] }

func (k Kind) power() bool { return k >= PowerBefore }

func (k Kind) after() bool { return k == FailAfter || k == ProcessAfter || k == PowerAfter }

// fits tells whether a kind can strike at a call.
func fits(k Kind, c crashfs.Call) bool {
	switch k {
	case SyncForget, SyncEvict:
		return c.Op == "sync"
	case NamesForget:
		return c.Op == "syncdir"
	}
	return true
}

// Point is one fault at one disk call.
type Point struct {
	Kind Kind
	// Call counts the mutating calls from the start of the workload, or from the
	// fault before; At is what the call is.
	Call  int
	At    crashfs.Call
	same  int           // calls before it that a rule cannot tell from it
	Image crashfs.Image // of a power loss; nil: the first one
}

// pointAt is a fault at call i of a list.
func pointAt(k Kind, calls []crashfs.Call, i int) *Point {
	p := &Point{Kind: k, Call: i, At: calls[i]}
	if r, ok := p.rule(); ok {
		for _, c := range calls[:i] {
			if r.Matches(c.Op, string(c.Label), target(c)) {
				p.same++
			}
		}
	}
	return p
}

// target is the path that rules look at.
func target(c crashfs.Call) string {
	if c.To != "" {
		return c.To
	}
	return c.Path
}

// rule is the fault as a rule on the disk; crashes are none.
func (p *Point) rule() (faultfs.Rule, bool) {
	if p.Kind > NamesForget {
		return faultfs.Rule{}, false
	}
	r := faultfs.New(faultfs.Action(p.Kind.String()))
	r.Op, r.Label, r.Path, r.Nth = p.At.Op, string(p.At.Label), target(p.At), p.same+1
	return r, true
}

// String names a point; a power loss with what it keeps.
func (p *Point) String() string {
	s := fmt.Sprintf("%s at call %d: %s", p.Kind, p.Call+1, p.At)
	if p.Kind.power() {
		var bits strings.Builder
		for _, kept := range p.Image {
			bits.WriteByte("01"[b2i(kept)])
		}
		s += fmt.Sprintf(" keeping [%s]", bits.String())
	}
	return s
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
