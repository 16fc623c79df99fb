// Package osfs is the real file system behind vfs.FS. It adds nothing: labels
// are ignored, paths are taken below one root folder, and what is durable is
// what the operating system makes of fdatasync, of fsync where that is missing.
package osfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"purgelab/impl/vfs"
)

type osFS struct{ root string }

// New returns the file system below root, which must be a folder.
func New(root string) (vfs.FS, error) {
	st, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("osfs: %w", err)
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("osfs: %s is not a folder", root)
	}
	return &osFS{root: root}, nil
}

func (f *osFS) at(path string) string { return filepath.Join(f.root, filepath.FromSlash(path)) }

// Create implements vfs.FS.
func (f *osFS) Create(_ vfs.Label, path string) (vfs.File, error) {
	return f.open(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

// Open implements vfs.FS.
func (f *osFS) Open(path string) (vfs.File, error) { return f.open(path, os.O_RDWR) }

func (f *osFS) open(path string, flag int) (vfs.File, error) {
	h, err := os.OpenFile(f.at(path), flag, 0o644)
	if err != nil {
		return nil, fmt.Errorf("osfs: %w", err)
	}
	return file{h}, nil
}

// Rename implements vfs.FS. Directories are not renamed.
func (f *osFS) Rename(_ vfs.Label, from, to string) error {
	st, err := os.Stat(f.at(from))
	if err == nil && st.IsDir() {
		err = &fs.PathError{Op: "rename", Path: from, Err: fmt.Errorf("is a directory")}
	}
	if err == nil {
		err = os.Rename(f.at(from), f.at(to))
	}
	return wrap(err)
}

// Remove implements vfs.FS.
func (f *osFS) Remove(_ vfs.Label, path string) error { return wrap(os.Remove(f.at(path))) }

// Mkdir implements vfs.FS.
func (f *osFS) Mkdir(_ vfs.Label, path string) error {
	err := os.Mkdir(f.at(path), 0o755)
	if err != nil {
		if st, e := os.Stat(f.at(path)); e == nil && st.IsDir() {
			return nil
		}
	}
	return wrap(err)
}

// Link implements vfs.FS.
func (f *osFS) Link(_ vfs.Label, from, to string) error {
	return wrap(os.Link(f.at(from), f.at(to)))
}

// List implements vfs.FS.
func (f *osFS) List(path string) ([]string, error) {
	entries, err := os.ReadDir(f.at(path))
	if err != nil {
		return nil, wrap(err)
	}
	// By plain name, as crashfs sorts; the slash comes after.
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
		if e.IsDir() {
			out[i] += "/"
		}
	}
	return out, nil
}

// SyncDir implements vfs.FS.
func (f *osFS) SyncDir(_ vfs.Label, path string) error {
	h, err := os.Open(f.at(path))
	if err != nil {
		return wrap(err)
	}
	err = h.Sync()
	if e := h.Close(); err == nil {
		err = e
	}
	return wrap(err)
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("osfs: %w", err)
}

type file struct{ h *os.File }

func (f file) ReadAt(p []byte, off int64) (int, error)               { return f.h.ReadAt(p, off) }
func (f file) WriteAt(_ vfs.Label, p []byte, off int64) (int, error) { return f.h.WriteAt(p, off) }
func (f file) Sync(vfs.Label) error                                  { return wrap(syncData(f.h)) }
func (f file) Truncate(_ vfs.Label, size int64) error                { return wrap(f.h.Truncate(size)) }
func (f file) Close() error                                          { return wrap(f.h.Close()) }

func (f file) Size() (int64, error) {
	st, err := f.h.Stat()
	if err != nil {
		return 0, wrap(err)
	}
	return st.Size(), nil
}
