package replay

import (
	"errors"
	"fmt"

	"purgelab/impl/consensus"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// This file lets a group that is led go on by itself, when all its replicas run, every
// message arrives, and time passes.

// errNoRest is a group that does not come to rest.
var errNoRest = errors.New("the replicas keep each other busy without end")

// free lets everything happen that needs no time.
func (v *GroupDrive) free() error {
	g := v.g
	const most = 10000 // no replicas of a scenario have more to do
	for range most {
		g.queue, g.aside = append(g.queue, g.aside...), nil
		if len(g.queue) > 0 {
			x := g.queue[0]
			g.queue = g.queue[1:]
			if m := g.members[x.To]; m.r != nil {
				if err := g.step(m, replica.Input{Message: &x}); err != nil {
					return err
				}
			}
			continue
		}
		idle := true
		for _, m := range g.members[1:] {
			if m.r == nil {
				continue
			}
			if v := m.r.View(); !v.Idle && !v.Sealed {
				idle = false
				if err := g.step(m, replica.Input{Work: true}); err != nil {
					return err
				}
			}
		}
		if idle {
			return nil
		}
	}
	return errNoRest
}

// tick lets time pass, for one replica after the other, so that not all campaign at once.
func (v *GroupDrive) tick() error {
	for _, m := range v.g.members[1:] {
		if m.r == nil {
			continue
		}
		if err := v.g.step(m, replica.Input{Tick: true}); err != nil {
			return err
		}
		if err := v.free(); err != nil {
			return err
		}
	}
	v.g.lead = 0
	term := uint64(0)
	for _, m := range v.g.members[1:] {
		if m.r != nil && m.r.View().Role == consensus.Leader && m.r.View().Term > term {
			v.g.lead, term = m.id, m.r.View().Term
		}
	}
	return nil
}

// restTicks is longer than an election takes, and what a disk refused is tried again.
const restTicks = 20 * electionTicks

// Rest boots all replicas that are down, tells all of the last purge that was asked for,
// and lets time pass until they have nothing left to do: those whose member is lost join
// anew, or all go on in a new incarnation, with what is left if an operator has to say so.
// The error says what keeps them from it.
func (v *GroupDrive) Rest() error {
	g := v.g
	g.aside = nil
	if g.moves != nil {
		g.moves.freely = true
	}
	for _, m := range g.members[1:] {
		if m.r == nil {
			if err := m.open(); err != nil {
				return v.trouble(err)
			}
		}
	}
	if err := v.intend(); err != nil {
		return v.trouble(err)
	}
	for range restTicks {
		if err := v.tick(); err != nil {
			return v.trouble(err)
		}
		if g.design == replica.ResetRecord {
			continue // no plane watches over it
		}
		ends, err := g.plane.ends(g)
		if err == nil && ends {
			if err = g.begins(true); err == nil {
				err = v.intend()
			}
		}
		if err != nil {
			return v.trouble(err)
		}
	}
	return v.atRest()
}

// intend tells all of the last purge that was asked for.
func (v *GroupDrive) intend() error {
	for _, m := range v.g.members[1:] {
		if v.intent > 0 {
			if err := v.g.step(m, replica.Input{Intents: []replica.Intent{{Generation: v.intent}}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// UnsettledError is a group that has nothing left to do, and not done what it was to.
type UnsettledError struct {
	Replica         int
	Settled, Intent op.Generation
}

func (e *UnsettledError) Error() string {
	return fmt.Sprintf("replica %d settled purge %d of %d", e.Replica, e.Settled, e.Intent)
}

// atRest says what is not.
func (v *GroupDrive) atRest() error {
	if v.g.lead == 0 {
		return errors.New("nobody leads")
	}
	lead := v.g.members[v.g.lead].r.View()
	for _, m := range v.g.members[1:] {
		w := m.r.View()
		if w.Joining || w.Sealed || w.Copying {
			return fmt.Errorf("replica %d has not joined its group", m.id)
		}
		if !w.Serving || w.Purging || w.Facts.Applied != w.Committed || w.Committed != lead.Committed || w.Last != lead.Last {
			return fmt.Errorf("replica %d applied op %d of %d committed, its journal ends at op %d; the leader has committed %d", m.id, w.Facts.Applied, w.Committed, w.Last, lead.Committed)
		}
		if w.Facts.Settled < v.intent {
			return &UnsettledError{m.id, w.Facts.Settled, v.intent}
		}
	}
	return nil
}

// Ask has the leader of a group at rest answer a request.
func (v *GroupDrive) Ask(r *op.Request) error {
	v.tokens++
	v.g.watch.Asked(v.tokens, r)
	v.g.answers = v.g.answers[:0]
	if err := v.g.step(v.g.members[v.g.lead], replica.Input{Request: &replica.Request{Token: v.tokens, Op: r}}); err != nil {
		return v.trouble(err)
	}
	for range electionTicks {
		if err := v.tick(); err != nil {
			return v.trouble(err)
		}
	}
	return nil
}
