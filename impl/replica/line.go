package replica

import (
	"purgelab/impl/engine"
	"purgelab/impl/journal"
	"purgelab/impl/observe"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// A partition that began a new incarnation goes on from what one log of the one
// before held. Op numbers begin anew, but what was materialized stays, so the ops
// of all incarnations form one line:
//
//	incarnation 1     2 .. B1
//	incarnation 2                 2 .. B2                  its own numbers
//	line              2 .. B1, B1+1 .. B1+B2-1 ...
//
// Consensus and its journal count the ops of the present incarnation. Everything
// that is materialized counts along the line, so no number on an engine's disk is
// ever used twice, and a number of an older incarnation that was lost is one that
// nothing here has: the line up to where this incarnation began, the base, was
// copied as a whole from the machine that the metadata plane named.

// segment is the part of one incarnation in the base: up to Last, of which the
// machine that had it knew that everything up to Agreed was committed. Both count
// along the line.
type segment struct {
	_            struct{} `cbor:",toarray"`
	Incarnation  op.Incarnation
	Last, Agreed op.Number
}

// began is an incarnation that was not the first of its line, and the position in
// the one before up to which it knows that the two agree.
type began struct {
	_           struct{} `cbor:",toarray"`
	Incarnation op.Incarnation
	Agreed      op.Position
}

// line is where a replica is on it.
type line struct {
	segments []segment
	base     *journal.Journal // the ops of the segments; nil without
	shift    op.Number        // from a number of this incarnation to one of the line

	// As of the last op materialized.
	present op.Incarnation
	began   []began
	agreed  *op.Position // of the next that begins, once it is known
	said    bool         // that the present incarnation has begun
}

// baseLast is the last op of the base; 1 without one.
func (l *line) baseLast() op.Number { return 1 + l.shift }

// lives tells whether a position of an older incarnation still names what it named:
// every incarnation since began in its generation, which is still the present one,
// and agreed with the one before up to above its offset.
func (l *line) lives(p op.Position, f engine.Facts) bool {
	if p.Generation != f.Generation || p.Incarnation > l.present || p.Incarnation < l.first() {
		return false
	}
	for _, b := range l.began {
		if b.Incarnation > p.Incarnation && (b.Agreed.Generation != p.Generation || b.Agreed.Offset <= p.Offset) {
			return false
		}
	}
	return true
}

// first is the incarnation with which the line begins.
func (l *line) first() op.Incarnation {
	if len(l.segments) > 0 {
		return l.segments[0].Incarnation
	}
	return l.present
}

// passLine notes which incarnation it is now, after an op was materialized.
func (r *Replica) passLine() {
	l := r.line
	for k := len(l.began); k < len(l.segments); k++ {
		s, f := l.segments[k], r.eng.Facts()
		if l.agreed == nil && r.applied >= s.Agreed {
			l.agreed = &op.Position{Incarnation: s.Incarnation, Generation: f.Generation, Offset: f.End}
		}
		if r.applied < s.Last {
			return
		}
		next := r.cfg.Incarnation
		if k+1 < len(l.segments) {
			next = l.segments[k+1].Incarnation
		}
		l.began = append(l.began, began{Incarnation: next, Agreed: *l.agreed})
		l.present, l.agreed = next, nil
		if s.Last < l.baseLast() {
			r.emitBegan(&l.began[k])
		}
	}
}

// sayBegun tells that the present incarnation has begun, before op n: its first op is
// committed, so a majority has its base. Before that it may end without anybody having
// lived in it, and any other one that ended so with it.
func (r *Replica) sayBegun(n op.Number) {
	l := r.line
	if l.said || n <= l.baseLast() {
		return
	}
	l.said = true
	for k := range l.segments {
		if l.segments[k].Last == l.baseLast() {
			r.emitBegan(&l.began[k])
		}
	}
}

func (r *Replica) emitBegan(b *began) {
	kind := ""
	if b.Incarnation == r.cfg.Incarnation && r.cfg.Base.Forced {
		kind = "forced"
	}
	r.emit(observe.Event{Action: "NewIncarnation", Kind: kind, Op: r.applied, Count: int(b.Incarnation), Key: b.Agreed.String()})
}

// entries reads committed ops of the line, at least one.
func (r *Replica) entries(from, to op.Number) ([]raftlog.Entry, error) {
	l := r.line
	if last := l.baseLast(); from <= last && l.base != nil {
		return l.base.Entries(from, min(to, last+1), applyBytes)
	}
	es, err := r.jr.Entries(from-l.shift, to-l.shift, applyBytes)
	if l.shift > 0 {
		for i := range es {
			es[i].Op += l.shift
		}
	}
	return es, err
}

// lined is an engine whose facts are those of the incarnation that the line is in.
// On the disk everything is of the incarnation that the replica is of.
type lined struct {
	engine.Engine
	line  *line
	owner op.Incarnation
}

// Facts implements engine.Engine.
func (e *lined) Facts() engine.Facts {
	f := e.Engine.Facts()
	f.Incarnation = e.line.present
	return f
}

// Bookmark implements engine.Engine.
func (e *lined) Bookmark(k op.Key) (op.Position, bool) {
	p, ok := e.Engine.Bookmark(k)
	if ok {
		p.Incarnation = e.line.present
	}
	return p, ok
}

// Bookmarks implements engine.Engine.
func (e *lined) Bookmarks() []engine.BookmarkEntry {
	all := e.Engine.Bookmarks()
	for i := range all {
		all[i].Position.Incarnation = e.line.present
	}
	return all
}

// Apply implements engine.Engine.
func (e *lined) Apply(n op.Number, eff engine.Effect) error {
	if eff.Kind == engine.Store {
		eff.Position.Incarnation = e.owner
	}
	return e.Engine.Apply(n, eff)
}

// lives makes positions of older incarnations known to whoever decides.
func (e *lined) lives(p op.Position) bool { return e.line.lives(p, e.Facts()) }
