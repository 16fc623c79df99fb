// Package vfs is the one seam between a replica and its disk. Every call that
// changes the disk carries a label first, the name of the step that makes it
// (for example "purge.marker.rename"), so that a fault can be aimed at one line
// of an algorithm and a golden file can show the order of durable steps.
//
// What is durable: bytes of a file after its Sync returned nil; a name in a
// directory (created, renamed, linked or removed) after SyncDir of that
// directory returned nil. Nothing else is, whatever a later read shows. A
// failed Sync says nothing about what is durable, and a second Sync of the same
// file proves nothing either: its dirty data may be gone.
package vfs

import (
	"errors"
	"io/fs"
)

// Label names the step of an algorithm that makes a call.
type Label string

// Sentinel errors. Implementations wrap them with the operation and the path.
var (
	// ErrNotExist is fs.ErrNotExist, so os errors match too.
	ErrNotExist = fs.ErrNotExist
	// ErrExist is fs.ErrExist.
	ErrExist = fs.ErrExist
	// ErrCrashed is what every call returns after the machine under it
	// stopped; its caller must be discarded.
	ErrCrashed = errors.New("vfs: machine has crashed")
	// ErrNoSpace means the disk is full.
	ErrNoSpace = errors.New("vfs: no space left")
)

// FS is a small file system. Paths are relative, separated by slashes, and
// clean. Calls are not safe for concurrent use.
type FS interface {
	// Create makes a new file, or truncates one of that name to nothing.
	Create(label Label, path string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(path string) (File, error)
	// Rename moves a file, replacing what is at to. Atomic for readers; durable
	// after SyncDir of both directories.
	Rename(label Label, from, to string) error
	// Remove removes a file or an empty directory.
	Remove(label Label, path string) error
	// Mkdir makes one directory; its parent exists. No error if it is there.
	Mkdir(label Label, path string) error
	// Link makes a second name for a file.
	Link(label Label, from, to string) error
	// List returns the names in a directory, sorted; names of directories end
	// in a slash.
	List(path string) ([]string, error)
	// SyncDir makes the names in a directory durable.
	SyncDir(label Label, path string) error
}

// File is an open file. It keeps working after its name was removed.
type File interface {
	// ReadAt is io.ReaderAt.
	ReadAt(p []byte, off int64) (int, error)
	// WriteAt writes all of p or returns an error. It does not keep p.
	WriteAt(label Label, p []byte, off int64) (int, error)
	// Sync makes the bytes and the length of the file durable.
	Sync(label Label) error
	// Truncate changes the length; new bytes are zero.
	Truncate(label Label, size int64) error
	// Size is the current length.
	Size() (int64, error)
	Close() error
}
