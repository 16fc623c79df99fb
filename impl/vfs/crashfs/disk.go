// Package crashfs is a disk in memory that can lose power. It keeps apart what
// a running program sees (the cache) and what a crash may leave, both for the
// bytes of files and for the names in directories, and it is deterministic:
// the same calls and the same random source give the same disk, byte for byte.
//
// # Fault model
//
//   - ProcessCrash: the program dies, the operating system lives on. Every byte
//     and every name in the cache stays, and stays as unsynced as it was.
//   - PowerLoss, files: of the writes since the last Sync of a file any drawn
//     subset survives, in pieces of one 512-byte sector, so a later sector may
//     survive without an earlier one. The length is metadata: an extension or
//     a truncation survives or not by a draw of its own, and a range whose
//     bytes were lost but whose length survived reads as zeros.
//   - PowerLoss, names: of the operations on names since the last SyncDir of a
//     directory any drawn subset survives. A rename is atomic: the old or the
//     new name. A file whose name was never synced may vanish although its
//     bytes were synced; an unlink that was not synced may come back; a rename
//     between two directories is one draw until one of the two is synced.
//
// Surviving operations are applied in the order in which they were made. After
// either crash everything left is stable, and every FS and File handed out
// before it answers vfs.ErrCrashed for ever.
//
// # Representation
//
//	file       [ data: what the cache shows                      ]
//	           [ undo: one entry per write or truncate since Sync ]
//	directory  [ cur: sorted names  ][ stable: names at SyncDir   ]
//	           [ pending: operations on names since SyncDir       ]
//
// The undo list holds only bytes that were overwritten, so an append costs one
// small entry, Sync empties a list and copies nothing, and a disk takes little
// more memory than its files. A power loss walks the list backwards, recovers
// the stable image and every write on the way, and then applies what the draw
// keeps.
//
// This follows the buffered-against-stable model of pebble's strict in-memory
// file system, without its draws over maps.
package crashfs

import (
	"fmt"

	"purgelab/impl/vfs"
)

// Sector is the largest piece of a write that survives a power loss as a whole.
const Sector = 512

// Action is what an armed hook decides for one mutating call.
type Action uint8

const (
	// Continue lets the call go on.
	Continue Action = iota
	// CrashBefore stops the machine before the call has an effect.
	CrashBefore
	// CrashAfter stops the machine after the call had its effect, unsynced as
	// that may be; the caller sees ErrCrashed all the same.
	CrashAfter
)

// Disk is one disk. It outlives the programs that use it.
type Disk struct {
	root    *node
	nextID  uint64
	boot    uint64 // handles of other boots are dead
	crashed bool   // no call succeeds until ProcessCrash or PowerLoss
	visit   uint64 // mark of the last walk
	hook    func(vfs.Label, string) Action
	logging bool
	calls   []Call
}

// Call is one mutating call that had its effect or was stopped by the hook.
type Call struct {
	Label  vfs.Label
	Op     string // create, rename, remove, mkdir, link, syncdir, write, sync, truncate
	Path   string
	To     string // of rename and link
	Offset int64  // of write; the new size of truncate
	Bytes  int    // of write
}

// String prints a call as golden files show it.
func (c Call) String() string {
	switch c.Op {
	case "rename", "link":
		return fmt.Sprintf("%s %s %s -> %s", c.Label, c.Op, c.Path, c.To)
	case "write":
		return fmt.Sprintf("%s write %s at %d bytes %d", c.Label, c.Path, c.Offset, c.Bytes)
	case "truncate":
		return fmt.Sprintf("%s truncate %s to %d", c.Label, c.Path, c.Offset)
	}
	return fmt.Sprintf("%s %s %s", c.Label, c.Op, c.Path)
}

// New makes an empty disk; its root directory is the path ".".
func New() *Disk {
	d := &Disk{}
	d.root = d.node(true)
	return d
}

func (d *Disk) node(dir bool) *node {
	d.nextID++
	return &node{id: d.nextID, dir: dir}
}

// FS is the disk as a program started now sees it. Handles of earlier boots
// are not affected.
func (d *Disk) FS() vfs.FS { return &files{d: d, boot: d.boot} }

// Arm makes hook decide about each mutating call from now on; nil disarms. The
// hook must not call the disk.
func (d *Disk) Arm(hook func(label vfs.Label, path string) Action) { d.hook = hook }

// Crashed tells whether a hook has stopped the machine.
func (d *Disk) Crashed() bool { return d.crashed }

// LogCalls starts or stops the log that Calls returns, and empties it.
func (d *Disk) LogCalls(on bool) { d.logging, d.calls = on, nil }

// Calls returns the mutating calls made since LogCalls(true).
func (d *Disk) Calls() []Call { return d.calls }

// ProcessCrash ends the program: its handles are dead, the cache stays.
func (d *Disk) ProcessCrash() {
	d.boot++
	d.crashed = false
}

// before is asked by every mutating call; after must be returned by it when
// before succeeded.
func (d *Disk) before(boot uint64, c Call) (after func() error, err error) {
	if d.crashed || boot != d.boot {
		return nil, d.fail(c, vfs.ErrCrashed)
	}
	if d.logging {
		d.calls = append(d.calls, c)
	}
	if d.hook == nil {
		return ok, nil
	}
	switch d.hook(c.Label, c.Path) {
	case CrashBefore:
		d.crashed = true
		return nil, d.fail(c, vfs.ErrCrashed)
	case CrashAfter:
		return func() error {
			d.crashed = true
			return d.fail(c, vfs.ErrCrashed)
		}, nil
	}
	return ok, nil
}

func ok() error { return nil }

func (d *Disk) fail(c Call, err error) error {
	return fmt.Errorf("crashfs: %s %s (%s): %w", c.Op, c.Path, c.Label, err)
}
