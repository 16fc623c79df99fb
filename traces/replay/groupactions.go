package replay

import (
	"fmt"
	"maps"
	"slices"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/replica"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// How actions of a group are taken, and what is compared.

func takeReconcile(g *group, a *behaviours.Act) error {
	in := []replica.Intent{{Generation: op.Generation(integer(a.With["g"]))}}
	if err := g.step(g.of(a), replica.Input{Intents: in}); err != nil {
		return err
	}
	return g.agree(g.of(a))
}

func takePropose(g *group, a *behaviours.Act) error {
	o := a.With["o"].(map[string]any)
	if a.With["step"] != nil {
		return g.takes(a)
	}
	if o["k"] == "other" { // it is there already
		return g.agree(g.members[g.lead])
	}
	n := integer(a.With["n"])
	r, err := request(n, o)
	if err != nil {
		return err
	}
	numbered(&r, o)
	return g.ask(n, &r)
}

func takeCommit(g *group, a *behaviours.Act) error {
	return g.commit(integer(a.With["n"]), g.named(a, "without")...)
}

func takeBecomeLeader(g *group, a *behaviours.Act) error {
	if g.lead != 0 {
		if err := g.bring(a.Replica, integer(a.With["n"]), integer(a.With["commit"])); err != nil {
			return err
		}
	}
	return g.elect(a.Replica)
}

// come lets a replica apply the op that it has come to.
func (g *group) come(a *behaviours.Act) error {
	n, m := integer(a.With["n"]), g.of(a)
	if slices.Contains(g.begun, n) {
		return m.applyTo(n)
	}
	if err := g.known(a.Replica, n); err != nil {
		return err
	}
	if err := m.applyTo(n - 1); err != nil {
		return err
	}
	m.seen = m.seen[:0]
	return g.step(m, replica.Input{Work: true, Job: replica.ApplyOne})
}

func takeGroupMaterialize(g *group, a *behaviours.Act) error {
	if err := g.come(a); err != nil {
		return err
	}
	n := integer(a.With["n"])
	if !slices.Contains(g.begun, n) && !g.of(a).took(a.Action, n) {
		return &missing{a.Action}
	}
	return nil
}

func takeGroupDuplicate(g *group, a *behaviours.Act) error { return takeGroupMaterialize(g, a) }

func takeGroupPurge(g *group, a *behaviours.Act) error {
	if err := g.come(a); err != nil {
		return err
	}
	m := g.of(a)
	const most = 32 // no purge takes as many steps
	for range most {
		if m.took(a.Action, integer(a.With["n"])) {
			return nil
		}
		if err := g.step(m, replica.Input{Work: true, Job: replica.PurgeOn}); err != nil {
			return err
		}
	}
	return &missing{a.Action}
}

func takeGroupAnswer(g *group, a *behaviours.Act) error {
	q, err := question(a.With["q"].(map[string]any))
	if err != nil {
		return err
	}
	reply, err := g.look(a.Replica, q)
	if err != nil {
		return err
	}
	if diff := differ("reply", untimed(a.With["reply"], a.State), replyOf(q, reply)); diff != nil {
		return diff
	}
	return nil
}

func (g *group) down(a *behaviours.Act) {
	if g.of(a).r = nil; g.lead == a.Replica {
		g.lead = 0
	}
}

func takeGroupCrash(g *group, a *behaviours.Act) error {
	g.down(a)
	g.of(a).disk.ProcessCrash()
	return nil
}

func takeGroupPowerLoss(g *group, a *behaviours.Act) error {
	g.down(a)
	m := g.of(a)
	if kept := a.With["kept"]; kept != nil {
		return m.losePower(integer(kept))
	}
	m.disk.PowerLossKeeping(m.pull.kept)
	return nil
}

func takeGroupBoot(g *group, a *behaviours.Act) error { return g.of(a).boot() }

// wantLogGroup is a state of OrderedGroup as an implementation can show it: of segments
// the messages that can be read, and of the log what the leader has.
func wantLogGroup(s map[string]any) map[string]any {
	reps := map[string]any{}
	log := s["log"].([]any)
	for name, v := range s["rep"].(map[string]any) { //purgelab:unordered each goes under its own key
		f := maps.Clone(v.(map[string]any))
		membership(s, name, f)
		if f["up"] != true {
			reps[name] = map[string]any{"up": false}
			continue
		}
		msgs := []any{}
		for _, e := range f["segs"].([]any) {
			x := e.(map[string]any)
			for i := range integer(x["n"]) {
				if integer(x["base"])+i >= integer(f["start"]) {
					msgs = append(msgs, saying(log, x["op"]))
				}
			}
		}
		delete(f, "segs")
		delete(f, "seen")
		f["msgs"] = msgs
		bm := map[string]any{}
		for k, b := range f["bm"].(map[string]any) { //purgelab:unordered each goes under its own key
			if integer(b.(map[string]any)["o"]) >= 0 {
				bm[k] = b
			}
		}
		f["bm"] = bm
		reps[name] = f
	}
	if s["given"] != nil {
		wantMoves(reps, s)
	}
	out := map[string]any{"rep": reps}
	if s["basis"] != nil {
		out["basis"] = s["basis"]
	}
	if len(s["leader"].([]any)) > 0 {
		out["leader"] = s["leader"].([]any)[0]
		if s["due"] != true { // what is to be proposed may be in its journal
			out["log"] = float64(len(s["log"].([]any)))
		}
		if integer(s["commit"]) >= integer(s["floor"]) {
			out["commit"] = s["commit"]
		}
	}
	return out
}

// logState is what the replicas show, in that form.
func (g *group) logState(s map[string]any) map[string]any {
	reps := g.running(func(m *member, v *replica.View) map[string]any {
		f := g.memory(&v.Facts, m.r.Bookmarks())
		if s["member"] != nil {
			f["joining"] = v.Joining
			if tellsHeld(s, m.name()) {
				f["held"] = g.reached(v.Last)
			}
		}
		f["up"], f["msgs"] = true, m.messages(&v.Facts)
		return f
	})
	if g.moves != nil {
		g.movesState(reps, s)
	}
	out := map[string]any{"rep": reps}
	if s["basis"] != nil {
		out["basis"] = 0.0
		if n := len(g.begun); n > 0 {
			out["basis"] = float64(g.begun[n-1])
		}
	}
	if g.lead == 0 {
		return out
	}
	v := g.members[g.lead].r.View()
	out["leader"] = g.members[g.lead].name()
	if s["due"] != true {
		out["log"] = g.reached(v.Last)
	}
	if integer(s["commit"]) >= integer(s["floor"]) {
		out["commit"] = g.reached(v.Committed)
	}
	return out
}

// running is of each replica that it is down, or what it shows.
func (g *group) running(show func(*member, *replica.View) map[string]any) map[string]any {
	reps := map[string]any{}
	for _, m := range g.members[1:] {
		if m.r == nil {
			reps[m.name()] = map[string]any{"up": false}
			continue
		}
		v := m.r.View()
		reps[m.name()] = show(m, &v)
	}
	return reps
}

// messages are those that can be read, each by the number that its payload is, or why they
// cannot.
func (m *member) messages(f *engine.Facts) any {
	msgs := []any{}
	list, err := m.r.Records(f.Start, int(f.End-f.Start))
	if err != nil {
		return err.Error()
	}
	for _, x := range list {
		msgs = append(msgs, said(x.Payload))
	}
	return msgs
}

// replayGroup is Replay of several replicas.
func replayGroup(b *behaviours.Behaviour, t *Group, design replica.Design, defects defect.Set) (*Difference, error) {
	g, err := newGroup(b.Replicas, design, PolicyOf(b), defects, moving(b))
	if err != nil {
		return nil, err
	}
	if isAgreed(b) {
		g.agreeing()
	}
	return each(b, func(i int) (*Difference, error) { return g.act(t, settled(&b.Acts[i])) })
}

func (g *group) act(t *Group, a *behaviours.Act) (*Difference, error) {
	if a.Action != "Init" {
		i := slices.IndexFunc(t.Rows, func(r GroupRow) bool { return r.Action == a.Action })
		if i < 0 {
			return nil, fmt.Errorf("action %s: not in the table of a group of %s", a.Action, t.Name)
		}
		if err := g.able(a); err != nil {
			return nil, err
		}
		if err := t.Rows[i].take(g, a); err != nil {
			return untaken(a, err)
		}
		if g.claimed != nil {
			return g.claimed, nil
		}
	}
	return differ("", t.want(a.State), t.state(g, a.State)), nil
}
