package replay

import (
	"encoding/binary"
	"slices"
	"strings"

	"purgelab/impl/framed"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
)

// This file reads what a disk holds in the layout of package engine/flat, by the formats
// that it documents and without its code.

const markSize = 32 // of a version, and of what comes before the first one

func segmentsIn(home string) string  { return home + "/segments" }
func bookmarksIn(home string) string { return home + "/bookmarks/consumer" }

// flatLayout is what one image of a disk shows.
type flatLayout struct {
	home  string // where it lies
	ckpt  map[string]any
	reset map[string]any
	done  float64
	segs  []batch
	marks map[string][]mark // by key: versions, the oldest first
}

func (p place) readFlat(disk *crashfs.Disk) (*flatLayout, error) {
	fs := disk.FS()
	home, err := p.homeOn(fs)
	if err != nil {
		return nil, err
	}
	f := &flatLayout{
		home: home, ckpt: map[string]any{"applied": 0.0, "start": 0.0, "end": 0.0, "resetting": 0.0}, reset: map[string]any{"g": 0.0, "floor": 0.0},
		marks: map[string][]mark{},
	}
	b, err := p.readRecord(fs, home+"/checkpoint")
	if err != nil {
		return nil, err
	}
	if b != nil {
		f.ckpt = map[string]any{
			"applied": number(binary.LittleEndian.Uint64(b)), "start": float64(binary.LittleEndian.Uint64(b[8:])),
			"end": float64(binary.LittleEndian.Uint64(b[16:])), "resetting": float64(binary.LittleEndian.Uint32(b[56:])),
		}
	}
	if b, err = p.readRecord(fs, home+"/purge.reset"); err != nil {
		return nil, err
	}
	if b != nil {
		f.reset = map[string]any{"g": float64(binary.LittleEndian.Uint32(b)), "floor": number(binary.LittleEndian.Uint64(b[8:]))}
	}
	if b, err = p.readRecord(fs, home+"/purge.gen"); err != nil {
		return nil, err
	}
	if b != nil {
		f.done = float64(binary.LittleEndian.Uint32(b))
	}
	segs, err := readSegments(fs, segmentsIn(home))
	if err != nil {
		return nil, err
	}
	f.segs = segs.segs
	for _, name := range list(fs, bookmarksIn(home)) {
		if f.marks["k"+name], err = readVersions(fs, bookmarksIn(home)+"/"+name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// readSegments takes the whole batches of a folder of segments.
func readSegments(fs vfs.FS, path string) (*folder, error) {
	f := &folder{}
	for _, name := range list(fs, path) {
		if err := f.readBatches(fs, path+"/"+name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// readRecord is the value of a record, nil if there is none.
func (p place) readRecord(fs vfs.FS, name string) ([]byte, error) {
	b, answer, err := record.Read(fs, name, p.identity)
	if answer == record.Absent {
		return nil, nil
	}
	return b, err
}

// list is the names in a folder; before the first boot there is none.
func list(fs vfs.FS, path string) []string {
	names, err := fs.List(path)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, "/") })
}

// readVersions reads the file of a bookmark.
func readVersions(fs vfs.FS, name string) ([]mark, error) {
	h, b, err := framed.ReadFile(fs, name)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	var out []mark
	if len(b) < markSize {
		return nil, nil
	}
	for i := range int(binary.LittleEndian.Uint32(b[24:])) {
		x := b[markSize*(i+1):]
		m := mark{op: int(number(binary.LittleEndian.Uint64(x))), offset: int(int64(binary.LittleEndian.Uint64(x[24:])))}
		if binary.LittleEndian.Uint32(x[8:]) != 1 {
			m.offset = -1
		}
		out = append(out, m)
	}
	return out, nil
}

// resetDisk is the variable disk of ResetRecord as wantReset has it.
func (d *driver) resetDisk() (map[string]any, error) {
	now, err := d.readFlat(d.stopped())
	if err != nil {
		return nil, err
	}
	least := d.stopped().Clone()
	least.PowerLossAs(nil)
	stable, err := d.readFlat(least)
	if err != nil {
		return nil, err
	}
	segs, _ := (&folder{segs: now.segs}).entries()
	files := map[string]any{}
	for k, vs := range now.marks { //purgelab:unordered each goes under its own key
		if len(vs) == 0 {
			continue
		}
		files[k] = map[string]any{
			"now": version(vs, 1<<30), "then": version(vs, integer(now.ckpt["applied"])), "stable": version(stable.marks[k], 1<<30),
		}
		if resets(now.ckpt, now.reset) || integer(now.reset["g"]) > integer(now.done) {
			delete(files[k].(map[string]any), "then")
		}
	}
	return map[string]any{
		"ckpt": now.ckpt, "reset": now.reset, "done": now.done, "segs": segs, "segsSynced": float64(min(len(stable.segs), len(now.segs))), "files": files,
	}, nil
}

// version is the newest one up to an op.
func version(list []mark, n int) any {
	for i := len(list) - 1; i >= 0; i-- {
		if m := list[i]; m.op <= n {
			return map[string]any{"op": float64(m.op), "o": float64(m.offset)}
		}
	}
	return none
}

// wantReset is a state of ResetRecord as an implementation can show it. A file of a
// bookmark holds the versions that may be needed; what is compared is the newest, the
// one as of the checkpoint, and the newest that is stable.
func wantReset(s map[string]any) map[string]any {
	disk := s["disk"].(map[string]any)
	ckpt := disk["ckpt"].(map[string]any)
	front := max(integer(s["found"]), integer(ckpt["applied"]), lastOp(entriesOf(disk["segs"])))
	files := map[string]any{}
	for k, f := range disk["files"].(map[string]any) { //purgelab:unordered each goes under its own key
		es := entriesOf(f)
		if len(es) == 0 {
			continue
		}
		front = max(front, lastOp(es))
		files[k] = map[string]any{
			"now": entry(es, 1<<30), "then": entry(es, integer(ckpt["applied"])), "stable": entry(es[:integer(f.(map[string]any)["synced"])], 1<<30),
		}
		if resets(ckpt, disk["reset"]) || integer(disk["reset"].(map[string]any)["g"]) > integer(disk["done"]) {
			delete(files[k].(map[string]any), "then")
		}
	}
	out := map[string]any{"disk": map[string]any{
		"ckpt": ckpt, "reset": disk["reset"], "done": disk["done"],
		"segs": disk["segs"].(map[string]any)["es"], "segsSynced": disk["segs"].(map[string]any)["synced"], "files": files,
	}}
	if s["stage"] != nil {
		wantStaged(out, s)
	}
	if s["finishing"] == true {
		out["up"] = "down" // the boot is not over
		return out
	}
	mem := s["mem"].(map[string]any)
	reset := disk["reset"].(map[string]any)
	step := s["work"].(map[string]any)["step"]
	if s["up"] == "replay" && (integer(mem["gen"]) > integer(mem["settled"]) || step != "none" || integer(ckpt["resetting"]) > integer(reset["g"])) {
		front = 1 << 30 // a purge comes first
	}
	wantMemory(out, s, front)
	if m, ok := out["mem"].(map[string]any); ok {
		delete(m, "orphan")
		if resets(ckpt, reset) {
			delete(m, "bm")
		}
	}
	return out
}

// resets tells whether a reset was begun and is not recorded. Then the checkpoint says
// nothing of bookmarks: whatever there is, nothing is served before they are gone.
func resets(ckpt, reset any) bool {
	return integer(ckpt.(map[string]any)["resetting"]) > integer(reset.(map[string]any)["g"])
}

// entry is the newest entry of a file up to an op.
func entry(es []any, n int) any {
	for i := len(es) - 1; i >= 0; i-- {
		if e := es[i].(map[string]any); integer(e["op"]) <= n {
			return map[string]any{"op": e["op"], "o": e["o"]}
		}
	}
	return none
}
