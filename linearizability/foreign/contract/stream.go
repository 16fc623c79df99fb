package contract

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"purgelab/linearizability/foreign"
	"purgelab/model/op"
)

// streamRules are the parameters of a stream: a log whose numbering goes on for
// ever and may have gaps.
type streamRules struct {
	// sampled: a purge of everything removes up to the end as of some instant
	// between its call and its effect.
	sampled bool
	// perCursor: a purge moves the cursors to the end, one by one, and then what is
	// below all of them may go, but for the ledger that is being written.
	perCursor bool

	// counted: some answer tells a count or a bound, or a purge goes by one, so that it
	// matters where among the others a message stands that nobody read.
	counted bool

	// sets: a stored bookmark is set, and may go back; else it only rises.
	sets bool

	undone    bool // a cut of unknown outcome may be seen and undone
	short     bool // a poll may return less than there is
	redeliver bool // a cursor may fall back
}

// streamState is a stream between two operations.
type streamState struct {
	log     messages
	next    int // serial of the next message
	first   int // serials below are gone
	gone    int // serials below may be gone, those below first are
	last    *foreign.Position
	told    *foreign.Position // of the latest message whose position the history tells
	cursors []cursor          // sorted by key, never modified in place
	samples []sample          // sorted by id, never modified in place
}

// cursor is the serial at which a consumer goes on; anywhere: nobody knows.
type cursor struct {
	key  string
	next int
}

const anywhere = -1

// sample is the end that a purge saw before it took effect.
type sample struct {
	id, end int
}

// streamMachine has bases: the positions that the message before the first one may
// have had.
type streamMachine struct {
	streamRules
	bases []foreign.Position
}

func (m streamMachine) begin() []state {
	out := []state{&streamState{}}
	for i := range m.bases {
		out = append(out, &streamState{last: &m.bases[i]})
	}
	return out
}

func (s *streamState) hash() uint64 {
	h := mix(mix(s.log.hash, uint64(s.first)<<32|uint64(s.gone)), uint64(s.next))
	for _, c := range s.cursors {
		h = mix(mix(h, hashText(c.key)), uint64(c.next))
	}
	for _, x := range s.samples {
		h = mix(mix(h, uint64(x.id)), uint64(x.end))
	}
	return h
}

func (s *streamState) equal(other state) bool {
	o := other.(*streamState)
	return s == o || s.first == o.first && s.gone == o.gone && s.next == o.next && samePlace(s.last, o.last) &&
		slices.Equal(s.cursors, o.cursors) && slices.Equal(s.samples, o.samples) && s.log.equal(o.log)
}

func samePlace(a, b *foreign.Position) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func (s *streamState) size() int64 {
	return int64(160 + 64*len(s.log.tail) + len(s.log.full)/4 + 24*len(s.cursors) + 16*len(s.samples))
}

func (s *streamState) String() string {
	var b strings.Builder
	from := s.log.find(s.first)
	fmt.Fprintf(&b, "%d messages", s.log.len()-from)
	const show = 6
	for i := max(from, s.log.len()-show); i < s.log.len(); i++ {
		m := s.log.at(i)
		if i == max(from, s.log.len()-show) && i > from {
			b.WriteString(" …")
		}
		if m.at != nil {
			fmt.Fprintf(&b, " %s=%s", m.at, m.payload)
		} else {
			fmt.Fprintf(&b, " %s", m.payload)
		}
	}
	for _, c := range s.cursors {
		if i := s.log.find(c.next); c.next != anywhere && i < s.log.len() {
			fmt.Fprintf(&b, ", %s before %s", c.key, s.log.at(i).payload)
		} else if c.next != anywhere {
			fmt.Fprintf(&b, ", %s at the end", c.key)
		}
	}
	return b.String()
}

func (s *streamState) cursor(key string) (int, bool) {
	i, ok := s.findCursor(key)
	if !ok {
		return 0, false
	}
	return s.cursors[i].next, true
}

func (s *streamState) findCursor(key string) (int, bool) {
	return slices.BinarySearchFunc(s.cursors, key, func(c cursor, k string) int { return cmp.Compare(c.key, k) })
}

// with is s with a cursor at a serial.
func (s *streamState) with(key string, next int) *streamState {
	n := *s
	n.cursors = slices.Clone(s.cursors)
	if i, ok := s.findCursor(key); ok {
		n.cursors[i].next = next
	} else {
		n.cursors = slices.Insert(n.cursors, i, cursor{key, next})
	}
	return &n
}

func (s *streamState) sample(id int) (int, bool) {
	i, ok := slices.BinarySearchFunc(s.samples, id, func(x sample, id int) int { return cmp.Compare(x.id, id) })
	if !ok {
		return 0, false
	}
	return s.samples[i].end, true
}

// sampled is s with the end as of now noted for a purge; used, without it.
func (s *streamState) sampled(id int) *streamState {
	n := *s
	i, _ := slices.BinarySearchFunc(s.samples, id, func(x sample, id int) int { return cmp.Compare(x.id, id) })
	n.samples = slices.Insert(slices.Clone(s.samples), i, sample{id, s.next})
	return &n
}

func (s *streamState) used(id int) *streamState {
	n := *s
	n.samples = slices.DeleteFunc(slices.Clone(s.samples), func(x sample) bool { return x.id == id })
	return &n
}

// push takes in the messages of an append.
func (s *streamState) push(x *item) (*streamState, string) {
	n := *s
	for i, p := range x.op.Ask.Payloads {
		at := x.places[i]
		if at != nil {
			if p := x.prev[i]; p != nil && !samePlace(p, n.told) {
				return s, fmt.Sprintf("position: want the message at %s before that at %s", p, at)
			}
			n.told = at
		}
		if at == nil && n.last != nil && !n.last.Entry() {
			q := n.last.Next() // numbers are given one after the other
			at = &q
		}
		if at != nil {
			if low, ok := n.least(); ok && at.Compare(low) < 0 {
				return s, fmt.Sprintf("position: want %s or more, for %s is taken, got %s", low, n.last, at)
			}
			n.last = at
		}
		n.log = n.log.append(message{n.next, p, x.op.Ask.Subject, at})
		n.next++
	}
	return &n, ""
}

// least is the lowest position that the next message may have.
func (s *streamState) least() (foreign.Position, bool) {
	if s.last == nil {
		return foreign.Position{}, false
	}
	return s.last.Next(), true
}

// live lists the indexes of the messages from a serial on that a filter lets
// through, at most as many as are wanted.
func (s *streamState) live(from int, filter string, most int) []int {
	var out []int
	for i := s.log.find(max(from, s.first)); i < s.log.len() && len(out) < most; i++ {
		if covers(filter, s.log.at(i).subject) {
			out = append(out, i)
		}
	}
	return out
}

// covers tells whether a subject is one that a filter names: all without one; a
// token * stands for any one, > at the end for any that follow.
func covers(filter, subject string) bool {
	if filter == "" {
		return true
	}
	f, s := strings.Split(filter, "."), strings.Split(subject, ".")
	for i, token := range f {
		switch {
		case token == ">" && i == len(f)-1:
			return len(s) > i
		case i >= len(s) || token != "*" && token != s[i]:
			return false
		}
	}
	return len(s) == len(f)
}

// remove takes out the live messages below a serial that a filter lets through,
// and tells how many they were.
func (s *streamState) remove(below int, filter string) (*streamState, int) {
	n := *s
	n.gone = max(n.gone, n.first)
	count := 0
	for i := s.log.find(s.first); i < s.log.len() && s.log.at(i).serial < below; i++ {
		if covers(filter, s.log.at(i).subject) {
			count++
		}
	}
	if filter == "" {
		n.first = max(s.first, below)
		n.gone = max(n.gone, n.first)
		return &n, count
	}
	if count > 0 {
		n.log = s.log.keep(func(m *message) bool {
			return m.serial >= s.first && (m.serial >= below || !covers(filter, m.subject))
		})
	}
	return &n, count
}

// oldest is the serial below which a purge that keeps the newest k of a filter
// removes.
func (s *streamState) oldest(k uint32, filter string) int {
	live := s.live(0, filter, s.log.len())
	if int(k) >= len(live) {
		return 0
	}
	if k == 0 {
		return s.next
	}
	return s.log.at(live[len(live)-int(k)]).serial
}

// count is how many messages an answer says that it removed.
func miscounted(x *item, removed int) string {
	if want := x.op.Answer.Count; x.op.F == foreign.Purge && want != nil && int(*want) != removed {
		return fmt.Sprintf("count: want %d removed, got %d", removed, *want)
	}
	return ""
}

// payloadsOf prints what a read should have found, for reasons.
func (s *streamState) payloadsOf(live []int) string {
	var out []string
	for _, i := range live {
		if len(out) == 6 {
			out = append(out, "…")
			break
		}
		out = append(out, string(s.log.at(i).payload))
	}
	return fmt.Sprint(out)
}

// wanted is how many records a poll asks for. One that does not tell is not held
// to more than it got; of unknown outcome, it may have got all.
func wanted(x *item) int {
	switch m := x.op.Ask.Max; {
	case m != nil:
		return int(*m)
	case x.unknown >= 0:
		return math.MaxInt
	}
	return len(x.op.Answer.Records)
}

// reads tells where a poll starts of itself: not after a cursor.
func reads(x *item) bool { return x.op.Ask.Strategy != op.Next }
