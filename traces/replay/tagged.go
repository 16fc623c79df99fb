package replay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"purgelab/impl/framed"
	"purgelab/impl/purge"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// This file reads what a disk holds in the layout of package engine/tagged, by the
// formats that the packages of the implementation document and without their code: as
// the specification's variable disk has it. Ops are counted without the bootstrap.

// folder is one generation on the disk.
type folder struct {
	ckpt map[string]any
	segs []batch
	bms  []mark
}

type batch struct {
	op, base, n int
	file        string // and where in it the batch ends
	end         int64
}

type mark struct {
	op, offset int
	key        string
	file       string
	end        int64
}

// layout is what one image of a disk shows.
type layout struct {
	home    string // where it lies
	marker  map[string]any
	present int // the generation that a boot opens
	folders map[int]*folder
}

// number is an op number as the specification has it: without the bootstrap, 0 is none.
func number(n uint64) float64 { return counted(n, 1) }

// counted is one with so many ops before the specification's first.
func counted(n, before uint64) float64 { return float64(max(n, before) - before) }

// readTagged reads an image.
func (p place) readTagged(disk *crashfs.Disk) (*layout, error) {
	fs := disk.FS()
	home, err := p.homeOn(fs)
	if err != nil {
		return nil, err
	}
	t := &layout{home: home, marker: map[string]any{"st": "none", "g": 0.0, "p": 0.0}, folders: map[int]*folder{}}
	m, err := purge.Read(fs, home, p.identity)
	if err != nil {
		return nil, err
	}
	if m.State != purge.None {
		t.marker = map[string]any{"st": m.State.String(), "g": float64(m.Generation), "p": number(uint64(m.Boundary))}
		if t.present = int(m.Generation); m.State == purge.Begun {
			t.present = int(m.Before)
		}
	}
	names, err := fs.List(home)
	if err != nil {
		return nil, err
	}
	if m.State == purge.None {
		t.folders[0] = &folder{ckpt: checkpoint(make([]byte, 64))} // as good as there before the first boot
	}
	for _, name := range names {
		g, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, "gen-"), "/"))
		if err != nil || !strings.HasPrefix(name, "gen-") {
			continue
		}
		if t.folders[g], err = p.readFolder(fs, home+"/gen-"+strconv.Itoa(g)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (p place) readFolder(fs vfs.FS, path string) (*folder, error) {
	f := &folder{ckpt: checkpoint(make([]byte, 64))}
	b, answer, err := record.Read(fs, path+"/checkpoint", p.identity)
	switch answer {
	case record.Value:
		f.ckpt = checkpoint(b)
	case record.Absent:
	default:
		return nil, err
	}
	names, err := fs.List(path)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		name = path + "/" + name
		switch base := name[len(path)+1:]; {
		case strings.HasPrefix(base, "seg-"):
			err = f.readBatches(fs, name)
		case strings.HasPrefix(base, "bookmarks-"):
			err = f.readMarks(fs, name)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// checkpoint decodes the record of a generation.
func checkpoint(b []byte) map[string]any {
	return map[string]any{
		"settled":  float64(binary.LittleEndian.Uint32(b[4:])),
		"boundary": number(binary.LittleEndian.Uint64(b[8:])),
		"applied":  number(binary.LittleEndian.Uint64(b[16:])),
		"start":    float64(int64(binary.LittleEndian.Uint64(b[24:]))),
		"end":      float64(int64(binary.LittleEndian.Uint64(b[32:]))),
	}
}

const (
	batchMagic, batchHeader = "PLBT", 40
	markHeader, markFrame   = 36, 44
)

// readBatches takes the whole batches of a segment file.
func (f *folder) readBatches(fs vfs.FS, name string) error {
	h, b, err := framed.ReadFile(fs, name)
	if err != nil {
		return err
	}
	defer h.Close()
	first := bytes.Index(b, []byte(batchMagic))
	for at := first; first >= 0 && at+batchHeader <= len(b); {
		length := int(binary.LittleEndian.Uint32(b[at+4:]))
		n := int(binary.LittleEndian.Uint32(b[at+12:]))
		end := at + batchHeader + length
		if n == 0 || end > len(b) {
			return fmt.Errorf("%s: byte %d: a batch of %d messages and %d bytes: want it whole", name, at, n, length)
		}
		f.segs = append(f.segs, batch{
			op: int(number(binary.LittleEndian.Uint64(b[at+16:]))), base: int(binary.LittleEndian.Uint64(b[at+24:])), n: n,
			file: name, end: int64(end),
		})
		at = end
	}
	return nil
}

// readMarks takes the whole frames of a log of bookmarks.
func (f *folder) readMarks(fs vfs.FS, name string) error {
	h, b, err := framed.ReadFile(fs, name)
	if err != nil {
		return err
	}
	defer h.Close()
	for at := markHeader; at+markFrame <= len(b); at += markFrame {
		m := mark{
			op: int(number(binary.LittleEndian.Uint64(b[at+16:]))), offset: int(int64(binary.LittleEndian.Uint64(b[at+32:]))),
			key:  keyName(op.Key{Kind: op.ConsumerKind(b[at+5]), ID: binary.LittleEndian.Uint32(b[at+8:])}),
			file: name, end: int64(at + markFrame),
		}
		if b[at+4]&1 != 0 {
			m.offset = -1
		}
		f.bms = append(f.bms, m)
	}
	return nil
}

// entries are batches and marks as the specification has them.
func (f *folder) entries() (segs, bms []any) {
	segs, bms = []any{}, []any{}
	for _, x := range f.segs {
		segs = append(segs, map[string]any{"op": float64(x.op), "base": float64(x.base), "n": float64(x.n)})
	}
	for _, x := range f.bms {
		bms = append(bms, map[string]any{"op": float64(x.op), "key": x.key, "o": float64(x.offset)})
	}
	return segs, bms
}

// orderedDisk is the variable disk of Ordered: what the cache shows, and of it what a power
// loss cannot undo. A removal that is not stable shows as a folder that is only in the
// stable image.
func (d *driver) orderedDisk() (map[string]any, error) {
	now, err := d.readTagged(d.stopped())
	if err != nil {
		return nil, err
	}
	least := d.stopped().Clone()
	least.PowerLossAs(nil)
	stable, err := d.readTagged(least)
	if err != nil {
		return nil, err
	}
	dirs, undoable := map[string]any{}, []any{}
	for g, f := range now.folders { //purgelab:unordered each goes under its own key
		segs, bms := f.entries()
		kept := stable.folders[g]
		if kept == nil {
			kept = &folder{}
		}
		dirs[strconv.Itoa(g)] = seen(map[string]any{
			"ckpt": f.ckpt, "segs": segs, "segsSynced": float64(len(kept.segs)), "bms": bms, "bmsSynced": float64(len(kept.bms)),
		}, g == now.present)
	}
	for g := range 10 {
		if _, ok := now.folders[g]; !ok && stable.folders[g] != nil {
			undoable = append(undoable, float64(g))
		}
	}
	return map[string]any{"marker": now.marker, "stable": stable.marker, "dirs": dirs, "undoable": undoable}, nil
}
