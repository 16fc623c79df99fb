package replica

import (
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/model/op"
)

// breakRule leaves out of what was decided about a mutation the rules that a
// defect says.
func (r *Replica) breakRule(c *command, reply *op.Reply, eff *engine.Effect) {
	d := r.cfg.Defects
	req, replayed := &c.Request, c.Origin != r.origin
	switch {
	case d.Has(defect.BookmarkUnbounded) && reply.Code == op.InvalidOffset:
		*reply, *eff = op.Reply{}, engine.Effect{Kind: engine.Store, Key: req.Key, Position: position(r.eng.Facts(), req.At.Offset)}
	case d.Has(defect.StartNotStored) && eff.Kind == engine.Advance,
		d.Has(defect.StartNotReplayed) && eff.Kind == engine.Advance && replayed,
		d.Has(defect.DeletionNotReplayed) && eff.Kind == engine.Delete && replayed:
		*eff = engine.Effect{}
	}
}

// executesAgain: a defect lets a repeat of a session's last request through.
func (r *Replica) executesAgain(s *session, req *op.Request) bool {
	return r.cfg.Defects.Has(defect.RepeatExecuted) && s != nil && req.Sequence == s.Sequence
}

// movesBelowStart: a defect reads from the start what asks for less.
func (r *Replica) movesBelowStart(req *op.Request, refusal *op.Reply) bool {
	return r.cfg.Defects.Has(defect.ReadMoved) && req.Strategy == op.AtOffset &&
		refusal.Code == op.OffsetOutOfRange && req.At.Offset < refusal.Start
}

// forgetIntents: a defect makes a new leader wait for what is intended from now on.
func (r *Replica) forgetIntents() {
	if r.cfg.Defects.Has(defect.IntentForgotten) {
		r.intents = nil
	}
}

// belowOldBoundary: a defect compares the number that an op has in this incarnation
// with the boundary of a purge of an older one.
func (r *Replica) belowOldBoundary(n op.Number) bool {
	b := r.eng.Facts().Boundary
	return r.cfg.Defects.Has(defect.BoundaryOutlives) && n > r.line.baseLast() && b <= r.line.baseLast() && n-r.line.shift <= b
}
