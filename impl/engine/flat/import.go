package flat

import (
	"fmt"
	"strings"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/durable"
	"purgelab/model/op"
)

// imported is a point on its way into a folder.
type imported struct {
	o     Options
	own   engine.Facts
	p     *engine.Point
	cp    checkpoint
	floor op.Number

	steps []func(*imported) error
}

// Importer writes a point into a folder:
//
//	messages, each file synced   package segment
//	bookmarks, one file a step   synced
//	their folders
//	checkpoint                   a record
//	purge.reset, purge.gen       records, if there was a purge
//
// The floor is the one that came with the state: what the replica that it is of does
// not execute is not executed here. The floor that the receiver had is not kept: its ops
// are not the ones that this state is made of.
func Importer(tagged bool) func(engine.ImportOptions, *engine.Point) engine.Import {
	return func(o engine.ImportOptions, p *engine.Point) engine.Import {
		m := &imported{o: Options{Options: o.Options, Tagged: tagged}, own: o.Own, p: p, floor: p.Boundary, cp: checkpoint{
			applied: p.Applied, start: p.Start, end: p.End, timestamp: p.Timestamp, marks: uint32(len(p.Bookmarks)), extra: p.Extra, previous: p.Previous,
		}}
		if o.Defects.Has(defect.BoundaryNotRebased) && o.Own.Boundary > 0 {
			m.floor = o.Own.Boundary
		}
		if o.Defects.Has(defect.StagedRenameWithoutSync) {
			m.o.FS = loose{o.FS}
		}
		return m
	}
}

// Begin implements engine.Import.
func (m *imported) Begin() error {
	o := &m.o
	for _, d := range []string{o.segments(), o.bookmarks(op.Consumer), o.bookmarks(op.Group)} {
		if err := durable.Mkdir(o.FS, "transfer.home", d); err != nil {
			return fmt.Errorf("flat: import: %w", err)
		}
	}
	nothing := func(string) bool { return false }
	messages := func(name string) bool { return strings.HasPrefix(name, "seg-") }
	records := func(name string) bool {
		return !strings.HasPrefix(name, "checkpoint") && !strings.HasPrefix(name, "purge.")
	}
	for _, c := range []struct {
		dir  string
		keep func(string) bool
	}{{o.Dir, records}, {o.segments(), messages}, {o.bookmarks(op.Consumer), nothing}, {o.bookmarks(op.Group), nothing}} {
		if err := engine.Clear(o.FS, "transfer.discard", c.dir, c.keep); err != nil {
			return fmt.Errorf("flat: import: %w", err)
		}
	}
	return nil
}

// Messages implements engine.Import.
func (m *imported) Messages() (*segment.Intake, error) {
	o := m.o.segmentOptions(m.cp)
	o.Defects = m.o.Defects
	return segment.NewIntake(o, m.p.Boundary, m.p.Pieces)
}

// Seal implements engine.Import.
func (m *imported) Seal() engine.Task {
	m.steps = nil
	for _, b := range m.p.Bookmarks {
		m.steps = append(m.steps, func(m *imported) error { return m.bookmark(b) })
	}
	for _, d := range []string{m.o.segments(), m.o.bookmarks(op.Consumer), m.o.bookmarks(op.Group)} {
		m.steps = append(m.steps, func(m *imported) error { return m.o.FS.SyncDir("transfer.names", d) })
	}
	m.steps = append(m.steps, func(m *imported) error { return m.o.write("transfer.checkpoint", m.o.checkpointFile(), m.cp.encode()) })
	if g := m.p.Generation; g > 0 {
		m.steps = append(m.steps,
			func(m *imported) error {
				return m.o.write("transfer.reset", m.o.resetFile(), reset{g, m.floor}.encode(m.p.Incarnation))
			},
			func(m *imported) error { return m.o.write("transfer.gen", m.o.genFile(), encodeGen(g)) })
	}
	return m
}

// Step implements engine.Task.
func (m *imported) Step() (done bool, did observe.Action, err error) {
	if err := m.steps[0](m); err != nil {
		return false, "", fmt.Errorf("flat: import of op %d: %w", m.p.Applied, err)
	}
	m.steps = m.steps[1:]
	return len(m.steps) == 0, "", nil
}

// bookmark writes the file of one bookmark.
func (m *imported) bookmark(b engine.BookmarkEntry) error {
	h, err := m.o.FS.Create("transfer.bookmark.create", m.o.bookmarkFile(b.Key))
	if err != nil {
		return err
	}
	defer h.Close()
	v := version{op: b.Op, set: true, at: b.Position}
	if _, err := h.WriteAt("transfer.bookmark.write", twice(encodeMark(&m.o, []version{v})), 0); err != nil {
		return err
	}
	if err := h.Sync("transfer.bookmark.sync"); err != nil {
		return fmt.Errorf("%w: %w", errFailed, err)
	}
	return nil
}

// loose is a disk whose folders are not synced. It exists for a defect.
type loose struct{ vfs.FS }

// SyncDir implements vfs.FS.
func (loose) SyncDir(vfs.Label, string) error { return nil }
