package replay

import (
	"errors"
	"fmt"
	"slices"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// Watch sees what a group does. Stepped comes after every input of a replica, with what
// clients are answered; Asked is told of a request before the leader hears of it, Ending of
// an incarnation that is to end before any replica does, Forced of an operator who has the
// next one begin with what is left, Served of messages that a replica
// sends to another one. Of a group that is led through AgreedLog Promised tells up to which
// op a replica says that it has the log.
type Watch interface {
	observe.Sink
	Booted(id int, r *replica.Replica)
	Stepped(id int, r *replica.Replica, answers []replica.Answer)
	Asked(token uint64, r *op.Request)
	Ending(i op.Incarnation)
	Forced()
	Served(id int, chunk []byte)
	Promised(id int, n op.Number)
}

// stopped is the error with which a replica stopped by itself.
type stopped struct {
	id  int
	err error
}

func (s *stopped) Error() string { return s.err.Error() }
func (s *stopped) Unwrap() error { return s.err }

// GroupDrive leads a group through actions as Replay does, and compares it with nothing.
type GroupDrive struct {
	g      *group
	table  *Group
	tokens uint64 // of reads, and of what is asked in the end
	intent op.Generation
}

// Moves tells whether an action is of replicas that take each other's state.
func Moves(a *behaviours.Act) bool {
	return slices.ContainsFunc(moveGroupRows, func(r GroupRow) bool { return r.Action == a.Action })
}

// NewGroupDrive begins with n replicas of which the first leads. If it moves, they take each
// other's state.
func NewGroupDrive(n int, design replica.Design, policy replica.Policy, defects defect.Set, moving bool, watch Watch) (*GroupDrive, error) {
	v := &GroupDrive{g: &group{design: design, policy: policy, defects: defects, watch: watch}, tokens: asking}
	if moving {
		v.g.moves = newMoves()
	}
	i := slices.IndexFunc(Groups, func(t Group) bool { return t.Name == design.String() })
	v.table = &Groups[i]
	if err := v.g.begin(n); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return v, nil
}

// Agree has the group led through AgreedLog.
func (v *GroupDrive) Agree() {
	v.table = &Groups[slices.IndexFunc(Groups, func(t Group) bool { return t.Name == agreedName })]
	v.g.agreeing()
}

// OfAgreedLog tells whether an action is one of AgreedLog, and of no other module.
func OfAgreedLog(a observe.Action) bool {
	return a != "Rejoin" && a != "NewIncarnation" && slices.ContainsFunc(agreedRows, func(r GroupRow) bool { return r.Action == a }) &&
		!slices.ContainsFunc(resetGroupRows, func(r GroupRow) bool { return r.Action == a })
}

// Member is a replica, nil while it is down.
func (v *GroupDrive) Member(id int) *replica.Replica { return v.g.members[id].r }

// Leader is who leads, 0 if nobody does.
func (v *GroupDrive) Leader() int { return v.g.lead }

// Incarnation that the replicas are of, and the op before the one with which it begins, as
// Op counts.
func (v *GroupDrive) Incarnation() (i op.Incarnation, after int) {
	return v.g.incarnation, int(v.g.number(v.g.basis))
}

// Op is the specification's number of the last op with which a replica is that has come to
// op n.
func (v *GroupDrive) Op(n op.Number) int { return int(v.g.reached(n)) }

// withoutLeader are actions that need nobody who leads.
var withoutLeader = []observe.Action{"RequestPurge", "PurgeLocally", "BecomeLeader", "ProcessCrash", "PowerLoss", "Boot", "Rejoin", "NewIncarnation", "CommitInstall", "DropOffer", "RefuseTransfer"}

// Take takes an action that Words wrote, as Drive does.
func (v *GroupDrive) Take(a *behaviours.Act) error {
	g := v.g
	i := slices.IndexFunc(v.table.Rows, func(r GroupRow) bool { return r.Action == a.Action })
	if i < 0 {
		return fmt.Errorf("%w: %s is no action of a group of %s", ErrNotTaken, a.Action, v.table.Name)
	}
	if g.able(a) != nil || g.lead == 0 && g.agreed == nil && !slices.Contains(withoutLeader, a.Action) {
		return ErrNotTaken
	}
	var err error
	if a.Action == "Answer" {
		err = v.answer(a)
	} else {
		err = v.table.Rows[i].take(g, a)
	}
	if a.Action == "ProcessCrash" || a.Action == "PowerLoss" {
		for _, id := range append(g.named(a, "s"), a.Replica) {
			if id != 0 {
				g.watch.Observe(observe.Event{Action: a.Action, Replica: id})
			}
		}
	}
	if a.Action == "RequestPurge" {
		v.intent = op.Generation(integer(a.With["g"]))
		g.watch.Asked(wiping+uint64(v.intent), &op.Request{Kind: op.Purge, Intent: v.intent})
	}
	return v.trouble(err)
}

// trouble is what comes of an error.
func (v *GroupDrive) trouble(err error) error {
	var end *stopped
	if errors.As(err, &end) {
		m := v.g.members[end.id]
		m.r = nil
		if v.g.lead == end.id {
			v.g.lead = 0
		}
		how := endOf(err)
		if how == "ProcessCrash" {
			m.disk.ProcessCrash()
		} else {
			m.disk.PowerLossAs(nil)
		}
		v.g.watch.Observe(observe.Event{Action: how, Replica: end.id})
		return fmt.Errorf("replica %d: %w", end.id, end)
	}
	return outcome(err)
}

// answer asks a replica, as a client does: who leads has to prove it, and nobody hears of
// that. What comes is for others to look at.
func (v *GroupDrive) answer(a *behaviours.Act) error {
	q, err := question(a.With["q"].(map[string]any))
	if err != nil {
		return err
	}
	v.tokens++
	m := v.g.of(a)
	v.g.watch.Asked(v.tokens, q)
	v.g.answers = v.g.answers[:0]
	if err := v.g.step(m, replica.Input{Request: &replica.Request{Token: v.tokens, Op: q}}); err != nil {
		return err
	}
	const phases = 4 // of a read
	for range phases {
		if err := v.g.step(m, replica.Input{Work: true, Job: replica.ReadOn}); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(v.g.answers, func(x replica.Answer) bool { return x.Token == v.tokens }) {
		return &missing{"Answer"}
	}
	return nil
}

// FollowGroup is Follow of a group.
func FollowGroup(b *behaviours.Behaviour, defects defect.Set) (words []string, diff *Difference, err error) {
	if diff, err = Replay(b, defects); err != nil {
		return nil, nil, err
	}
	for i := range b.Acts {
		if a := &b.Acts[i]; a.Action != "Init" {
			words = append(words, Words(settled(a)))
		}
	}
	return words, diff, nil
}
