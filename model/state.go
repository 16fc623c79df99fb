package model

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"purgelab/model/op"
)

// Numbering says what a purge does to offsets.
type Numbering uint8

const (
	// Restart: a purge begins a generation, whose offsets start at 0.
	Restart Numbering = iota
	// Continue: a purge moves the start to the end, and numbering goes on.
	Continue
)

func (n Numbering) String() string {
	if n == Continue {
		return "continue"
	}
	return "restart"
}

// ParseNumbering reads what String prints.
func ParseNumbering(s string) (Numbering, error) {
	switch s {
	case "restart":
		return Restart, nil
	case "continue":
		return Continue, nil
	}
	return 0, fmt.Errorf("semantics %q: want restart or continue", s)
}

// Semantics are the parameters of the contract. The zero value is the default.
type Semantics struct {
	Numbering Numbering
	// Sessions bounds the session table; 0: unbounded.
	Sessions int
}

// State is a partition between two operations. It never changes, unless it is alone.
type State struct {
	incarnation op.Incarnation
	born        op.Incarnation // the first: no position of an earlier one is known
	began       []begin        // one per later incarnation; never modified in place
	generation  op.Generation
	settled     op.Generation // highest intent applied or mismatched; >= generation in Restart
	start       op.Offset     // 0 <= start <= log.len(), which is the end
	log         log
	latest      op.Timestamp // of the latest append of any generation
	bookmarks   []bookmark   // sorted by key; 0 <= offset < end
	sessions    []session    // sorted by id; if bounded, the least recently executed first
	lastSession op.Session   // the highest ever opened
	// alone: one replay has this state and looks back at none, so a step changes it in
	// place. The states of a search are never alone.
	alone bool
}

type bookmark struct {
	key    op.Key
	offset op.Offset
}

// session holds the reply to the last sequence executed, without records: a
// repeat reads them again.
type session struct {
	id    op.Session
	last  op.Sequence // 0: none yet
	reply op.Reply
	poll  bool // the reply is that of an auto-commit poll
}

// Init is a partition that was just created.
func Init() *State { return create(1) }

// create is a partition that was just created as incarnation i.
func create(i op.Incarnation) *State { return &State{incarnation: i, born: i} }

// Incarnation, Generation, Settled, Start, End, LastTimestamp and LastSession are the
// facts of the state that docs/contract.md names.
func (s *State) Incarnation() op.Incarnation { return s.incarnation }
func (s *State) Generation() op.Generation   { return s.generation }
func (s *State) Settled() op.Generation      { return s.settled }
func (s *State) Start() op.Offset            { return s.start }
func (s *State) End() op.Offset              { return s.log.len() }
func (s *State) LastTimestamp() op.Timestamp { return s.latest }
func (s *State) LastSession() op.Session     { return s.lastSession }

// Message returns the message at a readable offset.
func (s *State) Message(o op.Offset) (op.Record, bool) {
	if o < s.start || o >= s.End() {
		return op.Record{}, false
	}
	return s.log.at(o), true
}

// Bookmark returns the bookmark of a key.
func (s *State) Bookmark(k op.Key) (op.Position, bool) {
	i, ok := s.findBookmark(k)
	if !ok {
		return op.Position{}, false
	}
	return s.position(s.bookmarks[i].offset), true
}

// Keys lists the owners of bookmarks in order.
func (s *State) Keys() []op.Key {
	out := make([]op.Key, len(s.bookmarks))
	for i, b := range s.bookmarks {
		out[i] = b.key
	}
	return out
}

func (s *State) position(o op.Offset) op.Position {
	return op.Position{Incarnation: s.incarnation, Generation: s.generation, Offset: o}
}

func (s *State) findBookmark(k op.Key) (int, bool) {
	i := sort.Search(len(s.bookmarks), func(i int) bool { return !s.bookmarks[i].key.Less(k) })
	return i, i < len(s.bookmarks) && s.bookmarks[i].key == k
}

// next is the state that a step changes: a copy, or s itself if it is alone.
func (s *State) next() *State {
	if s.alone {
		return s
	}
	n := *s
	return &n
}

// withBookmark returns a state in which the bookmark of k is o.
func (s *State) withBookmark(k op.Key, o op.Offset) *State {
	n := s.next()
	i, ok := s.findBookmark(k)
	switch {
	case !ok:
		n.bookmarks = slices.Insert(slices.Clip(s.bookmarks), i, bookmark{k, o})
	case s.alone:
		n.bookmarks[i].offset = o
	default:
		n.bookmarks = slices.Clone(s.bookmarks)
		n.bookmarks[i].offset = o
	}
	return n
}

// Equal tells whether no operation can tell the states apart. It may find
// states different whose difference lies in deleted messages only.
func (s *State) Equal(o *State) bool {
	if s == o {
		return true
	}
	if s.incarnation != o.incarnation || s.born != o.born || !slices.Equal(s.began, o.began) || s.generation != o.generation || s.settled != o.settled ||
		s.start != o.start || s.latest != o.latest || s.lastSession != o.lastSession ||
		!slices.Equal(s.bookmarks, o.bookmarks) || len(s.sessions) != len(o.sessions) {
		return false
	}
	for i := range s.sessions {
		a, b := &s.sessions[i], &o.sessions[i]
		if a.id != b.id || a.last != b.last || a.poll != b.poll || !sameReply(&a.reply, &b.reply) {
			return false
		}
	}
	return s.log.equal(o.log)
}

// Hash is equal for equal states.
func (s *State) Hash() uint64 {
	h := mix(s.log.hash, uint64(s.generation)<<32|uint64(s.settled))
	h = mix(h, uint64(s.incarnation)<<32^uint64(s.start))
	h = mix(h, uint64(s.latest))
	for _, b := range s.bookmarks {
		h = mix(h, uint64(b.key.Kind)<<32|uint64(b.key.ID))
		h = mix(h, uint64(b.offset))
	}
	for i := range s.sessions {
		h = mix(h, uint64(s.sessions[i].id))
		h = mix(h, uint64(s.sessions[i].last))
	}
	return h
}

// String prints the state in one line, for reports.
func (s *State) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "i%d:g%d [%d, %d)", s.incarnation, s.generation, s.start, s.End())
	const show = 6
	for o := max(s.start, s.End()-show); o < s.End(); o++ {
		if o == s.start || o == s.End()-show {
			b.WriteString(" messages")
			if o > s.start {
				b.WriteString(" …")
			}
		}
		fmt.Fprintf(&b, " %d=%s", o, s.log.at(o).Payload)
	}
	if len(s.bookmarks) > 0 {
		b.WriteString(" bookmarks")
		for _, m := range s.bookmarks {
			fmt.Fprintf(&b, " %s=%d", m.key, m.offset)
		}
	}
	if s.settled > s.generation {
		fmt.Fprintf(&b, " settled %d", s.settled)
	}
	return b.String()
}
