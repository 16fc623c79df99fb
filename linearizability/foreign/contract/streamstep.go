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
		return m.acknowledge(s, x), ""
	case foreign.ListOffsets:
		return s, s.listed(x)
	}
	if x.op.F == foreign.DeleteRecords || m.sets {
		return s.deleted(x)
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
	n.last = bump
	return n, miscounted(x, removed)
}

// deleted carries out a delete-records, or a purge that is one of everything. Its
// answer is at least the cutoff and no more than the start.
func (s *streamState) deleted(x *item) (state, string) {
	at, all := cutoff(x)
	if !all && !x.placed {
		n := *s // it is not known which messages that means
		n.gone = s.next
		return &n, ""
	}
	end, ok := s.least()
	if all {
		at = end
	} else if ok && at.Compare(end) > 0 {
		return s, fmt.Sprintf("at: want no more than the end, %s, got %s", end, at)
	}
	n, removed := s.remove(s.below(x), "")
	start := n.start(end)
	if got := x.op.Answer.Position; got != nil && ok && (got.Compare(at) < 0 || got.Compare(start) > 0 && n.gone <= n.first) {
		return s, fmt.Sprintf("position: want %s to %s, got %s", at, start, got)
	}
	return n, miscounted(x, removed)
}

// cutoff is what a delete-records asks for, or that it asks for everything.
func cutoff(x *item) (foreign.Position, bool) {
	at := x.op.Ask.At
	if at == nil || at.Offset == -1 {
		return foreign.Position{}, true
	}
	return *at, false
}

// below is the serial below which a delete-records removes.
func (s *streamState) below(x *item) int {
	at, all := cutoff(x)
	if all || !x.placed {
		return s.next
	}
	return s.serialAt(at)
}

// start is the position of the first live message, or the end without any.
func (s *streamState) start(end foreign.Position) foreign.Position {
	if live := s.live(0, "", 1); len(live) > 0 && s.log.at(live[0]).at != nil {
		return *s.log.at(live[0]).at
	}
	return end
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

// acknowledge moves a cursor past a position; where positions are not told,
// nobody knows where it is then.
func (m streamMachine) acknowledge(s *streamState, x *item) *streamState {
	next := anywhere
	if x.placed && x.op.Ask.At != nil {
		next = s.serialAt(x.op.Ask.At.Next())
	}
	if now, ok := s.cursor(x.op.Ask.Key); ok && next != anywhere && !m.sets {
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
	if !ok {
		return ""
	}
	open := end.Entry() // the next ledger may have begun
	if x.op.Ask.Which == op.LatestOffset {
		if got.Compare(end) < 0 || got.Compare(end) > 0 && !open {
			return fmt.Sprintf("position: want the end, %s, got %s", end, got)
		}
		return ""
	}
	start := end
	if live := s.live(0, "", 1); len(live) > 0 {
		at := s.log.at(live[0]).at
		if at == nil {
			return "" // a message that nobody read may be the first
		}
		start, open = *at, false
	}
	if got.Compare(start) < 0 || got.Compare(start) > 0 && s.gone <= s.first && !open {
		return fmt.Sprintf("position: want the start, %s, got %s", start, got)
	}
	return ""
}

// poll checks what was read, and moves the cursor.
func (m streamMachine) poll(s *streamState, x *item) (state, string) {
	got, most := x.op.Answer.Records, wanted(x)
	from, jumped := m.from(s, x)
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
	if jumped && !m.undone {
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
// it open, what was read decides. Jumped: it passed over what may be gone.
func (m streamMachine) from(s *streamState, x *item) (int, bool) {
	from := s.first
	lost := false // nobody knows where the cursor is
	switch x.op.Ask.Strategy {
	case op.Next:
		next, ok := s.cursor(x.op.Ask.Key)
		lost = ok && next == anywhere
		if ok && !lost {
			from = max(next, from)
		}
	case op.AtOffset:
		from = max(s.serialAt(*x.op.Ask.At), from)
	}
	low, upto := from, max(from, s.gone)
	if lost {
		low, upto = s.first, s.next
	} else if m.redeliver && x.op.Ask.Strategy == op.Next {
		low = s.first
	}
	if low == upto {
		return from, false
	}
	if len(x.op.Answer.Records) == 0 {
		if lost {
			return anywhere, false
		}
		return upto, upto > from
	}
	want := x.op.Answer.Records[0].Payload
	for i := s.log.find(low); i < s.log.len() && s.log.at(i).serial <= upto; i++ {
		if t := s.log.at(i); t.payload == want {
			return t.serial, t.serial > from && !lost
		}
	}
	return from, false // the records will be found to be wrong
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
		return []state{m.acknowledge(s, x)}
	}
	if m.undone { // what is below may be gone now and be there later
		n := *s
		n.gone = max(s.gone, s.below(x))
		return []state{&n}
	}
	n, why := m.answer(s, x)
	if why != "" {
		return nil
	}
	return []state{n}
}

// matters: an append that nobody read shows only in counts and in the end; what
// an unknown poll or an acknowledgement does, only where its cursor is asked.
func (m streamMachine) matters(u, y *item) bool {
	ask := y.op.Ask
	switch u.op.F {
	case foreign.Append:
		return tells(y.op) || y.op.F == foreign.Append && m.counted
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

// tells tells whether what a purge does, or an answer about bounds or counts,
// depends on messages that nobody read.
func tells(o *foreign.Op) bool {
	switch o.F {
	case foreign.Purge:
		return o.Ask.At != nil || o.Ask.Keep != nil || o.Answer.Count != nil || o.Answer.Position != nil
	case foreign.DeleteRecords, foreign.ListOffsets:
		return true
	}
	return false
}

// moves tells whether an operation reads or moves a cursor.
func moves(y *item) bool {
	return y.op.F == foreign.Poll || y.op.F == foreign.StoreBookmark || y.op.F == foreign.DeleteBookmark
}
