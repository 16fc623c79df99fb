package replay

import (
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/journal"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs/faultfs"
	"purgelab/traces/behaviours"
)

// This file leads replicas of a group that take each other's state. What they send of
// it goes through the driver's hands: it is brought when the behaviour says so, or never.

func takeOfferTransfer(g *group, a *behaviours.Act) error {
	m := g.of(a)
	if m.saved != m.r.View().Facts.Applied {
		if err := g.until(m, replica.Save, "Checkpoint"); err != nil {
			return err
		}
	}
	for id := 1; id < len(g.members); id++ {
		if id == m.id {
			continue
		}
		m.seen = m.seen[:0]
		if err := g.hand(&replica.Message{From: id, To: m.id, Incarnation: g.incarnation, Member: uint64(id), Transfer: &transfer.Message{Request: &transfer.Request{}}}); err != nil {
			return err
		}
		if !m.took(a.Action, integer(a.With["n"])) {
			return &missing{a.Action}
		}
	}
	return nil
}

func takeGroupCompact(g *group, a *behaviours.Act) error {
	m := g.members[g.lead]
	if err := g.step(m, replica.Input{Tick: true}); err != nil {
		return err
	}
	const most = 64 // no journal has as many files
	for range most {
		if err := g.step(m, replica.Input{Work: true, Job: replica.Trim}); err != nil {
			return err
		}
	}
	home := m.dir()
	if h := m.r.View().Home; h != "." {
		home += "/" + h
	}
	above, err := journal.Begins(m.disk.FS(), home+"/journal", m.identity())
	if err != nil {
		return err
	}
	// The file that is being written may hold op n.
	if n := g.line(integer(a.With["n"])); above != n && above != n-1 {
		return &missing{a.Action}
	}
	return nil
}

func takeGroupManifest(g *group, a *behaviours.Act) error {
	return g.shown(g.of(a), a.Action, func() error { return g.offer(g.of(a)) })
}

func takeGroupRefuse(g *group, a *behaviours.Act) error {
	from := g.named(a, "s")
	if len(from) == 0 {
		return takeGroupManifest(g, a)
	}
	m, x := g.of(a), g.moves.offers[a.Replica]
	if x == nil || x.From != from[0] || x.Incarnation == g.incarnation {
		return &missing{a.Action}
	}
	return g.shown(m, a.Action, func() error { return g.hand(x) })
}

func takeGroupChunk(g *group, a *behaviours.Act) error {
	m := g.of(a)
	if err := g.resume(m); err != nil {
		return err
	}
	for {
		is, err := m.staged()
		if err != nil || is.batches >= integer(a.With["batches"]) {
			return err
		}
		if err := g.chunk(m); err != nil {
			return err
		}
	}
}

// chunk brings one chunk.
func (g *group) chunk(m *member) error {
	return g.answered(m, func(t *transfer.Message) bool { return t.Chunk != nil })
}

func takeGroupInstall(g *group, a *behaviours.Act) error {
	m := g.of(a)
	if m.pull.from == 0 {
		if err := g.resume(m); err != nil {
			return err
		}
	}
	if err := g.until(m, replica.Install, a.Action); err != nil {
		return err
	}
	if x := m.pull.done; x != nil && g.members[x.To].r != nil {
		return g.hand(x)
	}
	return nil
}

func takeGroupDropTransfer(g *group, a *behaviours.Act) error {
	m, drop := g.of(a), g.refused
	if m.pull.home == "" {
		return nil // that was in an incarnation before
	}
	is, err := m.staged()
	if err != nil {
		return err
	}
	if g.reached(m.r.View().Facts.Applied) >= float64(is.op) {
		drop = g.overtaken
	}
	if err := drop(m); err != nil {
		return err
	}
	return g.until(m, replica.Clear, "ReclaimOld")
}

// overtaken has a member see that it came to what it takes by itself: when it is about to
// install it, or when nobody answers any more.
func (g *group) overtaken(m *member) error {
	if m.pull.from != 0 && m.pull.asked == nil {
		return g.until(m, replica.Install, "DropTransfer")
	}
	const most = 240 // ticks: nobody asks for as long
	for tick := range most {
		waits := m.pull.from != 0
		if tick%(electionTicks/2) == 0 {
			if err := g.hears(m); err != nil {
				return err
			}
		}
		if err := g.step(m, replica.Input{Tick: true}); err != nil || !waits {
			return err
		}
	}
	return &missing{"DropTransfer"}
}

// refused has the disk of a member refuse what it writes next of what it takes.
func (g *group) refused(m *member) error {
	for _, call := range refusedStaging {
		rule, err := faultfs.Parse("fail-before times=0 " + call)
		if err != nil {
			return err
		}
		g.moves.faults.Add(rule)
	}
	defer g.moves.faults.Clear()
	if m.pull.from != g.lead {
		if err := g.offer(m); err != nil {
			return err
		}
	}
	for m.pull.asked != nil { // what it asks for may not be offered any more, and then it asks for what is
		if err := g.answered(m, func(*transfer.Message) bool { return true }); err != nil {
			return err
		}
	}
	if m.pull.from == 0 {
		return nil
	}
	return g.until(m, replica.Install, "DropTransfer")
}

// takeDropOffer lets time pass in which nobody asks for what is offered. Who leads no
// more has dropped it by itself.
func takeDropOffer(g *group, a *behaviours.Act) error {
	m := g.of(a)
	if a.Replica != g.lead {
		return nil
	}
	const most = 500 // ticks: nothing is offered as long
	for tick := range most {
		if m.r.View().Offers == 0 {
			return nil
		}
		if err := g.step(m, replica.Input{Tick: true}); err != nil {
			return err
		}
		if err := g.agree(m); err != nil {
			return err
		}
		others := g.followers()
		if len(others) == 0 {
			continue
		}
		to := others[tick%len(others)]
		if err := g.pass(g.lead, to, func(x *raftpb.Message) bool { return x.GetType() == raftpb.MsgHeartbeat }); err != nil {
			return err
		}
		if err := g.pass(to, g.lead, func(*raftpb.Message) bool { return true }); err != nil {
			return err
		}
	}
	return &missing{a.Action}
}

// hand brings a message of a transfer.
func (g *group) hand(x *replica.Message) error {
	return g.step(g.members[x.To], replica.Input{Message: x})
}

// says brings a message of raft from who leads, which it would send like that.
func (g *group) says(to int, m *raftpb.Message) error {
	v := g.members[g.lead].r.View()
	m.From, m.To, m.Term = ptr(v.Member), ptr(g.members[to].r.View().Member), ptr(v.Term)
	err := g.step(g.members[to], replica.Input{Message: &replica.Message{From: g.lead, To: to, Incarnation: g.incarnation, Raft: m}})
	if err != nil {
		return err
	}
	return g.agree(g.members[to])
}

// hears lets a member hear from who leads.
func (g *group) hears(m *member) error {
	if g.lead == 0 {
		return &missing{"BecomeLeader"}
	}
	return g.says(m.id, &raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), Commit: ptr[uint64](0)})
}

// offer has a member hear of what the leader offers, and ask for it; the leader answers.
func (g *group) offer(m *member) error {
	if err := g.hears(m); err != nil {
		return err
	}
	// That the member has it already is for the manifest to tell.
	all := []uint64{}
	for _, x := range g.members[1:] {
		all = append(all, uint64(x.id))
	}
	above := m.r.View().Last + g.members[g.lead].r.View().Last
	snapshot := &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{Index: ptr(uint64(above)), Term: ptr(m.r.View().Term), ConfState: &raftpb.ConfState{Voters: all}}}
	if err := g.says(m.id, &raftpb.Message{Type: raftpb.MsgSnap.Enum(), Snapshot: snapshot}); err != nil {
		return err
	}
	return g.answered(m, func(t *transfer.Message) bool { return t.Offer != nil })
}

// answered brings what a member asks for to who leads, and its answer back if it is what
// is wanted.
func (g *group) answered(m *member, wanted func(*transfer.Message) bool) error {
	x := m.pull.asked
	if x == nil || x.To != g.lead {
		return &missing{"a request"}
	}
	m.pull.asked, g.moves.reply = nil, nil
	if err := g.hand(x); err != nil {
		return err
	}
	if g.moves.reply == nil {
		if err := g.step(g.members[g.lead], replica.Input{Work: true, Job: replica.Give}); err != nil {
			return err
		}
	}
	if y := g.moves.reply; y != nil && y.To == m.id && wanted(y.Transfer) {
		return g.hand(y)
	}
	return &missing{"an answer"}
}

// resume makes the offer once more if the member does not work on one of who leads.
func (g *group) resume(m *member) error {
	if m.pull.from == g.lead {
		return nil
	}
	return g.shown(m, "StageManifest", func() error { return g.offer(m) })
}

// shown takes a step that must show the action.
func (g *group) shown(m *member, action observe.Action, take func() error) error {
	m.seen = m.seen[:0]
	if err := take(); err != nil {
		return err
	}
	if !m.took(action, 0) {
		return &missing{action}
	}
	return nil
}

// until has a member do one kind of work until it shows the action.
func (g *group) until(m *member, j replica.Job, action observe.Action) error {
	const most = 32 // no step of a replica takes as many
	m.seen = m.seen[:0]
	for range most {
		if err := g.step(m, replica.Input{Work: true, Job: j}); err != nil {
			return err
		}
		if m.took(action, 0) {
			return nil
		}
	}
	return &missing{action}
}
