package model

import (
	"fmt"
	"strings"

	"purgelab/model/op"
	"purgelab/traces/tlc"
)

func (x transition) action() string { return text(x.last, "a") }

// answer is what is asked and how it is answered, if it is.
func (x transition) answer() string {
	if x.aside() || !has(x.last, "q") || !has(x.last, "r") || !has(field(x.last, "r"), "code") {
		return ""
	}
	return text(field(x.last, "q"), "f") + " " + text(field(x.last, "r"), "code")
}

// aside tells of steps that are none of the contract's: what happens to a request
// on its way, a refusal before it is proposed, and an asynchronous raise, which
// Step does not know.
func (x transition) aside() bool {
	switch x.action() {
	case "Lose", "Drop", "Refuse":
		return true
	case "LateLoose":
		return text(field(x.last, "q"), "f") == "raise"
	}
	return false
}

// unnumbered is the request of a client without a session, if this is one.
func (x transition) unnumbered() (*asked, bool) {
	q := field(x.last, "q")
	switch f := text(q, "f"); {
	case field(x.last, "s").Text != "NoSession" || f == "any" || f == "repeat" || f == "new-incarnation" || strings.HasPrefix(x.action(), "Late"):
		return nil, false
	}
	r, _ := requestOf(q)
	return &asked{name: x.action() + q.String(), request: r, action: x.action()}, true
}

// beyond tells that the limits of the bounded models, or what the state holds, keep
// a request from being asked in it.
func (a *asked) beyond(core tlc.Value) bool {
	s := stateOf(core)
	switch a.action {
	case "AppendMessages":
		return s.End()+op.Offset(len(a.request.Payloads)) > maxEnd
	case "PollAutoCommitGone":
		_, reply := Semantics{}.Step(s, a.request, Choice{})
		return reply.Code != op.OK || reply.Count == 0
	}
	return false
}

// replay makes the step again and tells what is different.
func (x transition) replay(sem Semantics) string {
	s, last := stateOf(x.core), x.last
	q, r := field(last, "q"), field(last, "r")
	var c Choice
	var req *op.Request
	numbered := func(repeat bool) {
		name := field(last, "s").Text
		if name == "NoSession" || req.Kind == op.Purge && sem.Numbering == Restart {
			return
		}
		req.Session, req.Sequence = sessionNamed(name), 1
		for _, one := range s.sessions {
			if one.id == req.Session && repeat {
				req.Sequence = one.last
			} else if one.id == req.Session {
				req.Sequence = one.last + 1
			}
		}
	}
	anything := &op.Request{Kind: op.DeleteBookmark, Key: op.Key{ID: 9}}
	answered := true
	switch a := x.action(); a {
	case "Register":
		req = &op.Request{Kind: op.Register}
		id := sessionNamed(field(last, "s").Text)
		s.lastSession, c.Session = id-1, id
		next, reply := sem.Step(s, req, c)
		if reply.Session != id {
			return fmt.Sprintf("session %d", reply.Session)
		}
		return differStates(next, stateOf(x.next))
	case "Repeat":
		req = anything
		numbered(true)
	case "RepeatOlder":
		req = anything
		numbered(true)
		req.Sequence--
	case "Misdirect":
		req = anything
		req.Incarnation = s.incarnation - 1
	case "NewIncarnation":
		s = stateOf(field(q, "kept"))
		c.Agreed = s.position(op.Offset(number(q, "o")))
		if tail := field(q, "q"); text(tail, "f") != "none" {
			r, now := requestOf(tail)
			s, _ = sem.Step(s, r, Choice{Timestamp: now})
		}
		req, answered = &op.Request{Kind: op.NewIncarnation}, false
	default:
		req, c.Timestamp = requestOf(q)
		done, old := false, false
		if a == "Retry" {
			sent := entry(x.sent, field(last, "s").Text)
			done, old = field(sent, "done").Text == "TRUE", op.Incarnation(number(sent, "i")) != s.incarnation
		}
		numbered(done)
		if old {
			req.Incarnation = s.incarnation - 1
		}
		c.Gone = a == "PollAutoCommitGone"
		answered = !strings.HasPrefix(a, "Late")
	}
	next, reply := sem.Step(s, req, c)
	if answered {
		if d := differReplies(x.action(), req, &reply, r, x.core); d != "" {
			return d
		}
	}
	return differStates(next, stateOf(x.next))
}

// differReplies compares an answer with the specification's. A repeat's may be of
// another era than the state's, of which the specification keeps offsets alone.
func differReplies(action string, req *op.Request, got *op.Reply, r, core tlc.Value) string {
	want := replyOf(r, core)
	if action == "Repeat" || action == "Retry" {
		if a, b := essence(got), essence(&want); a != b || len(got.Records) != len(want.Records) {
			return fmt.Sprintf("reply: want %s, got %s", b, a)
		}
		return ""
	}
	return Differs(req, &want, got)
}

// essence is what the specification keeps of a reply.
func essence(r *op.Reply) string {
	return fmt.Sprint(r.Code, " ", r.Position.Offset, " ", r.Timestamp, " ", r.Count, " ", r.Start, " ", r.End)
}

// differStates compares states as far as the specification knows them.
func differStates(got, want *State) string {
	show := func(s *State) string {
		var b strings.Builder
		fmt.Fprintf(&b, "i%d %v g%d settled %d [%d, %d) clock %d", s.incarnation, s.began, s.generation, s.settled, s.start, s.End(), s.latest)
		for o := s.start; o < s.End(); o++ {
			fmt.Fprintf(&b, " %v", s.log.at(o))
		}
		fmt.Fprintf(&b, " bookmarks %v", s.bookmarks)
		for _, one := range s.sessions {
			fmt.Fprintf(&b, " session %d after %v: %s", one.id, min(one.last, 2), essence(&one.reply))
		}
		return b.String()
	}
	if a, b := show(got), show(want); a != b {
		return fmt.Sprintf("state:\nwant %s\ngot  %s", b, a)
	}
	return ""
}
