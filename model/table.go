package model

import (
	"cmp"
	"math"
	"slices"

	"purgelab/model/op"
)

// table says what a history needs of the session table.
type table struct {
	sem Semantics
	// keep are the sessions that can matter. The others ask one thing at a time
	// under rising numbers, and nothing more after an unknown outcome, and the table
	// is unbounded: it makes no difference that they are there.
	keep map[op.Session]bool
	// early, sorted, are those that are used and not opened in this history.
	early []session
}

func tableOf(sem Semantics, ops []Operation) table {
	type use struct {
		last  op.Sequence
		until int64
	}
	t := table{sem: sem, keep: map[op.Session]bool{}}
	uses, opened := map[op.Session]use{}, map[op.Session]bool{}
	for _, i := range byCall(ops, func(o *Operation) bool { return o.Request.Kind == op.Register || t.numbered(o.Request) }) {
		o := &ops[i]
		r := o.Request
		if r.Kind == op.Register && o.Reply != nil {
			opened[o.Reply.Session] = true
			uses[o.Reply.Session] = use{0, o.Return}
		}
		if !t.numbered(r) {
			continue
		}
		u := uses[r.Session]
		clean := r.Sequence > u.last && o.Call >= u.until
		if o.Reply == nil {
			u.until = forever
		} else {
			u.until = o.Return
			clean = clean && o.Reply.Code != op.SessionExpired && o.Reply.Code != op.StaleSequence
		}
		u.last = max(u.last, r.Sequence)
		uses[r.Session] = u
		if !clean || sem.Sessions > 0 {
			t.keep[r.Session] = true
		}
	}
	if len(t.keep) == 0 || sem.Sessions > 0 {
		return t
	}
	for i := range ops {
		r, a := ops[i].Request, ops[i].Reply
		if t.numbered(r) && t.keep[r.Session] && a != nil && a.Code != op.SessionExpired && !opened[r.Session] {
			opened[r.Session] = true
			t.early = append(t.early, session{id: r.Session})
		}
	}
	slices.SortFunc(t.early, func(a, b session) int { return cmp.Compare(a.id, b.id) })
	return t
}

// byCall lists the indexes of some operations in the order of their calls.
func byCall(ops []Operation, wanted func(*Operation) bool) (order []int32) {
	sorted, latest := true, int64(math.MinInt64)
	for i := range ops {
		if o := &ops[i]; wanted(o) {
			order = append(order, int32(i))
			sorted, latest = sorted && latest <= o.Call, o.Call
		}
	}
	if !sorted {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(ops[a].Call, ops[b].Call) })
	}
	return order
}

// numbered tells whether the session table decides about a request.
func (t *table) numbered(r *op.Request) bool {
	return r.Session != 0 && r.Sequence != 0 && r.Mutates() && r.Kind != op.Register && (r.Kind != op.Purge || t.sem.Numbering == Continue)
}

// without tells whether a request is judged as if it named no session.
func (t *table) without(r *op.Request) bool { return t.numbered(r) && !t.keep[r.Session] }

// opened is a state in which the early sessions are open.
func (t *table) opened(s *State) *State {
	if len(t.early) == 0 {
		return s
	}
	n := *s
	n.sessions = t.early
	return &n
}
