package sim

import (
	"purgelab/impl/observe"
	"purgelab/model/op"
)

// recorder stamps events with the time, which a replica that is just opening
// does not know, keeps the commit frontier of each partition, and passes them on.
type recorder struct {
	c         *Cluster
	sink      observe.Sink
	of        [][]source // per machine and shard
	committed []op.Number
	booted    []op.Incarnation // per shard: the latest that goes on from another one, 0 without
	leader    []int            // per shard: the last one that began to lead
	members   []op.Number      // per shard: the last change of membership
	pulling   []pulls          // per shard
	changed   bool             // an event after which a watcher should look
}

// source is the sink of one replica.
type source struct {
	r  *recorder
	id int
	of op.Partition // its shard
}

func (r *recorder) init(c *Cluster, s observe.Sink) {
	*r = recorder{c: c, sink: s, committed: make([]op.Number, len(c.shards)), booted: make([]op.Incarnation, len(c.shards)), leader: make([]int, len(c.shards)), members: make([]op.Number, len(c.shards)), of: make([][]source, c.o.Replicas+1)}
	for range c.shards {
		r.pulling = append(r.pulling, pulls{on: make([]bool, c.o.Replicas+1), from: make([]int, c.o.Replicas+1)})
	}
	for id := range r.of {
		for h := range c.shards {
			r.of[id] = append(r.of[id], source{r, id, op.Partition(h)})
		}
	}
}

func (s *source) Observe(e observe.Event) {
	r := s.r
	e.Time, e.Replica, e.Partition = r.c.now/Millisecond, s.id, s.of
	if e.Incarnation > r.booted[e.Partition] { // of this one nothing is committed yet
		r.booted[e.Partition], r.committed[e.Partition] = e.Incarnation, 0
	}
	switch e.Action {
	case "BecomeLeader":
		if last := r.leader[e.Partition]; last != 0 && last != e.Replica {
			r.c.Effects.LeaderChanges++
		}
		r.leader[e.Partition] = e.Replica
	case "Commit":
		if e.Op > r.committed[e.Partition] && e.Incarnation == r.booted[e.Partition] {
			r.committed[e.Partition] = e.Op
		}
	case "NewIncarnation":
		if op.Incarnation(e.Count) > r.c.lines[e.Partition].began {
			r.committed[e.Partition], r.members[e.Partition] = e.Op, e.Op
		}
		r.c.began(int(e.Partition), &e)
	case "Rejoin":
		r.c.Effects.Suspects++
	case "Joined":
		r.c.Effects.Rejoined++
	case "ChangeMembers":
		if at := &r.members[e.Partition]; e.Op > *at {
			*at = e.Op
			r.c.Effects.Changed++
		}
	case "PurgeComplete", "PurgeDuplicate", "Serve", "Checkpoint", "CommitInstall":
		r.changed = true
	}
	if r.c.o.Compact.On() {
		r.c.Effects.Moves.note(&e, &r.pulling[e.Partition], r.c.o.Design)
	}
	if r.sink != nil {
		r.sink.Observe(e)
	}
}
