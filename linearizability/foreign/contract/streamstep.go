package contract

import (
	"fmt"
	"math"
	"sort"

	"purgelab/linearizability/foreign"
	"purgelab/model/op"
)

// answer executes an answered item, or one of its phases.
func (m streamMachine) answer(from state, x *item) (state, string) {
	s := from.(*streamState)
	switch x.phase {
	case sampling:
		return s.sampled(x.id), ""
	case effect:
		end, ok := s.sample(x.id)
		if !ok {
			return s, "its end was not seen yet"
		}
		return m.cut(s.used(x.id), x, end)
	case trim:
		return s.trim(), ""
	}
	switch x.op.F {
	case foreign.Append:
		return s.push(x)
	case foreign.Poll:
		return m.poll(s, x)
	case foreign.StoreBookmark, foreign.DeleteBookmark:
		return s.acknowledge(x), ""
	case foreign.ListOffsets:
		return s, s.listed(x)
	case foreign.DeleteRecords:
		if x.op.Ask.At.Offset == -1 {
			return m.cut(s, x, s.next)
		}
		n := *s // it is not known which messages that means
		n.gone = s.next
		return &n, ""
	}
	return m.cut(s, x, s.next)
}

// cut carries out a purge that may remove up to a serial.
func (m streamMachine) cut(s *streamState, x *item, end int) (state, string) {
	ask := x.op.Ask
	if m.perCursor {
		if next, ok := s.cursor(x.key); ok && (next == anywhere || next < end) {
			return s.with(x.key, end), ""
		}
		return s, ""
	}
	bump := s.last
	switch {
	case ask.Keep != nil:
		end = s.oldest(*ask.Keep, ask.Subject)
	case x.op.F == foreign.Purge && ask.At != nil:
		end = s.serialAt(*ask.At)
		if low, ok := s.least(); ask.Subject == "" && (!ok || ask.At.Compare(low) > 0) {
			last := *ask.At // numbering goes on from there
			last.Offset--
			bump = &last
		}
	}
	n, removed := s.remove(end, ask.Subject)
	if n.last = bump; bump != s.last {
		n.unsaid = 0
	}
	return n, miscounted(x, removed)
}

// trim lets go what no cursor needs any more and the ledger in use does not hold.
func (s *streamState) trim() *streamState {
	n := *s
	gone := s.next
	for _, c := range s.cursors {
		gone = min(gone, max(c.next, s.first))
	}
	if k := s.log.len(); k > 0 {
		last := s.log.at(k - 1)
		if gone = min(gone, last.serial); last.at != nil { // else it may be the first of its ledger
			gone = min(gone, s.serialAt(foreign.Position{Ledger: last.at.Ledger}))
		}
	}
	n.gone = max(s.gone, gone)
	return &n
}

// serialAt is the serial of the first message at a position or above it. Those
// without a position, which nobody read, count with the one after them.
func (s *streamState) serialAt(p foreign.Position) int {
	i := sort.Search(s.log.len(), func(i int) bool {
		for ; i < s.log.len(); i++ {
			if at := s.log.at(i).at; at != nil {
				return at.Compare(p) >= 0
			}
		}
		return true
	})
	if i == s.log.len() {
		return s.next
	}
	return s.log.at(i).serial
}

// acknowledge raises a cursor past a position; where positions are not told,
// nobody knows where it is then.
func (s *streamState) acknowledge(x *item) *streamState {
	next := anywhere
	if x.placed && x.op.Ask.At != nil {
		next = s.serialAt(x.op.Ask.At.Next())
	}
	if now, ok := s.cursor(x.op.Ask.Key); ok && next != anywhere {
		next = max(next, now)
	}
	return s.with(x.op.Ask.Key, next)
}

// listed checks an answer about the bounds.
func (s *streamState) listed(x *item) string {
	got := x.op.Answer.Position
	if got == nil {
		return ""
	}
	end, ok := s.least()
	if x.op.Ask.Which == op.EarliestOffset {
		if live := s.live(0, "", 1); len(live) > 0 {
			end = *s.log.at(live[0]).at
			ok = true
		}
	} else if ok && s.unsaid == 0 && got.Compare(end) != 0 || ok && got.Compare(end) < 0 {
		return fmt.Sprintf("position: want the end, %s, got %s", end, got)
	}
	if x.op.Ask.Which == op.EarliestOffset && ok && got.Compare(end) != 0 {
		return fmt.Sprintf("position: want the start, %s, got %s", end, got)
	}
	return ""
}

// poll checks what was read, and moves the cursor.
func (m streamMachine) poll(s *streamState, x *item) (state, string) {
	got, most := x.op.Answer.Records, wanted(x)
	from, why := m.from(s, x)
	if why != "" {
		return s, why
	}
	live := s.live(from, x.op.Ask.Subject, most)
	if x.op.Ask.Strategy == op.Last {
		live = s.live(from, x.op.Ask.Subject, math.MaxInt)
		live = live[max(0, len(live)-most):]
	}
	if loose := m.short || from == anywhere && len(got) == 0; len(got) > len(live) || len(got) < len(live) && !loose {
		return s, fmt.Sprintf("records: want %d %s, got %d %s", len(live), s.payloadsOf(live), len(got), payloadsRead(got))
	}
	for i, r := range got {
		want := s.log.at(live[i])
		if want.payload != r.Payload {
			return s, fmt.Sprintf("record %d: want %s, got %s", i+1, want.payload, r.Payload)
		}
		if told := x.places[i]; told != nil && want.at != nil && *told != *want.at {
			return s, fmt.Sprintf("record %d: want it at %s, got it at %s", i+1, want.at, told)
		}
	}
	n := s
	if reads(x) && x.op.Ask.Strategy != op.AtOffset && from > s.first && from <= s.gone {
		c := *s // what was perhaps gone is gone
		c.first, n = from, &c
	}
	if x.op.Ask.Key == "" || reads(x) && !x.op.Ask.AutoCommit {
		return n, ""
	}
	now, has := n.cursor(x.op.Ask.Key)
	switch {
	case x.op.Ask.AutoCommit && len(got) > 0:
		if next := s.log.at(live[len(got)-1]).serial + 1; !has || next > now {
			n = n.with(x.op.Ask.Key, next)
		}
	case !has && from >= 0:
		n = n.with(x.op.Ask.Key, from)
	}
	return n, ""
}

func payloadsRead(records []foreign.Record) string {
	var out []op.Payload
	for i, r := range records {
		if i == 6 {
			out = append(out, "…")
			break
		}
		out = append(out, r.Payload)
	}
	return fmt.Sprint(out)
}

// from is the serial at which a poll starts to read; where the contract leaves
// it open, what was read decides.
func (m streamMachine) from(s *streamState, x *item) (int, string) {
	from, back := s.first, s.first
	upto := max(s.gone, s.first) // as far as it may start, of itself
	switch x.op.Ask.Strategy {
	case op.Next:
		next, ok := s.cursor(x.op.Ask.Key)
		if !ok {
			break
		}
		if next == anywhere {
			from, upto = s.first, s.next
		} else {
			from = max(next, s.first)
			if upto = from; m.redeliver {
				upto, from = from, back
			}
		}
	case op.AtOffset:
		from = max(s.serialAt(*x.op.Ask.At), s.first)
		upto = max(from, upto)
	}
	if from == upto {
		return from, ""
	}
	if len(x.op.Answer.Records) == 0 {
		if next, ok := s.cursor(x.op.Ask.Key); ok && next == anywhere && !reads(x) {
			return anywhere, ""
		}
		return upto, ""
	}
	want := x.op.Answer.Records[0].Payload
	for i := s.log.find(from); i < s.log.len(); i++ {
		t := s.log.at(i)
		if t.payload == want && t.serial <= upto {
			return t.serial, ""
		}
		if t.serial > upto {
			break
		}
	}
	return upto, "" // the records will be found to be wrong
}

// joins remembers the end that an unknown purge may have seen first.
func (streamMachine) joins(from state, x *item) state {
	if x.phase == effect {
		return from.(*streamState).sampled(x.id)
	}
	return from
}

// effects are the states that an unknown item may lead to.
func (m streamMachine) effects(from state, x *item) []state {
	s := from.(*streamState)
	switch {
	case x.phase == trim:
		return []state{s.trim()}
	case x.phase == effect:
		low, _ := s.sample(x.id)
		var out []state
		for end := low; end <= s.next; end++ {
			n, _ := m.cut(s.used(x.id), x, end)
			out = append(out, n)
		}
		return out
	}
	switch x.op.F {
	case foreign.Append:
		n, why := s.push(x)
		if why != "" {
			return nil
		}
		return []state{n}
	case foreign.Poll:
		var out []state
		next, ok := s.cursor(x.op.Ask.Key)
		if !ok {
			next = s.first
			out = append(out, s.with(x.op.Ask.Key, next))
		}
		if next == anywhere || !x.op.Ask.AutoCommit {
			return out
		}
		for _, i := range s.live(next, x.op.Ask.Subject, wanted(x)) {
			out = append(out, s.with(x.op.Ask.Key, s.log.at(i).serial+1))
		}
		return out
	case foreign.StoreBookmark, foreign.DeleteBookmark:
		return []state{s.acknowledge(x)}
	case foreign.DeleteRecords:
		n, _ := m.answer(s, x)
		return []state{n}
	}
	n, _ := m.cut(s, x, s.next)
	return []state{n}
}

// matters: an append that nobody read shows only in counts and in the end; what
// an unknown poll or an acknowledgement does, only where its cursor is asked.
func (m streamMachine) matters(u, y *item) bool {
	ask := y.op.Ask
	switch u.op.F {
	case foreign.Append:
		return y.op.F == foreign.Purge && (y.op.Answer.Count != nil || ask.Keep != nil) ||
			y.op.F == foreign.Append && m.counted || y.op.F == foreign.ListOffsets && ask.Which == op.LatestOffset
	case foreign.Poll, foreign.StoreBookmark, foreign.DeleteBookmark:
		return u.op.Ask.Key == ask.Key && moves(y) || u.op.Ask.Key == y.key || y.phase == trim
	}
	switch {
	case y.phase == sampling:
		return false
	case u.phase == trim:
		return y.op.F == foreign.Poll || y.op.F == foreign.ListOffsets
	case m.perCursor:
		return y.phase == trim || u.key == ask.Key && moves(y)
	}
	return y.op.F != foreign.StoreBookmark && (y.op.F != foreign.Append || u.phase != effect)
}

// moves tells whether an operation reads or moves a cursor.
func moves(y *item) bool {
	return y.op.F == foreign.Poll || y.op.F == foreign.StoreBookmark || y.op.F == foreign.DeleteBookmark
}
