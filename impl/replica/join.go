package replica

import (
	"fmt"
	"math"
	"slices"

	"purgelab/impl/consensus"
	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/model/op"
)

// This file is how a machine joins the group again whose member lost its memory.
//
//	joiner                     leader
//	  ── Join, now and then ─────►  add it as a learner, which counts for nothing
//	  ◄──────── the log ──────────
//	                               when it has what is committed, one change:
//	                               it becomes a voter, the member that this machine
//	                               was before is removed
//	  the change is applied here: it is a voter like any other
//
// A Join may come late, of a member that this machine gave up in the meantime, and
// take the place of the one that it is now. Who was removed never belongs again: if it
// asks, the leader sends its Join back, and it becomes yet another member.
//
// Between the two halves of that change a decision needs a majority of the voters
// before it and of those after it. The member before never spoke again, so it is as
// if it had been down ever since.

const changeTicks = 200 // until a change that was proposed is given up

// joinGroup asks to be taken in. It is repeated: nobody may have led.
func (r *Replica) joinGroup() {
	if !r.joining {
		return
	}
	if r.joinLater--; r.joinLater > 0 {
		return
	}
	r.joinLater = consensus.JoinPause(r.asked)
	r.asked++
	if r.cfg.Defects.Has(defect.JoinOnce) {
		r.joinLater = math.MaxInt
	}
	for _, m := range r.cfg.Members {
		if m != r.cfg.ID {
			r.out.Messages = append(r.out.Messages, Message{From: r.cfg.ID, To: m, Partition: r.cfg.Partition, Incarnation: r.cfg.Incarnation, Join: r.cfg.member.ID})
		}
	}
}

// takeJoin takes a Join, or its own one that came back.
func (r *Replica) takeJoin(id memberID) error {
	if machineOf(id) != r.cfg.ID {
		r.admitMember(id)
		return nil
	}
	if !r.joining || id != r.cfg.member.ID {
		return nil
	}
	if r.stage == syncing {
		return nil // the journal is in use; it will be said again
	}
	r.giveUp()
	if err := r.Release(); err != nil {
		return err
	}
	cfg := r.cfg
	cfg.Damaged = &RemovedError{id}
	next, err := Open(cfg)
	if err != nil {
		return err
	}
	next.now, next.out = r.now, r.out
	intents := r.intents
	*r = *next
	r.cfg.Damaged = nil
	if r.copy == nil {
		r.learnIntents(intents)
	}
	return nil
}

// admitMember proposes the change that comes next for a machine that joins, if no
// other one is under way.
func (r *Replica) admitMember(id memberID) {
	now := r.node.Members()
	if !r.readyToLead() {
		return
	}
	if slices.Contains(now.Gone, id) {
		r.out.Messages = append(r.out.Messages, Message{From: r.cfg.ID, To: machineOf(id), Partition: r.cfg.Partition, Incarnation: r.cfg.Incarnation, Join: id})
		return
	}
	if r.changing > 0 || now.Joint() || now.Voter(id) {
		return
	}
	c := consensus.Change{Add: id, Learner: true}
	if now.Has(id) {
		match, ok := r.node.Match(id)
		if !ok || match < r.node.Status().Commit {
			return
		}
		c.Learner = false
	}
	for _, was := range [][]uint64{now.Voters, now.Learners} {
		for _, x := range was {
			// What this machine was before: a voter until this one is.
			if machineOf(x) == machineOf(id) && x != id && !(c.Learner && now.Voter(x)) {
				c.Remove = append(c.Remove, x)
			}
		}
	}
	if err := r.node.ProposeChange(c); err != nil {
		r.log.Debug("change of membership refused", "error", err)
		return
	}
	r.changing = changeTicks
}

// changed takes in the changes of membership that are in force now.
func (r *Replica) changed(list []consensus.Changed) error {
	for _, ch := range list {
		r.changing = 0
		ch.Op += r.line.shift
		r.ahead = append(r.ahead, ch)
		r.emit(observe.Event{Action: "ChangeMembers", Op: ch.Op, Count: len(ch.Members.Voters)})
		if r.joining && ch.Members.Voter(r.cfg.member.ID) && !ch.Members.Joint() {
			if err := r.cfg.joined(); err != nil {
				return fmt.Errorf("member %d joined: %w", r.cfg.member.ID, err)
			}
			r.joining = false
			r.emit(observe.Event{Action: "Joined", Op: ch.Op})
		}
	}
	return nil
}

// passMembers notes the membership as of op n, which is being materialized: what a
// checkpoint keeps fits the op that it is as of.
func (r *Replica) passMembers(n op.Number) {
	for len(r.ahead) > 0 && r.ahead[0].Op <= n {
		r.members, r.ahead = r.ahead[0].Members, r.ahead[1:]
		r.moved = true
	}
}

// kept is what goes into a checkpoint beside what the engine knows: the sessions,
// and once it is not the first one any more the membership.
type kept struct {
	_        struct{} `cbor:",toarray"`
	Sessions []*session
	Members  consensus.Membership
	Began    []began
	Agreed   *op.Position
}

// keptMark begins the encoding of kept: CBOR's undefined. That of sessions alone is
// an array or null.
const keptMark = 0xf7

func (r *Replica) encodeExtra() []byte {
	if !r.moved && len(r.line.segments) == 0 {
		return r.sessions.encode()
	}
	return append([]byte{keptMark}, mustEncode(&kept{Sessions: r.sessions.list, Members: r.members, Began: r.line.began, Agreed: r.line.agreed})...)
}

func (r *Replica) decodeExtra(b []byte) (err error) {
	r.members = consensus.Membership{}
	for _, m := range r.cfg.Members {
		r.members.Voters = append(r.members.Voters, memberID(m))
	}
	if len(b) > 0 && b[0] == keptMark {
		var k kept
		if err := decMode.Unmarshal(b[1:], &k); err != nil {
			return fmt.Errorf("what the checkpoint keeps: %w", err)
		}
		if err := k.Members.Check(); err != nil {
			return fmt.Errorf("what the checkpoint keeps: %w: %w", corrupt.ErrCorrupt, err)
		}
		r.members, r.moved = k.Members, true
		l := r.line
		if l.began, l.agreed = k.Began, k.Agreed; len(l.began) > 0 {
			l.present = l.began[len(l.began)-1].Incarnation
		}
		r.sessions, err = sessionsOf(k.Sessions, r.cfg.Sessions)
		return err
	}
	r.sessions, err = decodeSessions(b, r.cfg.Sessions)
	return err
}
