package traces

import "fmt"

// holds tells whether a set of numbers has one.
func (f facts) holds(set string, n int64) bool {
	v, _ := f.state.Field(set)
	for _, x := range v.Items {
		if x.Text == fmt.Sprint(n) {
			return true
		}
	}
	return false
}

// toldReason words what TraceTold does not allow: who comes to an op, in which term it
// is, who answers.
func toldReason(s step, f facts) string {
	comes, commit := f.number("comes"), f.number("commit")
	switch {
	case s.Ended:
	case s.Action == Commit && s.Old: // told of a later moment
	case comes > 0 && comes != int64(s.Replica):
		return fmt.Sprintf("replica %d told op %d and comes to it next: this is a step of replica %d", comes, commit, s.Replica)
	case s.Action == Commit && !s.Old && int64(s.Op) == commit+1:
		return termReason(s, f)
	case s.Action == Answer && f.text("up") == "TRUE" && !f.holds("leaders", int64(s.Replica)):
		return fmt.Sprintf("replica %d answers: it has not begun to lead since it came up", s.Replica)
	}
	return ""
}

func termReason(s step, f facts) string {
	term := f.number("term")
	switch {
	case int64(s.Term) < term:
		return fmt.Sprintf("term %d: the op before is of term %d", s.Term, term)
	case !f.holds("led", int64(s.Term)):
		return fmt.Sprintf("term %d: nobody has begun to lead in it", s.Term)
	case int64(s.Term) > term && s.Kind != "other":
		return fmt.Sprintf("op %d is the first of term %d: that is one without effect, of its leader", s.Op, s.Term)
	}
	return ""
}
