package traces

import (
	"fmt"
	"slices"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Actions of a transfer of state. CommitElsewhere is in no trace: the ops that a
// replica was not given are told by others.
const (
	Compact         observe.Action = "Compact"
	OfferTransfer   observe.Action = "OfferTransfer"
	RefuseTransfer  observe.Action = "RefuseTransfer"
	StageManifest   observe.Action = "StageManifest"
	StageState      observe.Action = "StageState"
	CommitInstall   observe.Action = "CommitInstall"
	DropTransfer    observe.Action = "DropTransfer"
	ReclaimOld      observe.Action = "ReclaimOld"
	CopyState       observe.Action = "CopyState"
	CommitElsewhere observe.Action = "CommitElsewhere"
)

// moveRules are those of transfers. A refusal changes nothing, and nobody reads what
// ReclaimOld removes: they are for people.
var moveRules = []Rule{
	{Action: Compact, Needs: words("op"),
		Local: words("op g ap st en"),
		Spec:  "Transfer!Compact", Code: "impl/replica: trimStep"},
	{Action: OfferTransfer, Needs: words("op term"), May: words("last boundary"),
		Group: words("r op l g b ap st en"),
		Spec:  "TransferGroup!OfferTransfer", Code: "impl/replica: serve"},
	{Action: RefuseTransfer, Needs: words("kind"),
		Code: "impl/replica: refused"},
	{Action: StageManifest, Needs: words("op term kind"), May: words("count last key boundary"), Kinds: words("begun resumed"),
		Local: words("op l g b ap st en"), Group: words("r op l g b"),
		Spec: "Transfer!StageManifest", Code: "impl/replica: beginPull"},
	{Action: StageState, Needs: words("op"),
		Local: words("op g ap st en"),
		Spec:  "Transfer!StageState", Code: "impl/replica: sealStep"},
	{Action: CommitInstall, Needs: words("op term key"), May: words("last"),
		Local: words("op l o"), Group: words("r op l g ap st en"),
		Spec: "Transfer!CommitInstall", Code: "impl/replica: install"},
	{Action: DropTransfer, Needs: words("op"),
		Local: words("op"), Group: words("r"),
		Spec: "Transfer!DropTransfer", Code: "impl/replica: giveUp"},
	{Action: ReclaimOld,
		Code: "impl/replica: homeStep"},
	{Action: CopyState, Needs: words("op"),
		Local: words("op o g ap st en"), Group: words("r op g ap st en"),
		Code: "impl/replica: copiedState"},
}

// moving follows the transfers of a local piece.
type moving struct {
	line   *agreedLine
	ops    op.Number // that are agreed on, of the line
	known  op.Number // ops that the specification was given
	staged op.Number // op of the offer that is staged, 0: none
	whole  bool      // its home is
	home   string    // the present home
	later  bool      // the piece is of an incarnation that goes on from another
	blank  bool      // nothing was booted
}

// knows notes that the replica comes to an op.
func (m *moving) knows(n op.Number) { m.known = max(m.known, n) }

// given makes the steps by which the specification is given the ops up to n. What
// nobody agreed on it is not given, and it does not take a state as of that.
func (m *moving) given(n op.Number, at Line) []step {
	var out []step
	for m.known < min(n, m.ops) {
		m.known++
		// The key is for the list of all of them.
		out = append(out, unseen(at, observe.Event{Action: CommitElsewhere, Op: m.known, Key: m.line.effects[m.known].Key}))
	}
	return out
}

// unseen is a step that no event tells, at the line of another.
func unseen(at Line, e observe.Event) step {
	e.Time, e.Replica, e.Partition, e.Incarnation = at.Time, at.Replica, at.Partition, at.Incarnation
	s := step{Unseen: true, Line: Line{Number: at.Number, Event: e}}
	if e.Action == CommitElsewhere {
		s.reads = words("op")
	}
	return s
}

// staging makes the steps of a StageManifest. What is left of another pull is dropped
// before it; a pull that goes on is one more of the same.
func (m *moving) staging(l Line) []step {
	out := m.given(l.Op, l)
	if m.staged != 0 {
		out = append(out, unseen(l, observe.Event{Action: DropTransfer, Op: m.staged}))
	}
	m.staged, m.whole = l.Op, false
	return append(out, step{Line: l})
}

// installed makes the steps of an install that no event told, since the crash came
// right after its record.
func (m *moving) installed(crash Line, now observe.Event, home string) []step {
	var out []step
	if !m.whole {
		out = append(out, unseen(crash, observe.Event{Action: StageState, Op: m.staged, Generation: now.Generation, Applied: now.Applied, Start: now.Start, End: now.End}))
	}
	out = append(out, unseen(crash, observe.Event{Action: CommitInstall, Op: m.staged}))
	m.staged, m.whole, m.home = 0, false, home
	return out
}

// begins makes the steps of a state with which a new incarnation begins, which the event
// of the line shows.
func (m *moving) begins(at Line) []step {
	out := m.given(at.Applied, at)
	m.blank = false
	return append(out, copied(at))
}

// copied is the CopyState of a state that the boot at a line opens.
func copied(boot Line) step {
	return unseen(boot, observe.Event{Action: CopyState, Op: boot.Applied, Generation: boot.Generation,
		Applied: boot.Applied, Start: boot.Start, End: boot.End})
}

// movedOps are the ops that were agreed on, for a local piece in which a state takes
// their place.
func movedOps(p Piece, a *agreed) [][]string {
	if !moves(p) {
		return nil
	}
	return [][]string{a.in(p.Incarnation).ops()}
}

// moves tells whether a state is taken in a local piece.
func moves(p Piece) bool {
	for _, l := range p.Lines {
		if l.Action == StageManifest || l.Action == CopyState || l.Action == Boot && p.Incarnation > 0 && l.Applied > firstOp {
			return true
		}
	}
	return false
}

// isMove tells whether a step is one of a transfer.
func isMove(s step) bool {
	return slices.ContainsFunc(moveRules, func(r Rule) bool { return r.Action == s.Action })
}

// moveReason words why a step of a transfer is not explained.
func moveReason(s step, f facts) string {
	held := max(f.number("held"), f.number("now", "applied"), f.number("known"), int64(s.Last))
	staged := max(f.number("stage", "n"), f.number("pull"))
	above := int64(s.Op) > held
	switch {
	case s.Action == Compact && int64(s.Op) > f.number("disk", "applied"):
		return fmt.Sprintf("ops up to %d are dropped: a checkpoint holds those up to %d", s.Op, f.number("disk", "applied"))
	case s.Action == Compact && int64(s.Op) <= f.number("dropped"):
		return fmt.Sprintf("ops up to %d are dropped: those up to %d are gone already", s.Op, f.number("dropped"))
	case s.Action == Compact:
		return stateReason(s, f)
	case s.Action == OfferTransfer && f.text("joining") == "TRUE":
		return "the replica has not joined yet"
	case s.Action == OfferTransfer && int64(s.Applied) == f.number("now", "applied") && (int64(s.Start) != f.number("now", "start") || int64(s.End) != f.number("now", "end")):
		return stateReason(s, f)
	case s.Action == OfferTransfer:
		return fmt.Sprintf("offers the state as of op %d, knowing op %d to be committed: it has applied op %d, of the era that began with op %d",
			s.Op, s.Last, f.number("now", "applied"), f.number("now", "boundary"))
	case (s.Action == StageManifest || s.Action == CommitInstall) && !above:
		return fmt.Sprintf("takes the state as of op %d: it has ops up to %d", s.Op, held)
	case s.Action == StageManifest:
		return stagedReason(s, f)
	case s.Action == CommitInstall && staged != int64(s.Op), s.Action == StageState, s.Action == DropTransfer:
		return fmt.Sprintf("the state as of op %d: what is staged is that as of op %d", s.Op, max(staged, 0))
	case s.Action == CommitInstall && f.text("pull") != "":
		return stateReason(s, f)
	case s.Action == CommitInstall:
		return fmt.Sprintf("the home of the state as of op %d is not whole", s.Op)
	case s.Action == CopyState && (f.text("up") == "TRUE" || f.number("now", "applied") > firstOp):
		return fmt.Sprintf("begins with the state as of op %d: it has begun already", s.Op)
	case s.Action == CopyState && int64(s.Op) > max(f.number("agreed"), f.number("commit")):
		return fmt.Sprintf("begins with the state as of op %d: ops up to %d are agreed on", s.Op, max(f.number("agreed"), f.number("commit")))
	case s.Action == CopyState && s.Applied != s.Op:
		return fmt.Sprintf("applied is %d after it, the state is as of op %d", s.Applied, s.Op)
	case s.Action == CopyState:
		return fmt.Sprintf("the event shows %s: that is not what the ops up to %d lead to", stateText(s), s.Op)
	}
	return ""
}

// stagedReason: what is taken was not offered, or the event says something else of it.
func stagedReason(s step, f facts) string {
	offers, group := f.state.Field("offers")
	was := ""
	for _, x := range offers.Items {
		o := facts{x}
		if o.number("n") == int64(s.Op) {
			was = fmt.Sprintf("generation %d with boundary %d", o.number("g"), o.number("b"))
			if o.number("g") == int64(s.Generation) && o.number("b") == int64(s.Boundary) {
				return fmt.Sprintf("takes the state as of op %d of generation %d: the replica is at op %d of generation %d",
					s.Op, s.Generation, f.number("now", "applied"), f.number("now", "gen"))
			}
		}
	}
	switch {
	case was != "":
		return fmt.Sprintf("takes the state as of op %d of generation %d with boundary %d: what was offered is of %s", s.Op, s.Generation, s.Boundary, was)
	case group:
		return fmt.Sprintf("takes the state as of op %d, which nobody offered", s.Op)
	case f.number("agreed") >= 0 && int64(s.Op) > f.number("agreed"):
		return fmt.Sprintf("takes the state as of op %d: ops up to %d are agreed on", s.Op, f.number("agreed"))
	case f.number("stage", "n") > 0:
		return fmt.Sprintf("takes the state as of op %d: that as of op %d is staged", s.Op, f.number("stage", "n"))
	case int64(s.Applied) != f.number("now", "applied") || int64(s.Start) != f.number("now", "start") || int64(s.End) != f.number("now", "end"):
		return stateReason(s, f)
	}
	return fmt.Sprintf("takes the state as of op %d of generation %d with boundary %d: the ops up to there make another era", s.Op, s.Generation, s.Boundary)
}
