package sim

import (
	"errors"

	"purgelab/impl/meta"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// A partition whose majority lost its memory goes on in a new incarnation: the same
// shard, whose clients must learn which one it is. Each machine tells the plane how
// its members stand, and its members what the plane has decided. The directory of an
// older incarnation is retired once the base of the next is on the disk.

// Incarnations is a Script that wants to know when a shard goes on in a new
// incarnation.
type Incarnations interface {
	// Ending is called when an incarnation is to end, before the next one begins;
	// lose is what the next one may lack.
	Ending(at int64, p op.Partition, lose op.Losses)
	// Began is called when a replica first is where the next one begins; reply is
	// that of the operation op.NewIncarnation. Calls of the two alternate, except
	// that there may be several of Ending before one of Began.
	Began(at int64, p op.Partition, reply op.Reply)
}

// line is what is known of the incarnations of a shard.
type line struct {
	first  op.Incarnation // that was created
	ending op.Incarnation // the last one that Ending was called for
	began  op.Incarnation // the last one that Began was called for
	acked  []op.Number    // mutations that were answered ok
}

// forgetful: replicas may lose what they acknowledged.
func (c *Cluster) forgetful() bool { return c.o.Policy != (replica.Policy{}) }

// ran is a shard in the incarnation that a machine runs, or ran last.
func (c *Cluster) ran(m *machine, h int) shard {
	at := c.shards[h]
	if i := m.members[h].incarnation; i != 0 {
		at.incarnation = i
	}
	return at
}

// base says what a shard goes on from; nil if it is the first of its line.
func (c *Cluster) base(p *meta.Partition) *replica.Base {
	if p.Incarnation == p.First {
		return nil
	}
	b := &replica.Base{From: p.Source.From, Machine: p.Source.Machine, Term: p.Source.Term, Last: p.Source.Last, Forced: p.Source.Forced}
	for i := p.Incarnation - 1; i >= p.First; i-- {
		b.Past = append(b.Past, replica.Past{Incarnation: i, Dir: shard{p.ID, i}.dir()})
	}
	return b
}

// noteLine follows what a machine's replica of the plane says of a shard.
func (c *Cluster) noteLine(h int, p *meta.Partition) {
	l := &c.lines[h]
	l.first = p.First
	ending := p.Incarnation - 1
	if p.Sealed {
		ending = p.Incarnation
	}
	for l.ending = max(l.ending, p.First-1); l.ending < ending; {
		l.ending++
		var lose op.Losses
		if c.o.Policy.Messages == replica.Replicated {
			lose |= op.LosesMessages
		}
		if c.o.Policy.Bookmarks == replica.Replicated {
			lose |= op.LosesBookmarks
		}
		if p.Source.Forced && l.ending < p.Incarnation {
			lose |= op.LosesSynced
		}
		if s, ok := c.script.(Incarnations); ok {
			s.Ending(c.now, op.Partition(h), lose)
		}
	}
}

// began notes that a replica is where an incarnation begins.
func (c *Cluster) began(h int, e *observe.Event) {
	l, i := &c.lines[h], op.Incarnation(e.Count)
	if i <= l.began {
		return
	}
	l.began = i
	c.Effects.Incarnations++
	kept := l.acked[:0]
	for _, n := range l.acked {
		if n <= e.Op {
			kept = append(kept, n)
		}
	}
	c.Effects.LostAcked += len(l.acked) - len(kept)
	l.acked = kept
	agreed, err := op.ParsePosition(e.Key)
	if err != nil {
		panic(err)
	}
	if s, ok := c.script.(Incarnations); ok {
		s.Began(c.now, op.Partition(h), op.Reply{
			Position: op.Position{Incarnation: i, Generation: e.Generation, Offset: -1}, Start: e.Start, End: e.End, Agreed: agreed,
		})
	}
}

// standing tells the plane's replica of a machine how its member of a shard stands.
func (c *Cluster) standing(m *machine, h int) {
	s := &m.members[h]
	member, ok := s.member.(interface{ Standing() replica.Standing })
	if !ok || m.meta.member == nil {
		return
	}
	now := member.Standing()
	if !now.Suspect && !now.Sealed {
		now.Evidence = replica.Evidence{} // it goes on; nobody asks
	}
	if s.stands != nil && *s.stands == now {
		return
	}
	s.stands = &now
	m.meta.member.Stands(meta.Local{Partition: c.shards[h].partition, Incarnation: s.incarnation, Standing: meta.Standing{
		Suspect: now.Suspect, Sealed: now.Sealed, Copied: now.Copied, Of: now.Of, Baseless: now.Baseless,
		Evidence: meta.Evidence{Intact: now.Evidence.Intact, Term: now.Evidence.Term, Last: now.Evidence.Last},
	}})
}

// seal stops a machine's member of a shard that is to end.
func (c *Cluster) seal(m *machine, h int, p *meta.Partition) {
	if s := &m.members[h]; p.Sealed && !s.sealed && s.member != nil && s.incarnation == p.Incarnation {
		s.sealed = true
		c.step(m.id, h, replica.Input{Seal: true})
	}
}

// opened looks at a replica that was opened, or that has just got its base.
func (c *Cluster) opened(m *machine, h int) {
	s := &m.members[h]
	v := s.member.View()
	if s.copying = v.Copying; v.Copying || v.Sealed {
		return
	}
	s.shift = max(v.Base, 1) - 1
	c.comesToLife(m.id, h)
	if c.o.Watch != nil {
		c.o.Watch.Booted(c.now/Millisecond, m.id, op.Partition(h), s.member)
	}
	for at := c.shards[h].partition; s.incarnation > c.lines[h].first && m.tombs[at] < s.incarnation-1; {
		if err := c.retire(m, shard{at, m.tombs[at] + 1}); err != nil {
			if errors.Is(err, vfs.ErrCrashed) {
				c.stopped(m, metaSlotNumber, err)
			}
			return // it is tried again after a boot
		}
	}
}

// believes is the incarnation of a shard that a client means.
func (c *Cluster) believes(cl *client, p op.Partition) op.Incarnation {
	if i := cl.believed[p]; i != 0 {
		return i
	}
	if first := c.lines[p].first; first != 0 {
		return first
	}
	return c.shards[p].incarnation
}

// named makes a request say which incarnation its client means, in runs in which
// there may be another.
func (c *Cluster) named(cl *client, r *op.Request) {
	if c.forgetful() && !c.volatile() {
		r.Incarnation = c.believes(cl, r.Partition)
	}
}

// learns tells whether an incarnation of a partition is a later one of the shard
// that a client talks to, and lets it know.
func (c *Cluster) learns(cl *client, p op.Partition, i op.Incarnation) bool {
	if l := &c.lines[p]; l.first == 0 || i < l.first || i > c.shards[p].incarnation {
		return false
	}
	cl.believed[p], cl.sessions[p], cl.sequence[p] = max(cl.believed[p], i), 0, 0
	return true
}

// Repeats is a Script that wants to know which requests were sent more than once:
// where a log is lost another copy may be found in another one, in another place.
type Repeats interface{ Again(call *Call) }

// reopen starts a replica again that stopped over damage: its member is renounced.
// One that is alone must not be, unless its policy allows that something is lost.
func (c *Cluster) reopen(m *machine, h int, err error) {
	if c.o.Design == replica.ResetRecord || c.o.Replicas == 1 && !c.forgetful() {
		return
	}
	epoch := m.epoch
	c.After(diskRestart, func() {
		s := &m.members[h]
		if !m.up || m.epoch != epoch || s.member != nil {
			return
		}
		s.damaged = err
		m.current[c.shards[h].partition] = nobody
		if c.place(m); m.up {
			c.tell(m)
		}
	})
}

// settling tells whether a partition is on its way to the next incarnation, or has
// replicas that may bring it there: then a single copy of its log may be all that it
// will go on from.
func (c *Cluster) settling(h int) bool {
	if !c.forgetful() {
		return false
	}
	for id := 1; id <= c.o.Replicas; id++ {
		if s := &c.machines[id].members[h]; s.member != nil {
			if v := s.member.View(); v.Joining || v.Sealed || v.Copying {
				return true
			}
		}
	}
	return false
}
