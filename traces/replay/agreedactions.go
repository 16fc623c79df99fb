package replay

import (
	"maps"
	"slices"

	"purgelab/impl/journal"
	"purgelab/impl/record"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// This file says how actions of AgreedLog are taken, and what is compared of it.

const agreedName = "agreed log"

// isAgreed tells whether a behaviour is one of AgreedLog.
func isAgreed(b *behaviours.Behaviour) bool {
	return len(b.Acts) > 0 && b.Acts[0].State["acked"] != nil
}

// valueOf is what AgreedLog's models call an entry.
func valueOf(data []byte) string {
	const replicatedMark = 0xf6 // begins what need not be synced
	switch {
	case len(data) == 0:
		return "empty"
	case data[0] == replicatedMark:
		return "replicated"
	}
	return "persisted"
}

// entries are those of the specification's in a journal, above the base.
func (m *member) entries(d *crashfs.Disk) ([]any, error) {
	id := record.Identity{Cluster: identity.Cluster, Replica: uint32(m.id), Incarnation: m.g.incarnation}
	folder := m.dir()
	if m.home != "." {
		folder += "/" + m.home
	}
	jr, _, err := journal.Open(journal.Options{FS: d.FS(), Dir: folder + "/journal", Identity: id, FileBytes: journalBytes})
	if err != nil {
		return nil, err
	}
	defer jr.Close()
	out := []any{}
	for n := jr.First(); n <= jr.Last(); n++ {
		line := m.g.basis + n - 1
		if line <= base || slices.Contains(m.g.agreed.admitted, line) {
			continue
		}
		es, err := jr.Entries(n, n+1, 1<<20)
		if err != nil {
			return nil, err
		}
		out = append(out, map[string]any{"v": valueOf(es[0].Data), "t": float64(m.g.agreed.terms[es[0].Term])})
	}
	return out, nil
}

// written is what a journal holds, and how much of that would outlive a loss of power.
func (m *member) written() (all []any, stable int, err error) {
	d := m.disk.Clone()
	d.ProcessCrash()
	if all, err = m.entries(d); err != nil {
		return nil, 0, err
	}
	d = m.disk.Clone()
	d.PowerLossKeeping(func(crashfs.Change) bool { return false })
	left, err := m.entries(d)
	if err != nil {
		return nil, 0, err
	}
	for stable < min(len(all), len(left)) && differ("", all[stable], left[stable]) == nil {
		stable++
	}
	return all, stable, nil
}

// wantAgreed is a state of AgreedLog as an implementation can show it: of journals what
// comes after the base, of suspects how much they show.
func wantAgreed(s map[string]any) map[string]any {
	reps := map[string]any{}
	basis := integer(s["basis"])
	for _, name := range slices.Sorted(maps.Keys(s["journal"].(map[string]any))) {
		j := s["journal"].(map[string]any)[name].([]any)
		f := map[string]any{"down": slices.Contains(s["down"].([]any), any(name))}
		reps[name] = f
		suspect := integer(s["suspect"].(map[string]any)[name])
		if f["down"] != true {
			f["suspect"] = suspect != -1
		}
		if suspect != -1 {
			if f["down"] != true {
				f["shows"] = float64(len(j))
				if suspect == -2 {
					f["shows"] = none
				}
			}
			continue
		}
		f["journal"] = j[basis:]
		if !slices.Contains(s["due"].([]any), any(name)) {
			f["stable"] = float64(max(integer(s["stable"].(map[string]any)[name])-basis, 0))
			f["acked"] = s["acked"].(map[string]any)[name]
		}
	}
	out := map[string]any{"rep": reps, "inc": s["inc"], "basis": s["basis"]}
	if list := s["leader"].([]any); len(list) > 0 {
		out["leader"] = list[0]
		if integer(s["commit"]) >= integer(s["floor"]) {
			out["commit"] = s["commit"]
		}
	}
	return out
}

// agreedState is what the replicas show, in that form. A replica may acknowledge what the
// specification says that it may, or less.
func (g *group) agreedState(s map[string]any) map[string]any {
	reps := map[string]any{}
	want := wantAgreed(s)["rep"].(map[string]any)
	for _, m := range g.members[1:] {
		f, w := map[string]any{"down": m.r == nil}, want[m.name()].(map[string]any)
		reps[m.name()] = f
		if m.r != nil {
			f["suspect"] = m.r.View().Joining
		}
		if w["shows"] != nil && m.r != nil {
			f["shows"] = g.shows(m)
		}
		if w["journal"] == nil {
			continue
		}
		all, stable, err := m.written()
		if f["journal"] = all; err != nil {
			f["journal"] = err.Error()
		}
		if w["stable"] != nil {
			f["stable"] = float64(stable)
			acked := g.number(g.basis + op.Number(g.agreed.acks[m.id].op) - 1)
			f["acked"] = w["acked"]
			if acked > float64(integer(w["acked"])) {
				f["acked"] = acked
			}
		}
	}
	out := map[string]any{"rep": reps, "inc": float64(g.incarnation), "basis": g.number(g.basis)}
	if g.lead != 0 {
		out["leader"] = g.members[g.lead].name()
		if integer(s["commit"]) >= integer(s["floor"]) {
			out["commit"] = g.number(g.members[g.lead].r.View().Committed)
		}
	}
	return out
}

// shows is up to where a replica that lost its memory says that its journal goes.
func (g *group) shows(m *member) any {
	s := m.r.Standing()
	if !s.Evidence.Intact {
		return none
	}
	return g.number(g.basis + s.Evidence.Last - 1)
}
