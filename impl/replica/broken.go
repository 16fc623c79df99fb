package replica

import (
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/model/op"
)

// breakRule leaves out of what was decided about a mutation the rules that a
// defect says.
func (r *Replica) breakRule(req *op.Request, reply *op.Reply, eff *engine.Effect) {
	d := r.cfg.Defects
	switch {
	case d.Has(defect.BookmarkUnbounded) && reply.Code == op.InvalidOffset:
		*reply, *eff = op.Reply{}, engine.Effect{Kind: engine.Store, Key: req.Key, Position: position(r.eng.Facts(), req.At.Offset)}
	case d.Has(defect.StartNotStored) && eff.Kind == engine.Advance:
		*eff = engine.Effect{}
	}
}
