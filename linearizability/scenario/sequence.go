package scenario

import (
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// worldProcess, minus a partition, is who asks what no client asks for.
const worldProcess = -1

// config is what a replica is told of itself and its group.
func (w *world) config(n *node) replica.Config {
	c := replica.Config{
		ID: n.id, Cluster: 1, Partition: w.id, Incarnation: n.incarnation, Design: w.design, Variants: w.s.Variants, Policy: w.policy, Dir: w.dirOf(n.incarnation),
		BootID: 1 + n.losses, FS: n.faults.Wrap(n.disk.FS()), Base: w.base(n),
	}
	for id := 1; id <= w.s.Replicas; id++ {
		c.Members = append(c.Members, id)
	}
	return c
}

// lostPower notes that a machine has no power. If none has any, and the design
// keeps no journal then, op numbers begin anew: to histories the partition goes on
// as another one, which begins with the purge that the records show. Nothing that is
// on its way arrives there, and the outcome of what was asked stays unknown.
func (w *world) lostPower(n *node) {
	c := w.config(n)
	if !c.Volatile() {
		return
	}
	g := op.Generation(0)
	for _, n := range w.nodes[1:] {
		if !n.dark {
			return
		}
		c := w.config(n)
		c.FS = n.disk.FS()
		if found, err := replica.PurgedTo(&c); err == nil { // else it will refuse to boot
			g = max(g, found)
		}
		sink{w, n.id, w.shard}.Observe(observe.Event{Action: "BeginSequence"})
	}
	for _, c := range w.clients {
		w.giveUp(c)
		c.session, c.last = 0, nil
	}
	w.queue, w.committed = nil, 0
	old := w.shard
	w.shard = w.newShard()
	w.watch.SequenceLost(w.now, old, w.shard, g)
	if g > 0 {
		w.rec.Invoke(worldProcess-int(w.shard), w.now, &op.Request{Kind: op.Purge, Partition: w.shard, Intent: g})
		w.rec.Answer(worldProcess-int(w.shard), w.now, &op.Reply{Position: op.Position{Incarnation: w.latest, Generation: g}})
	}
	for _, in := range w.intents {
		if in.Generation > g {
			w.rec.Invoke(worldProcess-int(w.shard), w.now, &op.Request{Kind: op.Purge, Partition: w.shard, Intent: in.Generation})
			w.rec.Unknown(worldProcess-int(w.shard), w.now, in.Generation, "its partition lost its op numbers")
		}
	}
}
