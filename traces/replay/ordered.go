package replay

import (
	"maps"
	"slices"
	"strconv"

	"purgelab/impl/vfs/crashfs"
	"purgelab/traces/behaviours"
)

// progress is how far the purge under way has come since the last boot.
type progress struct{ steps int }

func (p progress) begun() bool    { return p.steps >= 1 }
func (p progress) switched() bool { return p.steps >= 2 }

// takePowerLossOrdered keeps what the specification says is left.
func takePowerLossOrdered(d *driver, a *behaviours.Act) error {
	now, err := d.readTagged(d.stopped())
	if err != nil {
		return err
	}
	marker := differ("", now.marker, a.With["m"]) == nil // the one that the cache shows
	back := map[string]bool{}
	for _, g := range a.With["back"].([]any) {
		back["gen-"+strconv.Itoa(integer(g))] = true
	}
	keep := keeping{back: back, home: now.home}
	if f := now.folders[now.present]; f != nil {
		keep.leave(f, integer(a.With["s"]), integer(a.With["b"]))
	}
	on, err := d.onItsWay(a)
	if err != nil {
		return err
	}
	d.powerLoss(func(c crashfs.Change) bool {
		switch {
		case c.Path == now.home && c.To == "marker":
			return marker
		case c.Path == now.home && back[c.From]:
			return false
		}
		return keep.change(c) && on(c)
	})
	return nil
}

// keeping says what is left of the files of a folder: the first entries of each.
type keeping struct {
	home string // where the folder lies
	back map[string]bool
	ends map[string]int64 // of a file of entries: what is left ends here
}

// leave keeps the first s batches and the first b bookmarks.
func (k *keeping) leave(f *folder, s, b int) {
	k.ends = map[string]int64{}
	for i, x := range f.segs {
		if _, ok := k.ends[x.file]; !ok || i < s {
			k.ends[x.file] = 0
		}
		if i < s {
			k.ends[x.file] = x.end
		}
	}
	for i, x := range f.bms {
		if _, ok := k.ends[x.file]; !ok {
			k.ends[x.file] = 0
		}
		if i < b {
			k.ends[x.file] = x.end
		}
	}
}

// change decides about one change: bytes of entries that are left, everything that no
// entry is made of, and the names of files that have some left.
func (k *keeping) change(c crashfs.Change) bool {
	for g := range k.back { //purgelab:unordered whether any is
		if c.Path == k.home+"/"+g && c.From != "" {
			return false // removed from a folder that is there again
		}
	}
	if c.Names() {
		end, entries := k.ends[c.Path+"/"+c.To]
		return !entries || end > 0
	}
	end, entries := k.ends[c.Path]
	return !entries || c.End <= end
}

// wantOrdered is a state of Ordered as an implementation can show it: folders that were
// removed are not there, how much is stable is told of the folder that a boot will open,
// a bookmark that was deleted does not tell by which op, and a replica serves as soon as
// it may.
func wantOrdered(s map[string]any) map[string]any {
	disk := s["disk"].(map[string]any)
	gone := map[string]bool{}
	for _, g := range disk["gone"].([]any) {
		gone[strconv.Itoa(integer(g))] = true
	}
	dirs, present := map[string]any{}, openedAtBoot(disk)
	for g, f := range foldersOf(disk) { //purgelab:unordered each goes under its own key
		if !gone[g] {
			dirs[g] = seen(f.(map[string]any), g == present)
		}
	}
	out := map[string]any{
		"disk": map[string]any{"marker": disk["marker"], "stable": disk["stable"], "dirs": dirs, "undoable": s["undoable"]},
	}
	wantMemory(out, s, frontOrdered(disk))
	if s["stage"] != nil {
		wantStaged(out, s)
	}
	return out
}

// wantMemory adds what the replica has in memory.
func wantMemory(out, s map[string]any, front int) {
	up, mem := s["up"], s["mem"].(map[string]any)
	if up == "replay" && integer(mem["applied"]) >= front {
		up = "serve"
	}
	out["up"] = up
	if up == "down" {
		return
	}
	bm := map[string]any{}
	if keys, ok := mem["bm"].(map[string]any); ok { // without keys it is a sequence
		for k, v := range keys { //purgelab:unordered each goes under its own key
			if m := v.(map[string]any); integer(m["o"]) >= 0 {
				bm[k] = m
			}
		}
	}
	shown := maps.Clone(mem)
	shown["bm"] = bm
	out["mem"], out["log"] = shown, float64(len(s["log"].([]any)))
}

// foldersOf are the folders of a disk by generation. A function whose domain begins with 1
// is a sequence.
func foldersOf(disk map[string]any) map[string]any {
	list, ok := disk["dirs"].([]any)
	if !ok {
		return disk["dirs"].(map[string]any)
	}
	out := map[string]any{}
	for i, f := range list {
		out[strconv.Itoa(i+1)] = f
	}
	return out
}

// seen is a folder, how much of it is stable left out of one that is not in use.
func seen(f map[string]any, used bool) map[string]any {
	if used {
		return f
	}
	f = maps.Clone(f)
	delete(f, "segsSynced")
	delete(f, "bmsSynced")
	return f
}

// openedAtBoot is OpenedAtBoot(disk).
func openedAtBoot(disk map[string]any) string {
	marker := disk["marker"].(map[string]any)
	g := 0
	switch marker["st"] {
	case "complete":
		g = integer(marker["g"])
	case "begun":
		gone := disk["gone"].([]any)
		for name := range foldersOf(disk) { //purgelab:unordered a maximum
			if h, _ := strconv.Atoi(name); h < integer(marker["g"]) && !slices.Contains(gone, any(float64(h))) {
				g = max(g, h)
			}
		}
	}
	return strconv.Itoa(g)
}

// frontOrdered is Front(disk).
func frontOrdered(disk map[string]any) int {
	f, ok := foldersOf(disk)[openedAtBoot(disk)].(map[string]any)
	if !ok { // a defect: the marker names a folder that is not there
		return integer(disk["marker"].(map[string]any)["p"])
	}
	return max(integer(f["ckpt"].(map[string]any)["applied"]), integer(disk["marker"].(map[string]any)["p"]), lastOp(f["segs"]), lastOp(f["bms"]))
}

func lastOp(entries any) int {
	s := entries.([]any)
	if len(s) == 0 {
		return 0
	}
	return integer(s[len(s)-1].(map[string]any)["op"])
}
