package replay

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

func takeReclaimSegment(d *driver, _ *behaviours.Act) error {
	return d.until(replica.Remove, "Reclaim")
}

func takeListOffsets(d *driver, a *behaviours.Act) error {
	for which, field := range []string{"start", "end"} {
		reply, err := d.read(&op.Request{Kind: op.ListOffsets, Which: op.Which(which)})
		if err != nil {
			return err
		}
		if a.State == nil { // nobody says what is answered
			continue
		}
		if diff := differ(field, a.With[field], any(float64(reply.Position.Offset))); diff != nil {
			return diff
		}
	}
	return nil
}

// takePowerLossAdvance keeps what the specification says is left. It counts batches that
// are removed, too.
func takePowerLossAdvance(d *driver, a *behaviours.Act) error {
	now, err := d.readTagged(d.stopped())
	if err != nil {
		return err
	}
	f := now.folders[0]
	left := map[string]bool{} // ops of batches that are left or come back
	segs := d.was["disk"].(map[string]any)["segs"].([]any)
	for _, e := range segs[:integer(a.With["s"])] {
		left[fmt.Sprint(integer(e.(map[string]any)["op"]))] = true
	}
	s := 0
	for _, x := range f.segs {
		if left[fmt.Sprint(x.op)] {
			s++
		}
	}
	back := map[string]bool{}
	for _, e := range segs {
		x := e.(map[string]any)
		for _, n := range a.With["back"].([]any) {
			if x["op"] == n {
				back[fmt.Sprintf("seg-%020d.log", integer(x["base"]))] = true
			}
		}
	}
	on, err := d.onItsWay(a)
	if err != nil {
		return err
	}
	keep := keeping{home: now.home}
	keep.leave(f, s, integer(a.With["b"]))
	d.powerLoss(func(c crashfs.Change) bool {
		if c.From != "" && strings.HasPrefix(c.From, "seg-") {
			return !back[c.From]
		}
		return keep.change(c) && on(c)
	})
	return nil
}

// wantAdvance is a state of Advance as an implementation can show it: of batches those
// that are there, and the ops of those that a power loss leaves at least.
func wantAdvance(s map[string]any) map[string]any {
	disk := s["disk"].(map[string]any)
	gone, undoable := disk["gone"].([]any), s["undoable"].([]any)
	there, stable := []any{}, []any{}
	all := disk["segs"].([]any)
	for i, e := range all {
		n := e.(map[string]any)["op"]
		removed := slices.Contains(gone, n)
		if !removed {
			there = append(there, e)
		}
		if i < integer(disk["synced"]) && (!removed || slices.Contains(undoable, n)) {
			stable = append(stable, n)
		}
	}
	out := map[string]any{"disk": map[string]any{
		"ckpt": disk["ckpt"], "segs": there, "stable": stable, "bms": disk["bms"], "bmsSynced": disk["bmsSynced"],
	}}
	front := max(integer(disk["ckpt"].(map[string]any)["applied"]), lastOp(all), lastOp(disk["bms"]))
	wantMemory(out, s, front)
	if mem, ok := out["mem"].(map[string]any); ok {
		mem["boundary"] = 0.0 // the specification gives it no meaning
	}
	if s["stage"] != nil {
		wantStaged(out, s)
	}
	return out
}

// advanceDisk is the variable disk of Advance in that form.
func (d *driver) advanceDisk() (map[string]any, error) {
	now, err := d.readTagged(d.stopped())
	if err != nil {
		return nil, err
	}
	least := d.stopped().Clone()
	least.PowerLossAs(nil)
	kept, err := d.readTagged(least)
	if err != nil {
		return nil, err
	}
	f := now.folders[0]
	segs, bms := f.entries()
	stable := []any{}
	for _, x := range kept.folders[0].segs {
		stable = append(stable, float64(x.op))
	}
	ckpt := map[string]any{"applied": f.ckpt["applied"], "start": f.ckpt["start"], "end": f.ckpt["end"]}
	return map[string]any{
		"ckpt": ckpt, "segs": segs, "stable": stable, "bms": bms, "bmsSynced": float64(len(kept.folders[0].bms)),
	}, nil
}
