package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"purgelab/impl/consensus"
	"purgelab/impl/meta"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// plane is the metadata plane of a scenario in which replicas may lose their memory:
// it decides when a partition goes on in a new incarnation, and from what. Each
// machine has a replica of it, on a disk of its own; these never fail and are never
// cut off. Intents are not its business here: see intend.
type plane struct {
	of       []*meta.Machine // by machine, from 1
	queue    []meta.Message
	replies  []meta.Reply
	changed  bool
	session  op.Session
	sequence op.Sequence
}

// incarnations is what a partition's world knows of them.
type incarnations struct {
	latest op.Incarnation
	ending op.Incarnation // the last one that is to end
	began  op.Incarnation // the last one in which a replica was
	// begins are those to come, as the history has them; the first was invoked.
	begins []*op.Request
	forced bool // an operator did not wait for all
}

func newPlane(c *cluster) *plane {
	p := &plane{of: make([]*meta.Machine, c.s.Replicas+1)}
	var all []int
	var initial []meta.Placement
	for id := 1; id <= c.s.Replicas; id++ {
		all = append(all, id)
	}
	for i := range c.s.Partitions {
		initial = append(initial, meta.Placement{Partition: op.Partition(i)})
	}
	for _, id := range all {
		fs := crashfs.New().FS()
		err := errors.Join(fs.Mkdir("scenario", "meta"), fs.SyncDir("scenario", "."))
		if err == nil {
			cfg := meta.Config{
				ID: id, Members: all, Cluster: 1, FS: fs, Dir: "meta", Initial: initial, Sessions: 16, JournalBytes: 1 << 20,
				HeartbeatTicks: heartbeatTicks, ElectionTicks: electionTicks, Rand: rand.New(&timers{boot: uint64(id)}), Defects: c.defects,
			}
			if err = meta.Format(cfg); err == nil {
				p.of[id], err = meta.Open(cfg)
			}
		}
		if err != nil {
			panic(err) // nothing breaks its disks
		}
	}
	return p
}

func (p *plane) step(id int, in meta.Input) {
	for {
		out, err := p.of[id].Step(in)
		if err != nil {
			panic(err) // nothing breaks it
		}
		p.queue = append(p.queue, out.Messages...)
		for _, a := range out.Answers {
			p.replies = append(p.replies, a.Reply)
		}
		p.changed = p.changed || out.Changed
		if in = (meta.Input{Work: true}); !out.Work {
			return
		}
	}
}

func (p *plane) drain() {
	for len(p.queue) > 0 {
		m := p.queue[0]
		p.queue = p.queue[1:]
		p.step(m.To, meta.Input{Message: &m})
	}
}

// tick lets time pass for the plane, and machines do what it has decided.
func (c *cluster) tickPlane() {
	p := c.plane
	for id := 1; id < len(p.of); id++ {
		for _, w := range c.all {
			w.stands(w.nodes[id])
		}
		p.step(id, meta.Input{Tick: true})
		p.drain()
	}
	c.follow()
}

// stands tells the plane's replica of a machine how its replica of a partition does.
func (w *world) stands(n *node) {
	if n.member == nil {
		return
	}
	now := n.member.Standing()
	if !now.Suspect && !now.Sealed {
		now.Evidence = replica.Evidence{} // it goes on
	}
	if n.stood != nil && *n.stood == now {
		return
	}
	n.stood = &now
	w.plane.of[n.id].Stands(meta.Local{Partition: w.id, Incarnation: n.incarnation, Standing: meta.Standing{
		Suspect: now.Suspect, Sealed: now.Sealed, Copied: now.Copied, Of: now.Of, Baseless: now.Baseless,
		Evidence: meta.Evidence{Intact: now.Evidence.Intact, Term: now.Evidence.Term, Last: now.Evidence.Last},
	}})
}

// follow makes machines do what the plane has decided.
func (c *cluster) follow() {
	for c.plane.changed {
		c.plane.changed = false
		for _, w := range c.all {
			for _, n := range w.nodes[1:] {
				w.note(w.decided(n))
				w.obey(n)
			}
		}
	}
}

// decided is what the plane's replica of a machine knows of this partition.
func (w *world) decided(n *node) *meta.Partition {
	return w.plane.of[n.id].State().Partition(w.id)
}

func (w *world) obey(n *node) {
	p := w.decided(n)
	switch {
	case !n.up:
	case p.Incarnation > n.incarnation:
		w.boot(n)
	case p.Sealed && !n.sealed && n.member != nil:
		n.sealed = true
		w.step(n, replica.Input{Seal: true})
	}
}

// note records which incarnations are to end: to the history each that follows one is
// an operation that lasts until some replica is where it begins.
func (w *world) note(p *meta.Partition) {
	w.latest = max(w.latest, p.Incarnation)
	ending := p.Incarnation - 1
	if p.Sealed {
		ending = p.Incarnation
	}
	for w.ending < ending {
		w.ending++
		q := &op.Request{Kind: op.NewIncarnation, Partition: w.shard}
		if w.policy.Messages == replica.Replicated {
			q.MayLose |= op.LosesMessages
		}
		if w.policy.Bookmarks == replica.Replicated {
			q.MayLose |= op.LosesBookmarks
		}
		if w.begins = append(w.begins, q); len(w.begins) == 1 {
			w.rec.Invoke(worldProcess-int(w.shard), w.now, q)
		}
	}
	if p.Source.Forced && !w.forced {
		// What an operator gives up is known only when he does.
		w.forced = true
		w.begins[len(w.begins)-1].MayLose |= op.LosesSynced
		w.watch.Forced(w.shard)
	}
}

// beginning: a replica is where an incarnation begins.
func (w *world) beginning(e *observe.Event) {
	i := op.Incarnation(e.Count)
	if i <= w.began {
		return
	}
	w.began, w.committed = i, e.Op
	agreed, err := op.ParsePosition(e.Key)
	if err != nil {
		panic(err) // it was printed by the same package
	}
	w.rec.Answer(worldProcess-int(w.shard), w.now, &op.Reply{
		Position: op.Position{Incarnation: i, Generation: e.Generation, Offset: -1}, Start: e.Start, End: e.End, Agreed: agreed,
	})
	if w.begins = w.begins[1:]; len(w.begins) > 0 {
		w.rec.Invoke(worldProcess-int(w.shard), w.now, w.begins[0])
	}
}

// ran looks at a replica that was opened, or that has just got its base: then what is
// left of older incarnations goes.
func (w *world) ran(n *node) {
	v := n.member.View()
	if n.copying = v.Copying; v.Copying || v.Sealed {
		return
	}
	n.shift = max(v.Base, 1) - 1
	w.watch.Booted(w.now, n.id, w.shard, n.member)
	if w.plane == nil {
		return
	}
	fs := n.disk.FS()
	for i := op.Incarnation(1); i < n.incarnation; i++ {
		if err := removeAll(fs, w.dirOf(i)); err != nil {
			w.stopped(n, err)
			return
		}
	}
}

// base is what an incarnation goes on from; nil: it is the first one.
func (w *world) base(n *node) *replica.Base {
	if w.plane == nil || n.incarnation == 1 {
		return nil
	}
	s := w.decided(n).Source
	b := &replica.Base{From: s.From, Machine: s.Machine, Term: s.Term, Last: s.Last, Forced: s.Forced}
	for i := n.incarnation - 1; i > 0; i-- {
		b.Past = append(b.Past, replica.Past{Incarnation: i, Dir: w.dirOf(i)})
	}
	return b
}

// force is an operator who does not wait for those who have not answered.
func (w *world) force() string {
	reply := w.command(&meta.Request{Kind: meta.ForceIncarnation, Partition: w.id, Incarnation: w.latest})
	w.follow()
	if r := reply.Results[0]; r.Code != op.OK {
		return r.Code.String()
	} else {
		return fmt.Sprintf("incarnation %d", r.Incarnation)
	}
}

// command asks the plane's leader. There is one, since it never fails.
func (w *world) command(r *meta.Request) meta.Reply {
	p := w.plane
	leads := func(m *meta.Machine) bool { return m != nil && m.View().Role == consensus.Leader }
	for !slices.ContainsFunc(p.of, leads) {
		w.tickPlane()
	}
	ask := func(r *meta.Request) meta.Reply {
		p.replies = nil
		p.step(slices.IndexFunc(p.of, leads), meta.Input{Call: &meta.Call{Request: r}})
		p.drain()
		return p.replies[0]
	}
	if p.session == 0 {
		p.session = ask(&meta.Request{Kind: meta.Register}).Session
	}
	p.sequence++
	r.Session, r.Sequence = p.session, p.sequence
	return ask(r)
}

// replace gives a machine without power an empty disk for its partitions.
func (c *cluster) replace(n *node) {
	c.down(n, true, nil)
	n.disk = crashfs.New()
}

// removeAll removes a folder with everything in it, if it is there.
func removeAll(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if errors.Is(err, vfs.ErrNotExist) {
		return nil
	}
	for i := 0; err == nil && i < len(names); i++ {
		if path := dir + "/" + names[i]; path[len(path)-1] == '/' {
			err = removeAll(fs, path[:len(path)-1])
		} else {
			err = fs.Remove("scenario", path)
		}
	}
	if err != nil {
		return err
	}
	return fs.Remove("scenario", dir)
}
