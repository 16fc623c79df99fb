package replay

import (
	"fmt"
	"slices"

	"purgelab/impl/replica"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// This file says how actions of a group of reset-record are taken, and what is compared.

// consumer owns the one bookmark.
var consumer = op.Key{ID: 1}

func takeResetPropose(g *group, a *behaviours.Act) error {
	o := a.With["o"].(map[string]any)
	if o["k"] == "other" { // it is there already
		return g.agree(g.members[g.lead])
	}
	r, err := request(integer(a.With["id"]), o)
	if err != nil {
		return err
	}
	return g.ask(integer(a.With["n"]), &r)
}

// inRep is a field of what the specification has of a replica.
func inRep(a *behaviours.Act, id int, field string) any {
	return a.State["rep"].(map[string]any)[fmt.Sprintf("r%d", id)].(map[string]any)[field]
}

func takeReceive(g *group, a *behaviours.Act) error {
	return g.bring(a.Replica, integer(a.With["n"]), integer(a.With["commit"]))
}

func takeResetCommit(g *group, a *behaviours.Act) error {
	n, stale := integer(a.With["n"]), g.named(a, "without")
	if n < integer(a.With["first"]) {
		return nil
	}
	for range rounds {
		for _, id := range g.followers() {
			held := int(counted(uint64(g.members[id].r.View().Last), base))
			if held < n || slices.Contains(stale, id) {
				continue
			}
			if err := g.bring(id, held, n); err != nil {
				return err
			}
		}
		if int(g.members[g.lead].r.View().Committed) >= n+base {
			return nil
		}
	}
	return &missing{a.Action}
}

func takeApply(g *group, a *behaviours.Act) error { return g.comesTo(a.Replica, integer(a.With["n"])) }

// comesTo has a replica apply all up to op n.
func (g *group) comesTo(id, n int) error {
	if err := g.known(id, n); err != nil {
		return err
	}
	return g.members[id].applyTo(n)
}

func takePurgeLocally(g *group, a *behaviours.Act) error {
	m := g.of(a)
	m.seen = m.seen[:0]
	if err := g.step(m, replica.Input{Intents: []replica.Intent{{Generation: op.Generation(integer(a.With["g"]))}}}); err != nil {
		return err
	}
	const most = 32 // no purge takes as many steps
	for range most {
		if m.took("PurgeComplete", 0) {
			return nil
		}
		if err := g.step(m, replica.Input{Work: true, Job: replica.PurgeOn}); err != nil {
			return err
		}
	}
	return &missing{"PurgeComplete"}
}

func takeResetAnswer(g *group, a *behaviours.Act) error {
	q := &op.Request{Kind: op.Poll, Key: consumer, Strategy: op.Next, Max: 100}
	reply, err := g.look(g.lead, q)
	if err != nil {
		return err
	}
	got := []any{}
	for _, x := range reply.Records {
		got = append(got, said(x.Payload))
	}
	bm := inRep(a, g.lead, "bm").(map[string]any)
	msgs := inRep(a, g.lead, "msgs").([]any)
	from := max(integer(inRep(a, g.lead, "start")), integer(bm["o"])+1)
	if diff := differ("read", any(msgs[min(from, len(msgs)):]), any(got)); diff != nil {
		return diff
	}
	return nil
}

// each calls do with every replica that a crash is of.
func (g *group) each(a *behaviours.Act, do func(*member)) error {
	for _, id := range g.named(a, "s") {
		g.members[id].r = nil
		if g.lead == id {
			g.lead = 0
		}
		do(g.members[id])
	}
	return nil
}

func takeResetCrash(g *group, a *behaviours.Act) error {
	return g.each(a, func(m *member) { m.disk.ProcessCrash() })
}

func takeResetPowerLoss(g *group, a *behaviours.Act) error {
	return g.each(a, func(m *member) { m.disk.PowerLossKeeping(m.pull.kept) })
}

func takeResetBoot(g *group, a *behaviours.Act) error {
	if err := g.of(a).boot(); err != nil {
		return err
	}
	return g.comesTo(a.Replica, integer(a.With["applied"]))
}

// wantResetGroup is a state of ResetRecordGroup as an implementation can show it: of the
// log what journals hold, of messages those from the start on.
func wantResetGroup(s map[string]any) map[string]any {
	reps := map[string]any{}
	for name, v := range s["rep"].(map[string]any) { //purgelab:unordered each goes under its own key
		f := v.(map[string]any)
		if f["up"] != true {
			reps[name] = map[string]any{"up": false}
			continue
		}
		out := map[string]any{"up": true, "applied": f["applied"], "gen": f["gen"], "floor": f["floor"], "start": f["start"], "end": float64(len(f["msgs"].([]any)))}
		out["msgs"] = f["msgs"].([]any)[integer(f["start"]):]
		if b := f["bm"].(map[string]any); integer(b["o"]) >= 0 {
			if out["bm"] = map[string]any{"era": b["era"], "o": b["o"]}; s["bare"] == true { // it came from any
				out["bm"] = map[string]any{"era": f["gen"], "o": b["o"]}
			}
		}
		if !slices.Contains(s["stale"].([]any), any(name)) {
			out["held"] = f["held"]
		}
		wantResetMoves(out, s, name)
		reps[name] = out
	}
	out := map[string]any{"rep": reps}
	lead := s["rep"].(map[string]any)[fmt.Sprint(s["leader"])].(map[string]any)
	if lead["up"] == true {
		if out["leader"] = s["leader"]; integer(s["commit"]) >= integer(s["first"]) {
			out["commit"] = s["commit"]
		}
	}
	return out
}

// resetState is what the replicas show, in that form.
func (g *group) resetState(s map[string]any) map[string]any {
	reps := g.running(func(m *member, v *replica.View) map[string]any {
		f := &v.Facts
		out := map[string]any{
			"up": true, "applied": counted(uint64(f.Applied), base), "gen": float64(f.Generation), "floor": counted(uint64(f.Boundary), base),
			"start": float64(f.Start), "end": float64(f.End), "msgs": m.messages(f),
		}
		for _, b := range m.r.Bookmarks() {
			out["bm"] = map[string]any{"era": float64(b.Position.Generation), "o": float64(b.Position.Offset)}
		}
		if !slices.Contains(s["stale"].([]any), any(m.name())) {
			out["held"] = counted(uint64(v.Last), base)
		}
		m.resetMovesState(out)
		return out
	})
	out := map[string]any{"rep": reps}
	if g.lead != 0 {
		if out["leader"] = g.members[g.lead].name(); integer(s["commit"]) >= integer(s["first"]) {
			out["commit"] = counted(uint64(g.members[g.lead].r.View().Committed), base)
		}
	}
	return out
}
