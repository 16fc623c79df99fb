package model

import (
	"slices"

	"purgelab/model/op"
)

// register opens a session and evicts the one that was idle for longest.
func (sem Semantics) register(s *State, c Choice) (*State, op.Reply) {
	id := max(c.Session, s.lastSession+1)
	n := s.next()
	n.lastSession = id
	old := s.sessions
	if sem.Sessions > 0 && len(old) >= sem.Sessions {
		old = old[1:]
	}
	n.sessions = append(slices.Clone(old), session{id: id})
	return n, op.Reply{Session: id}
}

// numbered executes a mutation once per session and sequence.
func (sem Semantics) numbered(s *State, r *op.Request, c Choice) (*State, op.Reply) {
	i := slices.IndexFunc(s.sessions, func(x session) bool { return x.id == r.Session })
	if i < 0 {
		return s, refuse(r, op.SessionExpired)
	}
	switch last := s.sessions[i].last; {
	case r.Sequence < last:
		return s, refuse(r, op.StaleSequence)
	case r.Sequence == last:
		return s, s.repeat(&s.sessions[i])
	}
	next, reply := sem.execute(s, r, c)
	done := session{id: r.Session, last: r.Sequence, reply: reply}
	if r.Kind == op.Poll && (reply.Code == op.OK || reply.Code == op.Gone) {
		done.poll, done.reply.Code, done.reply.Records = true, op.OK, nil
	}
	n := next.next()
	if !n.alone {
		n.sessions = slices.Clone(s.sessions)
	}
	if sem.Sessions > 0 { // the order is that of executions
		n.sessions = slices.Delete(n.sessions, i, i+1)
		n.sessions = append(n.sessions, done)
	} else {
		n.sessions[i] = done
	}
	return n, reply
}

// repeat is the first reply again; the records of a poll are read anew.
func (s *State) repeat(x *session) op.Reply {
	reply := x.reply
	if !x.poll || reply.Count == 0 {
		return reply
	}
	from := reply.Position
	if from == s.position(from.Offset) && from.Offset >= s.start {
		reply.Records = s.log.records(from.Offset, reply.Count)
	} else {
		reply.Code = op.Gone
	}
	return reply
}
