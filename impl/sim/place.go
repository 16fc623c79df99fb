package sim

import (
	"errors"
	"fmt"
	"strings"

	"purgelab/impl/defect"
	"purgelab/impl/meta"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Which replicas a machine runs follows from what its replica of the metadata
// plane knows. A partition in one incarnation is a shard here; shards have the
// plane's serial numbers, and clients and histories know each as a partition of
// its own. The partitions of the beginning are the shards of the same numbers.
//
// A new incarnation lives in a directory of its own, p<partition>-i<incarnation>
// (p<partition> the first), so that no file of its namesake can be taken for one
// of its own. What a machine does when a partition goes or is created again:
//
//	write the tombstone <directory>.deleted and sync it: never opened again
//	stop the replica and remove its files, which may fail, or be undone
//	make the directory of the new incarnation and sync it: only then promises
//	format it, once: a disk that is found empty later is another one
//	open it
//
// After a boot the plane's replica may lag behind what it knew before, so a
// machine may run for a while what the plane has deleted, if the tombstone was
// not written yet; never what it has a tombstone of.

// shard is a partition in one incarnation; zero: not created yet, as far as
// anybody knows.
type shard struct {
	partition   op.Partition
	incarnation op.Incarnation
}

func (s shard) dir() string {
	if s.incarnation == 1 {
		return dirOf(int(s.partition))
	}
	return fmt.Sprintf("%s-i%d", dirOf(int(s.partition)), s.incarnation)
}

const tombstone = ".deleted"

func (c *Cluster) initShards() {
	c.shards = make([]shard, c.o.Partitions+c.o.Recreations+c.o.Partitions*c.o.Losses)
	c.after = make([]int, len(c.shards))
	c.lines = make([]line, len(c.shards))
	for p := 0; p < c.o.Partitions; p++ {
		c.shards[p] = shard{op.Partition(p), 1}
		c.lines[p].first = 1
	}
}

// shardOf notes which shard a partition of the plane is now; false if there are
// more than this run has room for.
func (c *Cluster) shardOf(p *meta.Partition) (int, bool) {
	h := int(p.Serial)
	if h >= c.o.Partitions+c.o.Recreations {
		return 0, false
	}
	if p.Incarnation > c.shards[h].incarnation { // another machine may know of a later one
		c.shards[h] = shard{p.ID, p.Incarnation}
	}
	c.noteLine(h, p)
	return c.latestOf(h), true
}

// Live lists the shards that exist, by partition; nil while the plane has no
// leader.
func (c *Cluster) Live() []int {
	plane := c.Plane()
	if plane == nil {
		return nil
	}
	var out []int
	plane.Each(func(p *meta.Partition) {
		if h, ok := c.shardOf(p); ok && !p.Deleted {
			out = append(out, h)
		}
	})
	return out
}

// Created is how many shards were created so far; their numbers are dense.
func (c *Cluster) Created() int {
	n := 0
	for h, s := range c.shards {
		if s.incarnation > 0 {
			n = h + 1
		}
	}
	return n
}

// findTombs reads from the disk of a machine which incarnations are gone, and
// goes on removing what is left of them.
func (c *Cluster) findTombs(m *machine) error {
	m.current = make([]int, c.o.Partitions)
	m.tombs = make([]op.Incarnation, c.o.Partitions)
	for p := range m.current {
		m.current[p] = nobody
	}
	names, err := m.fs().List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		dir, ok := strings.CutSuffix(name, tombstone)
		if !ok {
			continue
		}
		for h := range c.shards {
			at, ok := c.entombed(h, dir)
			if !ok {
				continue
			}
			m.tombs[at.partition] = max(m.tombs[at.partition], at.incarnation)
			if at == c.shards[h] {
				m.members[h].exists = false
			}
			if err := removeAll(m.fs(), dir); errors.Is(err, vfs.ErrCrashed) {
				return err
			}
		}
	}
	return nil
}

// entombed is the incarnation of a shard that has a directory; false if none has. A
// shard that went on in a new one has had several.
func (c *Cluster) entombed(h int, dir string) (shard, bool) {
	at := c.shards[h]
	for first := max(1, min(c.lines[h].first, at.incarnation)); at.incarnation >= first; at.incarnation-- {
		if at.dir() == dir {
			return at, true
		}
	}
	return shard{}, false
}

const nobody = -1

// place makes a machine run what its replica of the plane says.
func (c *Cluster) place(m *machine) {
	if !m.meta.knows() {
		return
	}
	var all []meta.Partition
	m.meta.member.State().Each(func(p *meta.Partition) { all = append(all, *p) })
	for i := range all {
		p := &all[i]
		h, ok := c.shardOf(p)
		if !ok {
			continue
		}
		gone := p.First - 1
		if p.Deleted {
			gone = p.Incarnation
		}
		for m.tombs[p.ID] < gone {
			if err := c.retire(m, shard{p.ID, m.tombs[p.ID] + 1}); err != nil {
				c.stopped(m, metaSlotNumber, err)
				return
			}
		}
		if p.Deleted || m.tombs[p.ID] >= p.Incarnation || m.current[p.ID] == h && m.members[h].incarnation >= p.Incarnation {
			continue
		}
		m.current[p.ID] = h
		if c.openShard(m, h, p); !m.up {
			return
		}
	}
}

// retire stops the replica of a shard for good and removes its files. An error
// means that the tombstone is not durable.
func (c *Cluster) retire(m *machine, s shard) error {
	fs := m.fs()
	f, err := fs.Create("sim.retire.create", s.dir()+tombstone)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := fs.SyncDir("sim.retire.dirsync", "."); err != nil {
		return err
	}
	m.tombs[s.partition] = s.incarnation
	if h := m.current[s.partition]; h != nobody && c.ran(m, h) == s {
		c.Effects.Retired++
		m.members[h].member, m.members[h].exists = nil, false
		m.current[s.partition] = nobody
	}
	if c.o.Defects.Has(defect.NamesakeBookmarks, defect.FloorKeptAcrossIncarnations) {
		return nil
	}
	if err := removeAll(fs, s.dir()); errors.Is(err, vfs.ErrCrashed) {
		return err
	}
	return nil
}

// removeAll removes a directory with everything in it, if it is there.
func removeAll(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if errors.Is(err, vfs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		path := dir + "/" + name
		if sub, ok := strings.CutSuffix(path, "/"); ok {
			err = removeAll(fs, sub)
		} else {
			err = fs.Remove("sim.retire.remove", path)
		}
		if err != nil {
			return err
		}
	}
	return fs.Remove("sim.retire.remove", dir)
}

// openShard opens a machine's replica of a shard, whose directory it makes if
// that is not there yet.
func (c *Cluster) openShard(m *machine, h int, p *meta.Partition) {
	s, at := &m.members[h], shard{p.ID, p.Incarnation}
	fs := m.fs()
	if _, err := fs.List(at.dir()); errors.Is(err, vfs.ErrNotExist) {
		if m.foreign != nil {
			m.current[at.partition] = nobody // nothing is made on a disk of another one
			return
		}
		err = fs.Mkdir("sim.mkdir", at.dir())
		if err == nil {
			err = fs.SyncDir("sim.mkdir.dirsync", ".")
		}
		if err != nil {
			m.current[at.partition] = nobody
			c.stopped(m, metaSlotNumber, err)
			return
		}
	}
	if at.incarnation > s.formatted {
		// Of this one nothing was there. Only a crash breaks it; then it is formatted at
		// the next boot: nobody has opened it.
		if err := replica.Format(replica.Config{ID: m.id, Partition: at.partition, Incarnation: at.incarnation, Cluster: 1, FS: m.disk.FS(), Dir: at.dir()}); err != nil {
			m.current[at.partition] = nobody
			c.stopped(m, metaSlotNumber, err)
			return
		}
	}
	s.boots++
	s.formatted = max(s.formatted, at.incarnation)
	s.told, s.exists, s.incarnation = 0, true, at.incarnation
	s.sealed, s.stands, s.member = false, nil, nil
	member, err := c.open(replica.Config{
		ID: m.id, Members: c.everybody(), Partition: at.partition, Incarnation: at.incarnation, Cluster: 1, Design: c.o.Design, Variants: c.o.Variants, Policy: c.o.Policy,
		FS: fs, Dir: at.dir(), BootID: 1 + m.losses, Base: c.base(p), Damaged: s.damaged,
		HeartbeatTicks: 5, ElectionTicks: 30,
		CheckpointOps: c.o.CheckpointOps, Sessions: c.o.Sessions,
		SegmentBytes: c.o.SegmentBytes, JournalBytes: c.o.JournalBytes, Compact: c.o.Compact, Transfer: c.o.Transfer,
		Rand:    Split(c.o.Seed, fmt.Sprintf("replica-%d-%d-%d", m.id, h, s.boots)),
		Sink:    &c.trace.of[m.id][h],
		Defects: c.o.Defects,
		Plane:   true, Hold: c.o.Hold,
	})
	s.damaged = nil
	if err != nil {
		c.stopped(m, h, err)
		return
	}
	s.member = member
	if m.foreign != nil {
		c.tookForeign(m, h)
		return
	}
	if m.of == op.Partition(h) {
		m.gone = false // what it had refused was wrong in a read, not on the medium
	}
	if !s.working {
		s.working = true
		c.schedule(c.diskRand.Int64N(c.o.Disk.Work), event{kind: evWork, who: uint16(m.id), partition: uint16(h), epoch: m.epoch})
	}
	c.opened(m, h)
	c.loseBase()
}

// everybody lists the machines: each has a replica of everything.
func (c *Cluster) everybody() []int {
	out := make([]int, c.o.Replicas)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// crashed tells the trace that the replicas of a machine went down.
func (c *Cluster) crashed(m *machine, action observe.Action) {
	for h := range m.members {
		s := &m.members[h]
		s.member, s.working = nil, false
		if s.exists {
			c.trace.of[m.id][h].Observe(observe.Event{Action: action})
		}
	}
}

// serves gives a request to the replica that a machine runs of its partition, in
// whatever incarnation. Where there is none the partition is unknown, or will be.
func (c *Cluster) serves(m *machine, q requestParcel) {
	if c.over(int(q.req.Partition)) {
		return // with the connection that it came by
	}
	asked := c.shards[q.req.Partition]
	if h := m.current[asked.partition]; h != nobody {
		if q.req.Incarnation != 0 {
			asked.incarnation = q.req.Incarnation
		}
		c.inRequest = replica.Request{Token: q.token, Incarnation: asked.incarnation, Op: q.req}
		c.step(m.id, h, replica.Input{Request: &c.inRequest})
		return
	}
	code := op.NotReady
	if m.tombs[asked.partition] >= asked.incarnation {
		code = op.UnknownPartition
	}
	if d, _ := c.net.route(m.id, 0, false, &c.Effects); d != lostInTransit {
		id := uint16(q.token % uint64(c.o.Clients))
		c.schedule(d, event{kind: evAnswer, who: id, slot: c.answers.put(answerParcel{q.token, op.Reply{Code: code}, 0})})
	}
}
