package tagged

import (
	"fmt"
	"strings"

	"purgelab/impl/bookmark"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/purge"
	"purgelab/impl/record"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/durable"
)

// imported is a point on its way into a folder.
type imported struct {
	o  engine.ImportOptions
	p  *engine.Point
	cp checkpoint

	next func(*imported) (bool, error)
}

// Import writes point p into the folder o.Dir:
//
//	messages, each file synced     package segment
//	bookmarks                      one table, synced
//	names of both                  the folder of the generation
//	checkpoint                     a record
//	marker                         a record, if there was a purge: complete
//
// Nobody opens the folder before the last step.
func Import(o engine.ImportOptions, p *engine.Point) engine.Import {
	return &imported{o: o, p: p, cp: checkpoint{
		Generation: p.Generation, Settled: p.Settled, Boundary: p.Boundary, Applied: p.Applied,
		Start: p.Start, End: p.End, Timestamp: p.Timestamp, Bookmarks: bookmark.Capture{Number: 1}, Extra: p.Extra,
	}}
}

func (m *imported) folder() string { return purge.Folder(m.o.Dir, m.p.Generation) }

// Begin implements engine.Import.
func (m *imported) Begin() error {
	if err := durable.Mkdir(m.o.FS, "transfer.home", m.folder()); err != nil {
		return fmt.Errorf("engine: import: %w", err)
	}
	present := strings.TrimPrefix(m.folder(), m.o.Dir+"/") + "/"
	not := func(name string) bool {
		return name == present || !strings.HasPrefix(name, "gen-") && !strings.HasPrefix(name, "marker")
	}
	messages := func(name string) bool { return strings.HasPrefix(name, "seg-") }
	err := engine.Clear(m.o.FS, "transfer.discard", m.o.Dir, not)
	if err == nil {
		err = engine.Clear(m.o.FS, "transfer.discard", m.folder(), messages)
	}
	if err != nil {
		return fmt.Errorf("engine: import: %w", err)
	}
	return nil
}

// Messages implements engine.Import.
func (m *imported) Messages() (*segment.Intake, error) {
	return segment.NewIntake(segmentOptions(m.o.Options, &m.cp), m.p.Boundary, m.p.Pieces)
}

// Seal implements engine.Import.
func (m *imported) Seal() engine.Task {
	m.next = (*imported).bookmarks
	return m
}

// Step implements engine.Task.
func (m *imported) Step() (done bool, did observe.Action, err error) {
	if done, err = m.next(m); err != nil {
		return false, "", fmt.Errorf("engine: import of op %d: %w", m.p.Applied, err)
	}
	return done, "", nil
}

func (m *imported) bookmarks() (bool, error) {
	c, err := bookmark.WriteTable(bookmarkOptions(m.o.Options, &m.cp), m.p.Bookmarks)
	if err != nil {
		return false, err
	}
	m.cp.Bookmarks = c
	m.next = (*imported).names
	return false, nil
}

// names syncs the folder before the record of the checkpoint does so once more: whatever a
// crash leaves of a home, its checkpoint speaks of no file that is not there. No boot sees
// that, since the home has no name yet, and the crash points of an install pass without it.
func (m *imported) names() (bool, error) {
	if !m.loose() {
		if err := m.o.FS.SyncDir("transfer.names", m.folder()); err != nil {
			return false, err
		}
	}
	m.next = (*imported).checkpoint
	return false, nil
}

func (m *imported) checkpoint() (bool, error) {
	if err := m.write("transfer.checkpoint", checkpointFile(m.o.Dir, m.p.Generation), m.boundary().encode()); err != nil {
		return false, err
	}
	m.next = (*imported).marker
	return m.p.Generation == 0, nil
}

func (m *imported) marker() (bool, error) {
	x := engine.Marker{State: purge.Complete, Generation: m.p.Generation, Incarnation: m.p.Incarnation, Boundary: m.boundary().Boundary}
	return true, m.write("transfer.marker", purge.File(m.o.Dir), x.Encode())
}

// boundary is the checkpoint with the boundary that counts here.
func (m *imported) boundary() *checkpoint {
	cp := m.cp
	if m.o.Defects.Has(defect.BoundaryNotRebased) && m.o.Own.Boundary > 0 {
		cp.Boundary = m.o.Own.Boundary
	}
	return &cp
}

// loose: what is renamed is not made durable.
func (m *imported) loose() bool { return m.o.Defects.Has(defect.StagedRenameWithoutSync) }

func (m *imported) write(label vfs.Label, file string, value []byte) error {
	if m.loose() {
		return record.Replace(m.o.FS, label, file, m.o.Identity, value)
	}
	return record.Write(m.o.FS, label, file, m.o.Identity, value)
}
