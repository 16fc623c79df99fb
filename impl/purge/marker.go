// Package purge holds the one durable fact of a purge, and the folder of a
// generation: what a replica must find after a crash to know which history is
// the present one.
//
// A purge at op P that begins generation G takes three durable steps:
//
//	PurgeBegin     marker := begun(G, P)      the decision; P is committed, so it
//	                                          will be finished whatever happens
//	PurgeSwitch    folder gen-G, empty, with its checkpoint at P
//	PurgeComplete  marker := complete(G, P)   the switch; only now may folders of
//	                                          other generations be removed
//
// A boot that finds begun opens the generation before, replays up to P and does
// the steps again; one that finds complete opens gen-G, where no op up to P is
// ever materialized. A purge is therefore one record write to whoever looks; the
// removal of what it purged may fail, be late, or be undone by a power loss.
//
// The marker is a record (package record) of this value, little endian:
//
//	+0   state       u8    1 begun, 2 complete
//	+1   zero        u8 × 3
//	+4   generation  u32   G
//	+8   before      u32   the generation that G follows on this replica
//	+12  incarnation u32   of the boundary
//	+16  boundary    u64   P
package purge

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purgelab/impl/corrupt"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// State says how far a purge has come.
type State uint8

const (
	// None: no purge was ever begun here.
	None State = iota
	// Begun: decided, to be finished.
	Begun
	// Complete: the generation is the present one.
	Complete
)

var stateNames = [...]string{"none", "begun", "complete"}

func (s State) String() string { return stateNames[s] }

// Marker is the durable fact.
type Marker struct {
	State       State
	Generation  op.Generation
	Before      op.Generation
	Incarnation op.Incarnation
	Boundary    op.Number
}

// String prints a marker as begun(g3, i1:op 17, after g2).
func (m Marker) String() string {
	return fmt.Sprintf("%s(g%d, i%d:op %d, after g%d)", m.State, m.Generation, m.Incarnation, m.Boundary, m.Before)
}

const markerBytes = 24

// Encode returns the value of the record.
func (m Marker) Encode() []byte {
	b := []byte{byte(m.State), 0, 0, 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Generation))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Before))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Incarnation))
	return binary.LittleEndian.AppendUint64(b, uint64(m.Boundary))
}

// File is where the marker of a partition in dir lies.
func File(dir string) string { return dir + "/marker" }

// Read returns the marker of the partition in dir; its state is None when there
// is none. A marker of another replica or incarnation, a damaged one, and one
// that cannot be read are errors: nobody guesses which history is the present.
func Read(fs vfs.FS, dir string, id record.Identity) (Marker, error) {
	b, a, err := record.Read(fs, File(dir), id)
	if a == record.Absent {
		return Marker{}, nil
	}
	if err != nil {
		return Marker{}, fmt.Errorf("purge: marker: %w", err)
	}
	if len(b) != markerBytes {
		return Marker{}, &corrupt.Error{File: File(dir), What: "marker bytes", Want: markerBytes, Got: len(b)}
	}
	m := Marker{
		State:       State(b[0]),
		Generation:  op.Generation(binary.LittleEndian.Uint32(b[4:])),
		Before:      op.Generation(binary.LittleEndian.Uint32(b[8:])),
		Incarnation: op.Incarnation(binary.LittleEndian.Uint32(b[12:])),
		Boundary:    op.Number(binary.LittleEndian.Uint64(b[16:])),
	}
	switch {
	case m.State != Begun && m.State != Complete:
		return Marker{}, &corrupt.Error{File: File(dir), What: "marker state", Want: "1 or 2", Got: b[0]}
	case m.Incarnation != id.Incarnation:
		return Marker{}, &corrupt.Error{File: File(dir), Offset: 12, What: "incarnation of the boundary", Want: id.Incarnation, Got: m.Incarnation}
	}
	return m, nil
}

// Write makes a marker durable.
func Write(fs vfs.FS, dir string, id record.Identity, m Marker) error {
	return record.Write(fs, label(m), File(dir), id, m.Encode())
}

// WriteLoose is Write without the sync of the directory: a power loss may bring
// the marker before it back. It exists for the defect of that name.
func WriteLoose(fs vfs.FS, dir string, id record.Identity, m Marker) error {
	return record.Replace(fs, label(m), File(dir), id, m.Encode())
}

func label(m Marker) vfs.Label {
	if m.State == Begun {
		return "purge.begin"
	}
	return "purge.complete"
}

// Folder is where a generation of the partition in dir lies.
func Folder(dir string, g op.Generation) string {
	return dir + "/gen-" + strconv.FormatUint(uint64(g), 10)
}

// Folders lists the generations that have a folder, in ascending order.
func Folders(fs vfs.FS, dir string) ([]op.Generation, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	var out []op.Generation
	for _, name := range names {
		digits, dir := strings.CutSuffix(name, "/")
		digits, gen := strings.CutPrefix(digits, "gen-")
		g, err := strconv.ParseUint(digits, 10, 32)
		if !dir || !gen || err != nil || strconv.FormatUint(g, 10) != digits {
			continue
		}
		out = append(out, op.Generation(g))
	}
	slices.Sort(out)
	return out, nil
}

// MakeFolder makes the folder of generation g, durably empty: what an earlier
// attempt left in it is removed first.
func MakeFolder(fs vfs.FS, dir string, g op.Generation) error {
	folder := Folder(dir, g)
	if err := fs.Mkdir("purge.switch.mkdir", folder); err != nil {
		return fmt.Errorf("purge: switch to g%d: %w", g, err)
	}
	names, err := fs.List(folder)
	if err != nil {
		return fmt.Errorf("purge: switch to g%d: %w", g, err)
	}
	for _, name := range names {
		if err := fs.Remove("purge.switch.clear", folder+"/"+name); err != nil {
			return fmt.Errorf("purge: switch to g%d: %w", g, err)
		}
	}
	if err := fs.SyncDir("purge.switch.clear-sync", folder); err != nil {
		return fmt.Errorf("purge: switch to g%d: %w", g, err)
	}
	if err := fs.SyncDir("purge.switch.dirsync", dir); err != nil {
		return fmt.Errorf("purge: switch to g%d: %w", g, err)
	}
	return nil
}

// RemoveSome removes one file of the folder of generation g, or the folder once
// it is empty; gone tells the latter.
func RemoveSome(fs vfs.FS, dir string, g op.Generation) (gone bool, err error) {
	folder := Folder(dir, g)
	names, err := fs.List(folder)
	if err != nil {
		return false, fmt.Errorf("purge: reclaim g%d: %w", g, err)
	}
	if len(names) > 0 {
		err = fs.Remove("purge.reclaim.file", folder+"/"+names[0])
	} else {
		err = fs.Remove("purge.reclaim.folder", folder)
	}
	if err != nil {
		return false, fmt.Errorf("purge: reclaim g%d: %w", g, err)
	}
	return len(names) == 0, nil
}
