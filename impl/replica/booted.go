package replica

import "purgelab/impl/observe"

// booted reports what the boot found, and the steps of a purge that it finished.
func (r *Replica) booted() {
	if r.cfg.Sink == nil {
		return
	}
	f, found := r.eng.Facts(), r.rep.Engine
	e := observe.Event{Action: "Boot", Kind: found.Marker.State.String(), Op: f.Boundary, Count: len(r.eng.Bookmarks()), Front: f.Front}
	if f.Pending != nil {
		e.Op = f.Pending.Boundary
	}
	switch r.cfg.Design {
	case Advance:
		e.Offset = found.Segments.Lowest
	case ResetRecord:
		e.Last, e.Resetting = r.jr.Last(), f.Resetting
	}
	r.emit(e)
	for _, did := range found.Did {
		r.emit(observe.Event{Action: did, Op: f.Boundary})
	}
}
