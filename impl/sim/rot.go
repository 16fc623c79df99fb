package sim

import (
	"fmt"
	"math/rand/v2"

	"purgelab/impl/corrupt"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// What a disk does to bytes of which it said that they are durable. It strikes no
// more than a minority of machines, or a single one, and of each one partition
// only, so that a quorum of good copies is left of all that was promised:
//
//	Rot        a byte changes on the medium
//	Misplace   a write lands in the place of another one, and what is read in its
//	           own place is what was there before
//	FlipRead   a bit is wrong in what is read; the medium is as it was
//	Deceive    the same and more by rules, of files that hold nothing which the
//	           journal does not hold, until a checkpoint says that it is durable
//
// The first three choose among the bytes whose damage the disk itself can prove,
// whatever a power loss leaves: see replica.Proved. Damage to others cannot be
// told from a write that a power loss tore. A replica that meets it must refuse;
// until then it may go on.

// proved lists the bytes of a machine's replica of a shard that may be damaged.
func (c *Cluster) proved(m *machine, h int) []corrupt.Span {
	at := c.ran(m, h)
	d := m.disk.Clone()
	d.PowerLossAs(nil)
	spans, err := replica.Proved(&replica.Config{
		ID: m.id, Partition: at.partition, Incarnation: at.incarnation, Cluster: 1,
		Design: c.o.Design, Variants: c.o.Variants, FS: d.FS(), Dir: at.dir(),
	})
	if err != nil {
		return nil // it is damaged already, or gone
	}
	return spans
}

// place is a byte that may be damaged, and how many there are from it on.
type place struct {
	file string
	at   int64
	rest int64
	of   corrupt.Kind
}

// draw chooses a place: first of what kind, so that none is struck seldom because
// it is small.
func drawPlace(spans []corrupt.Span, r *rand.Rand) (place, bool) {
	var kinds []corrupt.Kind
	for _, k := range []corrupt.Kind{corrupt.Journal, corrupt.Messages, corrupt.Bookmarks, corrupt.Record} {
		for _, s := range spans {
			if s.Of == k {
				kinds = append(kinds, k)
				break
			}
		}
	}
	if len(kinds) == 0 {
		return place{}, false
	}
	kind := kinds[r.IntN(len(kinds))]
	var list []corrupt.Span
	for _, s := range spans {
		if s.Of == kind {
			list = append(list, s)
		}
	}
	s := list[r.IntN(len(list))]
	at := s.From + r.Int64N(s.To-s.From)
	return place{s.File, at, s.To - at, kind}, true
}

// Rot changes a bit of a proved byte. It tells what it changed; empty if there is
// nothing that it may.
func (c *Cluster) Rot(id, h int, r *rand.Rand) string {
	m := &c.machines[id]
	if !c.mayRot(m, h) {
		return ""
	}
	x, ok := drawPlace(c.proved(m, h), r)
	if !ok || m.disk.Rot(x.file, x.at, 1<<r.IntN(8)) != nil {
		return ""
	}
	m.rotten, m.of = true, op.Partition(h)
	c.Effects.Rotten++
	switch x.of {
	case corrupt.Journal:
		c.Effects.RottenJournal++
	case corrupt.Messages:
		c.Effects.RottenMessages++
	case corrupt.Bookmarks:
		c.Effects.RottenBookmarks++
	case corrupt.Record:
		c.Effects.RottenRecords++
	}
	return fmt.Sprintf("%s byte %d", x.file, x.at)
}

// Misplace leaves of a proved piece what a misdirected write does: its place is
// empty, and its bytes stand in the place of another proved piece. It tells what
// it changed; empty if there is nothing that it may.
func (c *Cluster) Misplace(id, h int, r *rand.Rand) string {
	m := &c.machines[id]
	if !c.mayRot(m, h) {
		return ""
	}
	spans := c.proved(m, h)
	from, ok := drawPlace(spans, r)
	if !ok {
		return ""
	}
	to, _ := drawPlace(spans, r)
	n := min(from.rest, to.rest, 512)
	if from.file == to.file && from.at < to.at+n && to.at < from.at+n {
		return ""
	}
	f, err := m.disk.Clone().FS().Open(from.file)
	if err != nil {
		return ""
	}
	p := make([]byte, n)
	if _, err := f.ReadAt(p, from.at); err != nil {
		return ""
	}
	if m.disk.Put(to.file, to.at, p) != nil || m.disk.Put(from.file, from.at, make([]byte, n)) != nil {
		return ""
	}
	m.rotten, m.of = true, op.Partition(h)
	c.Effects.Misdirected++
	return fmt.Sprintf("%s byte %d landed in %s byte %d", from.file, from.at, to.file, to.at)
}

// FlipRead makes the next read of the file of a proved byte return it with a wrong
// bit, until mend is called. hit is called when that happens. It tells which byte;
// empty if there is none that it may.
func (c *Cluster) FlipRead(id, h int, r *rand.Rand, hit func()) (mend func(), what string) {
	m := &c.machines[id]
	if !c.mayRot(m, h) {
		return nil, ""
	}
	x, ok := drawPlace(c.proved(m, h), r)
	if !ok {
		return nil, ""
	}
	rule := faultfs.New(faultfs.BitFlip)
	rule.Op, rule.Path, rule.Arg, rule.Bit = "read", x.file, int(x.at), r.IntN(8)
	if mend = c.Deceive(id, h, rule, hit); mend == nil {
		return nil, ""
	}
	return mend, fmt.Sprintf("%s byte %d", x.file, x.at)
}

// Deceive makes a machine's disk break calls without a word, by a rule that
// concerns no other partition, until mend is called. hit, if not nil, is called
// for each. nil: it may not.
func (c *Cluster) Deceive(id, h int, rule faultfs.Rule, hit func()) (mend func()) {
	m := &c.machines[id]
	if !c.mayRot(m, h) {
		return nil
	}
	m.of = op.Partition(h)
	m.doubts++
	drop := c.BreakDisk(id, rule, func() {
		m.rotten = true
		if hit != nil {
			hit()
		}
	})
	return func() {
		drop()
		m.doubts--
	}
}
