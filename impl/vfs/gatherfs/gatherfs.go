// Package gatherfs gathers what is appended to some files and writes it in larger
// pieces. On a real machine an append to one file waits for the sync of another
// one, because both change the same metadata; a store that syncs its files only
// now and then, and has a journal for what they lack, need not.
//
// Bytes that are gathered are in this process alone. So beyond what package vfs
// says of a loss of power, the crash of a process takes what was not synced, too.
// Sync, Close, a read by another handle and anything but an append write them
// first. When that fails, bytes are missing for which a write has returned: then
// every call on the file fails with vfs.ErrUnsure from there on.
package gatherfs

import (
	"fmt"
	"io"
	"slices"

	"purgelab/impl/vfs"
)

type gathering struct {
	vfs.FS
	limit int
	which func(path string) bool
	open  map[string][]*file
}

// New gathers up to limit bytes for each open file that which names. Of the handles
// of one file that are open at a time one writes.
func New(fs vfs.FS, limit int, which func(path string) bool) vfs.FS {
	return &gathering{fs, limit, which, map[string][]*file{}}
}

// Create implements vfs.FS.
func (g *gathering) Create(label vfs.Label, path string) (vfs.File, error) {
	h, err := g.FS.Create(label, path)
	if err != nil || !g.which(path) {
		return h, err
	}
	return g.add(path, h, 0), nil
}

// Open implements vfs.FS.
func (g *gathering) Open(path string) (vfs.File, error) {
	for _, f := range g.open[path] {
		if err := f.flush("gather.open"); err != nil {
			return nil, err
		}
	}
	h, err := g.FS.Open(path)
	if err != nil || !g.which(path) {
		return h, err
	}
	size, err := h.Size()
	if err != nil {
		h.Close()
		return nil, err
	}
	return g.add(path, h, size), nil
}

func (g *gathering) add(path string, h vfs.File, size int64) vfs.File {
	f := &file{File: h, g: g, path: path, at: size}
	g.open[path] = append(g.open[path], f)
	return f
}

// file is an open file and what was appended to it.
type file struct {
	vfs.File
	g      *gathering
	path   string
	at     int64 // where buf begins; the file itself ends there
	buf    []byte
	failed error
}

// WriteAt implements vfs.File.
func (f *file) WriteAt(label vfs.Label, p []byte, off int64) (int, error) {
	if off == f.at+int64(len(f.buf)) && f.failed == nil {
		f.buf = append(f.buf, p...)
		if len(f.buf) >= f.g.limit {
			if err := f.flush(label); err != nil {
				return 0, err
			}
		}
		return len(p), nil
	}
	if err := f.flush(label); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(label, p, off)
	f.at = max(f.at, off+int64(n))
	return n, err
}

// flush writes what was gathered.
func (f *file) flush(label vfs.Label) error {
	if f.failed != nil || len(f.buf) == 0 {
		return f.failed
	}
	if _, err := f.File.WriteAt(label, f.buf, f.at); err != nil {
		f.failed = fmt.Errorf("gatherfs: %s: %w: %w", f.path, vfs.ErrUnsure, err)
		return f.failed
	}
	f.at += int64(len(f.buf))
	f.buf = f.buf[:0]
	return nil
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.failed != nil {
		return 0, f.failed
	}
	if len(f.buf) == 0 || off+int64(len(p)) <= f.at {
		return f.File.ReadAt(p, off)
	}
	n := 0
	if off < f.at {
		var err error
		if n, err = f.File.ReadAt(p[:f.at-off], off); int64(n) < f.at-off {
			return n, err
		}
	}
	if from := off + int64(n) - f.at; from < int64(len(f.buf)) {
		n += copy(p[n:], f.buf[from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Sync implements vfs.File.
func (f *file) Sync(label vfs.Label) error {
	if err := f.flush(label); err != nil {
		return err
	}
	return f.File.Sync(label)
}

// Truncate implements vfs.File.
func (f *file) Truncate(label vfs.Label, size int64) error {
	if err := f.flush(label); err != nil {
		return err
	}
	err := f.File.Truncate(label, size)
	if err == nil {
		f.at = size
	}
	return err
}

// Size implements vfs.File.
func (f *file) Size() (int64, error) { return f.at + int64(len(f.buf)), f.failed }

// Close implements vfs.File.
func (f *file) Close() error {
	if rest := slices.DeleteFunc(f.g.open[f.path], func(o *file) bool { return o == f }); len(rest) > 0 {
		f.g.open[f.path] = rest
	} else {
		delete(f.g.open, f.path)
	}
	err := f.flush("gather.close")
	if e := f.File.Close(); err == nil {
		err = e
	}
	return err
}
