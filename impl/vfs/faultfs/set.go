package faultfs

import (
	"errors"
	"fmt"

	"purgelab/impl/vfs"
)

// ErrInjected matches every error that a rule makes.
var ErrInjected = errors.New("injected fault")

// Error is a call that a rule broke.
type Error struct {
	Rule  Rule
	Op    string
	Label vfs.Label
	Path  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("faultfs: %s %s (%s): %v by %s", e.Op, e.Path, e.Label, ErrInjected, e.Rule)
}

// Is makes it ErrInjected, a failure of the disk, and vfs.ErrNoSpace if that is
// what it says.
func (e *Error) Is(target error) bool {
	return target == ErrInjected || target == vfs.ErrFailed || target == vfs.ErrNoSpace && e.Rule.Action == NoSpace
}

// Set is rules with what they have counted. It outlives the file systems that it
// wraps, as a disk outlives the programs that use it.
type Set struct {
	rules []counted
	// Hit, if not nil, is called for each call that breaks, before it does.
	Hit  func(*Error)
	hits int
	last map[string]change // per path, kept only while a stale-read is there
}

type counted struct {
	Rule
	seen int
}

// change is the last write of a file.
type change struct {
	off int64
	old []byte // what it replaced; shorter if it went beyond the end
	n   int
}

// NewSet makes a set of rules.
func NewSet(rules ...Rule) *Set {
	s := &Set{last: map[string]change{}}
	s.Add(rules...)
	return s
}

// Add arms more rules; they count from now on.
func (s *Set) Add(rules ...Rule) {
	for _, r := range rules {
		s.rules = append(s.rules, counted{Rule: r})
	}
}

// Clear drops all rules.
func (s *Set) Clear() { s.rules = nil }

// Drop takes one rule back; the others go on counting.
func (s *Set) Drop(r Rule) {
	for i := range s.rules {
		if s.rules[i].Rule == r {
			s.rules = append(s.rules[:i], s.rules[i+1:]...)
			return
		}
	}
}

// Rules as they were added.
func (s *Set) Rules() []Rule {
	var out []Rule
	for _, c := range s.rules {
		out = append(out, c.Rule)
	}
	return out
}

// Hits is how many calls broke.
func (s *Set) Hits() int { return s.hits }

// Wrap is under, as the rules make it.
func (s *Set) Wrap(under vfs.FS) vfs.FS { return &files{s, under} }

// due asks all rules about a call; nil lets it pass.
func (s *Set) due(op string, label vfs.Label, path string) *Error {
	var hit *Error
	for i := range s.rules {
		c := &s.rules[i]
		if !c.Matches(op, string(label), path) {
			continue
		}
		c.seen++
		if hit == nil && c.seen >= c.Nth && (c.Times == 0 || c.seen < c.Nth+c.Times) {
			hit = &Error{Rule: c.Rule, Op: op, Label: label, Path: path}
		}
	}
	if hit != nil {
		s.hits++
		if s.Hit != nil {
			s.Hit(hit)
		}
	}
	return hit
}

// remembers tells whether writes must be kept for a stale read.
func (s *Set) remembers() bool {
	for i := range s.rules {
		if s.rules[i].Action == StaleRead {
			return true
		}
	}
	return false
}
