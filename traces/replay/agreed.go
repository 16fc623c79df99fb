package replay

import (
	"slices"
	"strings"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// This file leads a group through AgreedLog: each op is brought to each replica by itself,
// a journal is written in one action and synced in another, and who leads hears that it is
// held when an op is committed by it. What is committed is applied as soon as it is known,
// which AgreedLog does not say.

// agreed is what such a group has. A nil one is no such group.
type agreed struct {
	acks     []ack          // by id: up to where it told who leads now that it holds the log
	late     []ack          // by id: the same, as of before it lost its memory
	floor    int            // the first op of the leader's term
	term     int            // of the specification
	terms    map[uint64]int // of the present incarnation, by those of the implementation
	admitted []op.Number    // ops that took members in, which the specification has not
}

// ack is what a member said: that it holds the log up to an op, in the numbers of the
// incarnation.
type ack struct{ member, op uint64 }

// agreeing makes a group that has begun one that is led so.
func (g *group) agreeing() {
	g.agreed = &agreed{term: 1}
	g.agreed.unheard(len(g.members))
	g.agreed.terms = map[uint64]int{g.members[g.lead].r.View().Term: 1}
}

// begins begins a new incarnation, which the specification gives a term.
func (a *agreed) begins(members int) {
	a.unheard(members)
	a.floor, a.terms = 0, map[uint64]int{}
	a.term++
}

// unheard drops what was told to who led before.
func (a *agreed) unheard(members int) { a.acks, a.late = make([]ack, members), make([]ack, members) }

// forgets: of what a member said it may hold no more. That is still on its way.
func (a *agreed) forgets(id int) {
	if a.acks[id].op > 0 {
		a.late[id], a.acks[id] = a.acks[id], ack{}
	}
}

// past is an op that was counted without those that took members in.
func (a *agreed) past(n op.Number) op.Number {
	if a != nil {
		for _, x := range a.admitted {
			if n >= x {
				n++
			}
		}
	}
	return n
}

// admitting is how many of the ops up to n took members in.
func (a *agreed) admitting(n op.Number) (count int) {
	if a != nil {
		for _, x := range a.admitted {
			if x <= n {
				count++
			}
		}
	}
	return count
}

// acknowledged notes up to where a replica tells the leader that it holds the log.
func (a *agreed) acknowledged(g *group, x *replica.Message) {
	m := x.Raft
	if a == nil || m.GetType() != raftpb.MsgAppResp || m.GetReject() {
		return
	}
	if g.watch != nil {
		g.watch.Promised(x.From, g.basis+op.Number(m.GetIndex())-1)
	}
	if x.To == g.lead && m.GetTerm() == g.members[g.lead].r.View().Term {
		a.acks[x.From] = ack{m.GetFrom(), max(a.acks[x.From].op, m.GetIndex())}
	}
}

// write does what agree does. In a group that is led through AgreedLog it stops before a sync,
// which is an action, and applies what is committed: who never does so leaves the lead to
// others.
func (g *group) write(m *member) error {
	for v := m.r.View(); v.Agreeing && !(v.Syncing && g.agreed != nil); v = m.r.View() {
		if err := g.step(m, replica.Input{Work: true, Job: replica.Agree}); err != nil {
			return err
		}
	}
	if g.agreed != nil {
		return m.appliesAll()
	}
	return nil
}

// ends ends the program of a replica. What it said may still be under way.
func (g *group) ends(m *member, by observe.Action) {
	if g.watch != nil && m.r != nil {
		g.watch.Observe(observe.Event{Action: by, Replica: m.id})
	}
	m.r = nil
	if g.lead == m.id {
		g.lead = 0
	}
}

// reboot boots a replica, which finds out whether it is a member.
func (m *member) reboot() error {
	err := m.boot()
	if err == nil {
		m.apart = m.r.View().Joining
	}
	return err
}

// leading is who leads, if it can send anything.
func (g *group) leading(a *behaviours.Act) (*member, error) {
	if g.lead == 0 || g.members[g.lead].r.View().Syncing {
		return nil, &missing{a.Action}
	}
	return g.members[g.lead], nil
}

func takeProposeAt(g *group, a *behaviours.Act) error {
	l, err := g.leading(a)
	if err != nil || l.id != a.Replica {
		return &missing{a.Action}
	}
	n := integer(a.With["n"])
	switch o := map[string]any{"k": "append", "n": 1.0}; {
	case a.With["v"] == "empty": // it is there already
		err = g.write(l)
	case a.With["v"] == "persisted" && g.policy != (replica.Policy{}):
		o = map[string]any{"k": "delete", "key": "k1"}
		fallthrough
	default:
		r, bad := request(n, o)
		if bad != nil {
			return bad
		}
		err = g.ask(n, &r)
	}
	if err == nil && l.r.View().Last != g.line(n) {
		err = &missing{a.Action}
	}
	return err
}

// bringOne has the leader bring a replica the ops up to n, until it has written them and
// need not sync, or has to. The leader hears of none that is not committed.
func (g *group) bringOne(a *behaviours.Act, to, n int) error {
	l, err := g.leading(a)
	if err != nil {
		return err
	}
	m := g.members[to]
	if m.r == nil || to == l.id || m.r.View().Syncing {
		return &missing{a.Action}
	}
	if err := g.hears(m); err != nil { // of the term, so that the op is all that it writes next
		return err
	}
	own := g.own(n)
	for range rounds {
		if err := g.step(l, replica.Input{Tick: true}); err != nil {
			return err
		}
		if err := g.write(l); err != nil {
			return err
		}
		for range 3 { // as bring does
			if err := g.pass(l.id, to, func(m *raftpb.Message) bool { return cut(m, own) }); err != nil {
				return err
			}
			if m.r.View().Syncing || g.agreed.acks[to].op >= own {
				g.queue = nil
				return nil
			}
			err := g.pass(to, l.id, func(m *raftpb.Message) bool {
				if m.GetType() == raftpb.MsgAppResp && !m.GetReject() {
					m.Index = ptr(min(m.GetIndex(), uint64(max(l.r.View().Committed, g.basis)-g.basis+1)))
				}
				return true
			})
			if err != nil {
				return err
			}
		}
	}
	return &missing{a.Action}
}

func takeReceiveOne(g *group, a *behaviours.Act) error {
	return g.bringOne(a, a.Replica, integer(a.With["n"]))
}

// takeSyncJournal has a replica sync what it has to, or hear of a later term, for which it
// has to sync everything. If it has all synced already that was part of something else.
func takeSyncJournal(g *group, a *behaviours.Act) error {
	m := g.of(a)
	if m.r.View().Syncing {
		if err := g.step(m, replica.Input{Work: true, Job: replica.Agree}); err != nil {
			return err
		}
		return g.write(m)
	}
	if l, err := g.leading(a); err == nil && m.r.View().Term < l.r.View().Term {
		return g.hears(m)
	}
	return nil
}

// takeCommitBy lets the leader hear from those who hold the op. It counts the ops of its
// own term only, and with the first one of them all before.
func takeCommitBy(g *group, a *behaviours.Act) error {
	l, err := g.leading(a)
	if err != nil {
		return err
	}
	n := integer(a.With["n"])
	by := max(n, g.agreed.floor)
	for _, id := range g.replicasOf(a.With["by"]) {
		if id == l.id || l.r.View().Committed >= g.line(n) {
			continue
		}
		m := g.members[id]
		if g.agreed.acks[id].op < g.own(by) && m.r != nil && m.r.View().Last >= g.line(by) { // it was booted since
			if err := g.bringOne(a, id, by); err != nil {
				return err
			}
		}
		said := g.agreed.acks[id]
		if said.op < g.own(by) {
			said = g.agreed.late[id]
		}
		if said.op < g.own(by) {
			return &missing{a.Action}
		}
		yes := &raftpb.Message{Type: raftpb.MsgAppResp.Enum(), From: ptr(said.member), To: ptr(l.r.View().Member), Term: ptr(l.r.View().Term), Index: ptr(g.own(by))}
		if err := g.step(l, replica.Input{Message: &replica.Message{From: id, To: l.id, Incarnation: g.incarnation, Raft: yes}}); err != nil {
			return err
		}
	}
	if err := g.write(l); err != nil {
		return err
	}
	g.queue = nil
	if l.r.View().Committed < g.line(n) {
		return &missing{a.Action}
	}
	return nil
}

// appliesAll applies all that a replica knows to be committed.
func (m *member) appliesAll() error {
	for {
		v := m.r.View()
		if v.Facts.Applied >= v.Committed || v.Syncing { // it hands over after that
			return nil
		}
		if err := m.g.step(m, replica.Input{Work: true, Job: replica.ApplyOne}); err != nil {
			return err
		}
		if m.r.View().Facts.Applied == v.Facts.Applied {
			return &missing{"Materialize"}
		}
	}
}

func takeLosePower(g *group, a *behaviours.Act) error {
	m, ran := g.of(a), g.of(a).r != nil
	if err := m.losePower(integer(a.With["n"])); err != nil {
		return err
	}
	g.ends(m, "PowerLoss")
	g.agreed.forgets(m.id)
	if !ran {
		return nil
	}
	return m.reboot()
}

func takeReplaceDisk(g *group, a *behaviours.Act) error {
	m, ran := g.of(a), g.of(a).r != nil
	g.ends(m, "PowerLoss")
	g.agreed.forgets(m.id)
	m.disk, m.formatted = crashfs.New(), true
	if err := m.makeDir(); err != nil || !ran {
		return err
	}
	return m.reboot()
}

func takeStop(g *group, a *behaviours.Act) error {
	g.ends(g.of(a), "ProcessCrash")
	g.of(a).disk.ProcessCrash()
	return nil
}

func takeReturn(g *group, a *behaviours.Act) error { return g.of(a).reboot() }

// takeAdmission has all replicas talk, but for elections, until one is a member again.
func takeAdmission(g *group, a *behaviours.Act) error {
	l, err := g.leading(a)
	if err != nil {
		return err
	}
	m, from := g.of(a), l.r.View().Last
	const most = 500 // ticks: it asks more often
	for range most {
		for _, x := range []*member{l, m} {
			if err := g.step(x, replica.Input{Tick: true}); err != nil {
				return err
			}
		}
		if err := g.talk(); err != nil {
			return err
		}
		last := l.r.View().Last
		if m.r.View().Joining || slices.ContainsFunc(g.members[1:], func(x *member) bool { return x.r != nil && x.r.View().Committed < last }) {
			continue
		}
		for n := from + 1; n <= last; n++ {
			g.agreed.admitted = append(g.agreed.admitted, n)
		}
		m.apart = false
		return nil
	}
	return &missing{a.Action}
}

// talk lets everything that is said arrive, and all apply what they learn.
func (g *group) talk() error {
	for {
		for _, m := range g.members[1:] {
			if m.r == nil {
				continue
			}
			if err := g.agree(m); err != nil {
				return err
			}
			if err := m.appliesAll(); err != nil {
				return err
			}
		}
		list := append(g.queue, g.aside...)
		if len(list) == 0 {
			return nil
		}
		g.queue, g.aside = nil, nil
		for _, x := range list {
			if to := g.members[x.To]; to.r != nil {
				if err := g.step(to, replica.Input{Message: &x}); err != nil {
					return err
				}
			}
		}
	}
}

func takeElect(g *group, a *behaviours.Act) error {
	voters := slices.DeleteFunc(g.replicasOf(a.With["by"]), func(id int) bool { return id == a.Replica })
	if slices.Contains(voters, g.lead) || slices.ContainsFunc(voters, func(id int) bool { return g.members[id].r == nil }) {
		return &missing{a.Action}
	}
	if err := g.electBy(a.Replica, voters); err != nil {
		return err
	}
	v := g.members[g.lead].r.View()
	g.agreed.unheard(len(g.members))
	g.agreed.term++
	g.agreed.terms[v.Term] = g.agreed.term
	g.agreed.floor = int(g.number(v.Last)) + 1
	return nil
}

// replicasOf are those that a parameter names: a set, or what joined made of one.
func (g *group) replicasOf(v any) (ids []int) {
	text, ok := v.(string)
	if !ok {
		text = joined(v.([]any))
	}
	for _, m := range g.members[1:] {
		if slices.Contains(strings.Split(text, ","), m.name()) {
			ids = append(ids, m.id)
		}
	}
	return ids
}
