package replay

import (
	"purgelab/impl/engine"
	"purgelab/impl/replica"
)

// state is what replica and disk show, in the form of Design.want.
func (d *driver) state(t *Design) (map[string]any, error) {
	disk, err := t.disk(d)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"disk": disk, "up": "down"}
	if d.coming.shown {
		if err := d.staged(out); err != nil {
			return nil, err
		}
	}
	if d.r == nil {
		return out, nil
	}
	v := d.r.View()
	out["up"] = "replay"
	if v.Serving {
		out["up"] = "serve"
	}
	out["log"] = number(uint64(v.Last)) - float64(d.cut)
	mem := memory(&v.Facts, d.r.Bookmarks(), 1)
	if d.design == replica.ResetRecord && resets(disk["ckpt"], disk["reset"]) {
		delete(mem, "bm")
	}
	out["mem"] = mem
	return out, nil
}

// memory is the variable mem, with so many ops before the specification's first.
func memory(f *engine.Facts, bookmarks []engine.BookmarkEntry, before uint64) map[string]any {
	bm := map[string]any{}
	for _, b := range bookmarks {
		bm[keyName(b.Key)] = map[string]any{"op": counted(uint64(b.Op), before), "o": float64(b.Position.Offset)}
	}
	return map[string]any{
		"applied": counted(uint64(f.Applied), before), "gen": float64(f.Generation), "boundary": counted(uint64(f.Boundary), before),
		"start": float64(f.Start), "end": float64(f.End), "settled": float64(f.Settled), "bm": bm,
	}
}

// follow notes how far the purge under way has come.
func (d *driver) follow() {
	if d.r == nil {
		d.purged = progress{}
		return
	}
	for _, e := range d.events {
		switch e.Action {
		case "PurgeBegin":
			d.purged.steps = 1
		case "PurgeSwitch":
			d.purged.steps = 2
		case "PurgeComplete":
			d.purged.steps = 0
		}
	}
	d.events = d.events[:0]
}
