package model

import "purgelab/model/op"

// Choice is what the contract leaves to the implementation.
type Choice struct {
	// Timestamp of an append; one below the last timestamp is raised to it.
	Timestamp op.Timestamp
	// Generation of a purge without an intent; one that is not above the
	// settled one means the settled one plus 1.
	Generation op.Generation
	// Session that a register opens; one that is not above every earlier one
	// means the last plus 1.
	Session op.Session
	// Gone: the range of an auto-commit poll was removed before it was read.
	Gone bool
	// Refused: a purge that means another incarnation has no intent yet.
	Refused bool
	// Incarnation that begins, one that is not above the current one means the
	// current one plus 1; and Agreed, what it knows to have been agreed on.
	Incarnation op.Incarnation
	Agreed      op.Position
}

// Step executes one request: docs/contract.md, row by row. It is pure, unless the state
// is alone.
func (sem Semantics) Step(s *State, r *op.Request, c Choice) (*State, op.Reply) {
	if sem.misdirected(s, r, c) {
		return s, s.bounds(op.StaleIncarnation)
	}
	if sem.Malformed(r) {
		return s, refuse(r, op.BadRequest)
	}
	switch {
	case r.Kind == op.NewIncarnation:
		return s.newIncarnation(c)
	case r.Kind == op.Register:
		return sem.register(s, c)
	case r.Kind == op.Purge && sem.Numbering == Restart:
		return s.purge(r, c)
	case r.Session != 0 && r.Mutates():
		return sem.numbered(s, r, c)
	}
	return sem.execute(s, r, c)
}

// refuse is an error reply without bounds. The low watermark of a failed
// delete-records is -1, whatever the error.
func refuse(r *op.Request, code op.Code) op.Reply {
	reply := op.Reply{Code: code}
	if r.Kind == op.DeleteRecords {
		reply.Position.Offset = -1
	}
	return reply
}

// Malformed tells whether the request is refused for its shape alone.
func (sem Semantics) Malformed(r *op.Request) bool {
	switch r.Kind {
	case op.Register, op.NewIncarnation:
		return false
	case op.Purge:
		if sem.Numbering == Restart {
			return false
		}
	case op.Append:
		if len(r.Payloads) == 0 {
			return true
		}
	case op.Poll:
		if r.Max == 0 {
			return true
		}
	}
	return r.Mutates() && (r.Session == 0) != (r.Sequence == 0)
}

func (sem Semantics) execute(s *State, r *op.Request, c Choice) (*State, op.Reply) {
	switch r.Kind {
	case op.Append:
		return s.append(r, c)
	case op.Poll:
		return s.poll(r, c)
	case op.StoreBookmark:
		if code := s.stale(r); code != op.OK {
			return s, s.bounds(code)
		}
		if r.At.Offset < 0 || r.At.Offset >= s.End() {
			return s, s.bounds(op.InvalidOffset)
		}
		return s.withBookmark(r.Key, r.At.Offset), op.Reply{}
	case op.DeleteBookmark:
		i, ok := s.findBookmark(r.Key)
		if !ok {
			return s, op.Reply{Code: op.NotFound}
		}
		n := s.next()
		n.bookmarks = append(append([]bookmark(nil), s.bookmarks[:i]...), s.bookmarks[i+1:]...)
		return n, op.Reply{}
	case op.GetBookmark:
		p, ok := s.Bookmark(r.Key)
		return s, op.Reply{Position: p, Found: ok}
	case op.ListOffsets:
		return s, s.listOffsets(r)
	case op.DeleteRecords:
		if code := s.stale(r); code != op.OK {
			return s, s.bounds(code)
		}
		return s.deleteRecords(r.At.Offset, r.Expected)
	case op.Purge: // Continue
		return s.deleteRecords(-1, r.Expected)
	}
	return s, op.Reply{Code: op.BadRequest}
}

// bounds is an error reply that tells the current era, start and end.
func (s *State) bounds(code op.Code) op.Reply {
	return op.Reply{Code: code, Position: s.position(-1), Start: s.start, End: s.End()}
}

// stale checks the incarnation and the generation of a tagged position.
func (s *State) stale(r *op.Request) op.Code {
	switch {
	case r.Bare || s.lives(r.At):
		return op.OK
	case r.At.Incarnation != s.incarnation:
		return op.StaleIncarnation
	}
	return op.StaleGeneration
}

func (s *State) append(r *op.Request, c Choice) (*State, op.Reply) {
	at, n := s.position(s.End()), s.next()
	n.latest = max(s.latest, c.Timestamp)
	n.log = s.log.append(r.Payloads, n.latest)
	return n, op.Reply{Position: at, Timestamp: n.latest}
}

func (s *State) poll(r *op.Request, c Choice) (*State, op.Reply) {
	from, code := s.from(r)
	if code != op.OK {
		return s, s.bounds(code)
	}
	n := uint32(min(op.Offset(r.Max), s.End()-from))
	reply := op.Reply{Position: s.position(from), Count: n}
	if !r.AutoCommit || n == 0 {
		reply.Records = s.log.records(from, n)
		return s, reply
	}
	if c.Gone {
		reply.Code = op.Gone
	} else {
		reply.Records = s.log.records(from, n)
	}
	last := from + op.Offset(n) - 1
	if i, ok := s.findBookmark(r.Key); ok && s.bookmarks[i].offset >= last {
		return s, reply
	}
	return s.withBookmark(r.Key, last), reply
}

// from is the offset at which a poll starts to read.
func (s *State) from(r *op.Request) (op.Offset, op.Code) {
	switch r.Strategy {
	case op.First:
		return s.start, op.OK
	case op.Last:
		return max(s.start, s.End()-op.Offset(r.Max)), op.OK
	case op.AtTimestamp:
		return s.log.firstAt(r.Timestamp, s.start), op.OK
	case op.AtOffset:
		if code := s.stale(r); code != op.OK {
			return 0, code
		}
		if r.At.Offset < s.start || r.At.Offset > s.End() {
			return 0, op.OffsetOutOfRange
		}
		return r.At.Offset, op.OK
	}
	i, ok := s.findBookmark(r.Key)
	if !ok {
		return s.start, op.OK
	}
	if next := s.bookmarks[i].offset + 1; next >= s.start {
		return next, op.OK
	}
	switch r.Reset {
	case op.Latest:
		return s.End(), op.OK
	case op.Fail:
		return 0, op.OffsetOutOfRange
	}
	return s.start, op.OK
}

func (s *State) listOffsets(r *op.Request) op.Reply {
	switch r.Which {
	case op.LatestOffset:
		return op.Reply{Position: s.position(s.End()), Found: true}
	case op.OffsetForTimestamp:
		o := s.log.firstAt(r.Timestamp, s.start)
		if o == s.End() {
			return op.Reply{}
		}
		return op.Reply{Position: s.position(o), Found: true, Timestamp: s.log.at(o).Timestamp}
	}
	return op.Reply{Position: s.position(s.start), Found: true}
}

func (s *State) deleteRecords(cutoff op.Offset, expected *op.Position) (*State, op.Reply) {
	if expected != nil && *expected != s.position(s.End()) {
		return s, s.bounds(op.Mismatch)
	}
	if cutoff == -1 {
		cutoff = s.End()
	}
	if cutoff < 0 || cutoff > s.End() {
		return s, s.bounds(op.OffsetOutOfRange)
	}
	if cutoff <= s.start {
		return s, op.Reply{Position: s.position(s.start)}
	}
	n := s.next()
	n.start = cutoff
	return n, op.Reply{Position: s.position(cutoff)}
}

// purge is made repeatable by its intent, not by a session.
func (s *State) purge(r *op.Request, c Choice) (*State, op.Reply) {
	g := r.Intent
	if g == 0 {
		g = max(c.Generation, s.settled+1)
	}
	ok := op.Reply{Position: op.Position{Incarnation: s.incarnation, Generation: g}}
	if g <= s.generation {
		return s, ok
	}
	if g <= s.settled {
		return s, s.bounds(op.Mismatch)
	}
	n := s.next()
	n.settled = g
	if r.Expected != nil && *r.Expected != s.position(s.End()) {
		return n, s.bounds(op.Mismatch)
	}
	n.generation, n.start, n.log, n.bookmarks = g, 0, log{}, nil
	return n, ok
}
