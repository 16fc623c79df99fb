package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/engine"
	"purgelab/impl/journal"
	"purgelab/impl/observe"
	"purgelab/impl/record"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// This file has replicas of a group lose their memory: one of them comes back as a new
// member, or all go on in a new incarnation. Ops are counted along the line of all
// incarnations, in the specification and here, but for two kinds of ops:
//
//	specification   - - -  1 2 3  4      5 6 7  8      9
//	                              begin         begin
//	implementation  1 2 3  4 5 6  -      7 8 9  -      10
//	                base                        9 is the last op of the base
//	                                            of the third incarnation

// line is the op of the implementation that op n of the specification is. The op with which
// an incarnation begins is none: here it is what comes before it.
func (g *group) line(n int) op.Number {
	at := n + base
	for _, s := range g.begun {
		if n >= s {
			at--
		}
	}
	return g.agreed.past(op.Number(max(at, base)))
}

// number is the op of the specification that op n of the implementation is, 0 if it has none.
func (g *group) number(n op.Number) float64 {
	x := max(int(n), base) - base - g.agreed.admitting(n)
	for _, s := range g.begun {
		if x >= s {
			x++
		}
	}
	return float64(x)
}

// reached is the last op of the specification with which a replica is that has come to op n
// of the implementation.
func (g *group) reached(n op.Number) float64 {
	x := g.number(n)
	for slices.Contains(g.begun, int(x)+1) {
		x++
	}
	return x
}

// own is op n in the numbers of the present incarnation; its bootstrap if it is older.
func (g *group) own(n int) uint64 { return uint64(max(g.line(n), g.basis) - g.basis + 1) }

// memory is what a replica of a group has in memory.
func (g *group) memory(f *engine.Facts, bookmarks []engine.BookmarkEntry) map[string]any {
	bm := map[string]any{}
	for _, b := range bookmarks {
		bm[keyName(b.Key)] = map[string]any{"op": g.number(b.Op), "o": float64(b.Position.Offset)}
	}
	return map[string]any{
		"applied": g.reached(f.Applied), "gen": float64(f.Generation), "boundary": g.number(f.Boundary),
		"start": float64(f.Start), "end": float64(f.End), "settled": float64(f.Settled), "bm": bm,
	}
}

// membership puts into the facts of a replica what a model with members that come and go
// says of it. The op with which an incarnation begins is materialized with the one before.
func membership(s map[string]any, name string, f map[string]any) {
	members, ok := s["member"].(map[string]any)
	if !ok {
		return
	}
	log, n := s["log"].([]any), integer(f["applied"])
	for n < len(log) && log[n].(map[string]any)["k"] == "begin" {
		n++
	}
	f["applied"] = float64(n)
	f["joining"] = members[name] != "voter"
	if tellsHeld(s, name) {
		f["held"] = s["held"].(map[string]any)[name]
	}
}

// tellsHeld tells whether it is known what a journal holds: not of a leader that is to
// propose something, nor of what was dropped.
func tellsHeld(s map[string]any, name string) bool {
	leads := slices.Contains(s["leader"].([]any), any(name))
	return !(leads && s["due"] == true) && !slices.Contains(s["stale"].([]any), any(name))
}

// PolicyOf is the policy under which a behaviour is one: of none that says nothing all is
// persisted.
func PolicyOf(b *behaviours.Behaviour) (p replica.Policy) {
	if slices.ContainsFunc(b.Acts, func(a behaviours.Act) bool { return a.Action == "BeginSequence" }) {
		return replica.Policy{Messages: replica.Replicated, Bookmarks: replica.Replicated}
	}
	is, ok := b.Acts[0].State["persisted"].(map[string]any)
	if ok && is["messages"] != true {
		p.Messages = replica.Replicated
	}
	if ok && is["bookmarks"] != true {
		p.Bookmarks = replica.Replicated
	}
	return p
}

// VariantsOf are the variants of reset-record of which a behaviour is one: only one that tries
// a sync again goes on after it failed.
func VariantsOf(b *behaviours.Behaviour) replica.Variants {
	return replica.Variants{RetrySync: slices.ContainsFunc(b.Acts, func(a behaviours.Act) bool { return a.Action == "SyncFails" && a.With["step"] != nil })}
}

// change is a change of members that is on its way: op n, of which replica, and which step
// of it, as the specification's models call them.
type change struct {
	n    int
	id   int
	step string
}

// takes has the leader propose what takes a replica further that wants to be a member: it
// hears that from the replica. What ends the change it proposes by itself.
func (g *group) takes(a *behaviours.Act) error {
	id, err := replicaOf("of", fmt.Sprint(a.With["of"]), len(g.members)-1)
	if err != nil {
		return &unfit{err.Error()}
	}
	c := change{n: integer(a.With["n"]), id: id, step: fmt.Sprint(a.With["step"])}
	if g.members[id].r == nil && c.step != "end" {
		return errDown
	}
	g.change = c
	if c.step == "end" {
		return g.agree(g.members[g.lead])
	}
	if c.step == "voter" { // the leader wants to have heard from it
		commit := integer(a.With["commit"])
		if err := g.bring(c.id, commit, commit); err != nil {
			return err
		}
	}
	const most = 100 // ticks: it asks more often
	for range most {
		g.aside = nil
		if err := g.step(g.members[c.id], replica.Input{Tick: true}); err != nil {
			return err
		}
		for _, x := range g.aside {
			if x.Join != 0 && x.To == g.lead {
				if err := g.step(g.members[g.lead], replica.Input{Message: &x}); err != nil {
					return err
				}
				return g.agree(g.members[g.lead])
			}
		}
	}
	return &missing{"Join"}
}

// taken brings a replica the log that has just become a member.
func (g *group) taken(n int) error {
	c := g.change
	if c.n != n || c.step != "learner" {
		return nil
	}
	g.members[c.id].apart = false
	return g.bring(c.id, n, n)
}

// losePower leaves of the journal the first n ops, and nothing else that is not synced.
func (m *member) losePower(n int) error {
	folder := m.dir()
	if m.home != "." {
		folder += "/" + m.home
	}
	folder += "/journal"
	keeping := func(d *crashfs.Disk, count int) (writes int) {
		d.PowerLossKeeping(func(c crashfs.Change) bool {
			of := !c.Names() && strings.HasPrefix(c.Path, folder+"/")
			if of {
				writes = max(writes, c.Nth+1)
			}
			return of && c.Nth < count
		})
		return writes
	}
	for count := keeping(m.disk.Clone(), 0); count >= 0; count-- {
		d := m.disk.Clone()
		keeping(d, count)
		id := record.Identity{Cluster: identity.Cluster, Replica: uint32(m.id), Incarnation: m.g.incarnation}
		jr, _, err := journal.Open(journal.Options{FS: d.FS(), Dir: folder, Identity: id, FileBytes: journalBytes})
		if err != nil {
			return err
		}
		admitted := m.g.agreed != nil && m.g.number(m.g.basis+jr.Last()-1) == float64(n) // with what took members in
		if admitted || uint64(jr.Last()) == m.g.own(n) {
			keeping(m.disk, count)
			m.losses++
			m.dark = true
			return jr.Close()
		}
	}
	return &missing{"PowerLoss"}
}

// takeRejoin takes the disk from a replica that has its memory. One that has not finds that
// out by itself.
func takeRejoin(g *group, a *behaviours.Act) error {
	m := g.of(a)
	if !m.dark || g.policy == (replica.Policy{}) {
		m.disk, m.formatted = crashfs.New(), true
		if err := m.makeDir(); err != nil {
			return err
		}
	}
	m.apart = true
	if len(g.has) > 0 {
		g.has[m.id] = 0
	}
	return nil
}

func takeNewIncarnation(g *group, a *behaviours.Act) error {
	if most, ok := a.With["most"].(map[string]any); ok {
		g.most = append(g.most, op.Position{Incarnation: g.incarnation, Generation: op.Generation(integer(most["g"])), Offset: op.Offset(integer(most["o"]))})
	}
	if err := g.openAll(); err != nil {
		return err
	}
	return g.begins(false)
}

// openAll opens those that are down.
func (g *group) openAll() error {
	for _, m := range g.members[1:] {
		if m.r == nil {
			if err := m.open(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begins has all replicas say what they hold, as far as they have not lost that, the plane
// decide, or an operator, and all go on from what it chose.
func (g *group) begins(operator bool) error {
	if g.watch != nil {
		g.watch.Ending(g.incarnation)
	}
	if err := g.plane.decide(g, operator); err != nil {
		return err
	}
	old := g.members[1].dir()
	past := []replica.Past{{Incarnation: g.incarnation, Dir: old}}
	if g.goesOn != nil {
		past = append(past, g.goesOn.Past...)
	}
	p := g.plane.decided(1)
	g.incarnation = p.Incarnation
	g.goesOn = &replica.Base{From: p.Source.From, Machine: p.Source.Machine, Term: p.Source.Term, Last: p.Source.Last, Forced: p.Source.Forced, Past: past}
	for _, m := range g.members[1:] {
		m.formatted, m.apart, m.pull, m.saved = false, false, pulling{}, 0
		if err := errors.Join(m.makeDir(), m.open()); err != nil {
			return err
		}
	}
	g.lead, g.queue, g.change, g.has = 0, nil, change{}, nil
	if err := g.copyBases(); err != nil {
		return err
	}
	g.basis = g.members[1].r.View().Base
	if g.agreed != nil {
		g.agreed.begins(len(g.members))
	} else {
		g.begun = append(g.begun, int(g.reached(g.basis))+1)
	}
	for _, m := range g.members[1:] {
		m.home = m.r.View().Home
		if err := errors.Join(m.replayBase(), removeAll(m.disk.FS(), old)); err != nil {
			return err
		}
	}
	return nil
}

// claims looks at up to where a replica says that an incarnation agrees with the one before.
func (g *group) claims(e *observe.Event) {
	if g.agreed != nil {
		return // what it speaks of is not in the log
	}
	at, err := op.ParsePosition(e.Key)
	if i := e.Count - 2; err != nil || i < 0 || i >= len(g.most) {
		g.claimed = &Difference{Field: "agreed", Want: none, Got: e.Key}
	} else if most := g.most[i]; at.Generation > most.Generation || at.Generation == most.Generation && at.Offset > most.Offset {
		g.claimed = &Difference{Field: "agreed", Want: "at most " + most.String(), Got: e.Key}
	}
}

// copyBases lets replicas that have no base get it.
func (g *group) copyBases() error {
	const most = 1000 // pieces of work, and ticks
	for range most {
		copying := false
		for _, m := range g.members[1:] {
			if m.r == nil || !m.r.View().Copying {
				continue
			}
			copying = true
			for _, in := range []replica.Input{{Work: true}, {Tick: true}} {
				if err := g.step(m, in); err != nil {
					return err
				}
			}
		}
		if !copying {
			return nil
		}
		list := g.aside
		g.aside = nil
		for _, x := range list {
			if to := g.members[x.To]; to.r != nil && x.Base != nil {
				if err := g.step(to, replica.Input{Message: &x}); err != nil {
					return err
				}
			}
		}
	}
	return errors.New("nobody has the base")
}

// replayBase materializes all that the incarnation goes on from.
func (m *member) replayBase() error {
	const most = 1000 // pieces of work
	for range most {
		v, job := m.r.View(), replica.ApplyOne
		if v.Facts.Applied >= m.g.basis {
			return nil
		}
		if v.Purging {
			job = replica.PurgeOn
		}
		if err := m.g.step(m, replica.Input{Work: true, Job: job}); err != nil {
			return err
		}
	}
	return &missing{"NewIncarnation"}
}

// dir is the folder of the partition in the present incarnation.
func (m *member) dir() string {
	if m.g.incarnation == 1 {
		return dir
	}
	return fmt.Sprintf("%s-i%d", dir, m.g.incarnation)
}

// makeDir makes it, formatted unless that was done before.
func (m *member) makeDir() error {
	fs := m.disk.FS()
	err := errors.Join(fs.Mkdir("replay.mkdir", m.dir()), fs.SyncDir("replay.mkdir", "."))
	if err == nil && !m.formatted {
		m.formatted = true
		err = replica.Format(m.config())
	}
	return err
}

// removeAll removes a folder with everything in it.
func removeAll(fs vfs.FS, path string) error {
	names, err := fs.List(path)
	if errors.Is(err, vfs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if sub, ok := strings.CutSuffix(name, "/"); ok {
			err = errors.Join(err, removeAll(fs, path+"/"+sub))
		} else {
			err = errors.Join(err, fs.Remove("replay.remove", path+"/"+name))
		}
	}
	return errors.Join(err, fs.Remove("replay.remove", path))
}
