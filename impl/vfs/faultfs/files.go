package faultfs

import (
	"bytes"
	"errors"

	"purgelab/impl/vfs"
)

// files is a vfs.FS with rules.
type files struct {
	s     *Set
	under vfs.FS
}

// broken runs a call that is not about bytes of a file.
func (s *Set) broken(op string, label vfs.Label, path string, call func() error) error {
	e := s.due(op, label, path)
	if e == nil {
		return call()
	}
	if e.Rule.Action == FailAfter {
		if err := call(); err != nil {
			return err
		}
	}
	return e
}

// Create implements vfs.FS.
func (f *files) Create(label vfs.Label, path string) (vfs.File, error) {
	var under vfs.File
	err := f.s.broken("create", label, path, func() (err error) {
		under, err = f.under.Create(label, path)
		return err
	})
	if err != nil {
		if under != nil {
			under.Close()
		}
		return nil, err
	}
	delete(f.s.last, path)
	return &file{f.s, under, path}, nil
}

// Open implements vfs.FS.
func (f *files) Open(path string) (vfs.File, error) {
	if e := f.s.due("open", "", path); e != nil {
		return nil, e
	}
	under, err := f.under.Open(path)
	if err != nil {
		return nil, err
	}
	return &file{f.s, under, path}, nil
}

// Rename implements vfs.FS.
func (f *files) Rename(label vfs.Label, from, to string) error {
	return f.s.broken("rename", label, to, func() error {
		delete(f.s.last, from)
		delete(f.s.last, to)
		return f.under.Rename(label, from, to)
	})
}

// Remove implements vfs.FS.
func (f *files) Remove(label vfs.Label, path string) error {
	return f.s.broken("remove", label, path, func() error {
		delete(f.s.last, path)
		return f.under.Remove(label, path)
	})
}

// Mkdir implements vfs.FS.
func (f *files) Mkdir(label vfs.Label, path string) error {
	return f.s.broken("mkdir", label, path, func() error { return f.under.Mkdir(label, path) })
}

// Link implements vfs.FS.
func (f *files) Link(label vfs.Label, from, to string) error {
	return f.s.broken("link", label, to, func() error { return f.under.Link(label, from, to) })
}

// List implements vfs.FS.
func (f *files) List(path string) ([]string, error) {
	if e := f.s.due("list", "", path); e != nil {
		return nil, e
	}
	return f.under.List(path)
}

// SyncDir implements vfs.FS.
func (f *files) SyncDir(label vfs.Label, path string) error {
	if e := f.s.due("syncdir", label, path); e != nil {
		switch e.Rule.Action {
		case NamesForget:
			if err := f.ForgetNames(path); err != nil {
				return errors.Join(e, err)
			}
		case FailAfter:
			if err := f.under.SyncDir(label, path); err != nil {
				return err
			}
		}
		return e
	}
	return f.under.SyncDir(label, path)
}

// ForgetNames passes on to the file system below, so that wrappers compose.
func (f *files) ForgetNames(path string) error {
	if u, ok := f.under.(interface{ ForgetNames(string) error }); ok {
		return u.ForgetNames(path)
	}
	return ErrCannotForget
}

// file is an open file with rules.
type file struct {
	s     *Set
	under vfs.File
	path  string
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	e := f.s.due("read", "", f.path)
	if e != nil && e.Rule.Action == FailBefore {
		return 0, e
	}
	n, err := f.under.ReadAt(p, off)
	if e == nil || n == 0 {
		return n, err
	}
	if e.Rule.Action == BitFlip {
		p[e.Rule.Arg%n] ^= 1 << e.Rule.Bit
		return n, err
	}
	return f.stale(p, off, n, err)
}

// stale takes the last write back in what was read. The file keeps its length,
// so what that write added reads as zeros.
func (f *file) stale(p []byte, off int64, n int, err error) (int, error) {
	c, ok := f.s.last[f.path]
	if !ok {
		return n, err
	}
	for i := range n {
		at := off + int64(i) - c.off
		switch {
		case at >= 0 && at < int64(len(c.old)):
			p[i] = c.old[at]
		case at >= 0 && at < int64(c.n):
			p[i] = 0 // it was added
		}
	}
	return n, err
}

// WriteAt implements vfs.File.
func (f *file) WriteAt(label vfs.Label, p []byte, off int64) (int, error) {
	e := f.s.due("write", label, f.path)
	if e == nil {
		return f.write(label, p, off)
	}
	switch e.Rule.Action {
	case FailAfter:
		if n, err := f.write(label, p, off); err != nil {
			return n, err
		}
	case ShortWrite:
		k := min(e.Rule.Arg, len(p))
		if e.Rule.Arg == half {
			k = len(p) / 2
		}
		if k > 0 {
			if n, err := f.write(label, p[:k], off); err != nil {
				return n, err
			}
		}
		return k, e
	case DropWrite:
		return len(p), nil
	case Misdirect:
		return f.write(label, p, max(0, off+int64(e.Rule.Arg)))
	case BitFlip:
		wrong := bytes.Clone(p)
		if len(wrong) > 0 {
			wrong[e.Rule.Arg%len(wrong)] ^= 1 << e.Rule.Bit
		}
		return f.write(label, wrong, off)
	}
	return 0, e
}

// write passes a write on and remembers what it replaced, if anybody may ask.
func (f *file) write(label vfs.Label, p []byte, off int64) (int, error) {
	if f.s.remembers() {
		c := change{off: off, n: len(p)}
		size, err := f.under.Size()
		if err != nil {
			return 0, err
		}
		if k := min(int64(len(p)), size-off); k > 0 {
			c.old = make([]byte, k)
			if n, err := f.under.ReadAt(c.old, off); int64(n) < k {
				return 0, err
			}
		}
		f.s.last[f.path] = c
	}
	return f.under.WriteAt(label, p, off)
}

// ErrCannotForget is joined to the error of a sync that should have lost its
// data on a file system that cannot.
var ErrCannotForget = errors.New("faultfs: the file system below cannot forget what was not synced")

// Sync implements vfs.File.
func (f *file) Sync(label vfs.Label) error {
	e := f.s.due("sync", label, f.path)
	if e == nil {
		return f.under.Sync(label)
	}
	var err error
	switch e.Rule.Action {
	case FailAfter:
		err = f.under.Sync(label)
	case SyncForget:
		err = f.Forget()
	case SyncEvict:
		err = f.Evict()
	}
	if err != nil {
		return errors.Join(e, err)
	}
	return e
}

// forgetter is a file below that can lose what was not synced.
type forgetter interface {
	Forget() error
	Evict() error
}

// Forget passes on to the file below, so that wrappers compose.
func (f *file) Forget() error {
	if u, ok := f.under.(forgetter); ok {
		return u.Forget()
	}
	return ErrCannotForget
}

// Evict passes on to the file below.
func (f *file) Evict() error {
	if u, ok := f.under.(forgetter); ok {
		return u.Evict()
	}
	return ErrCannotForget
}

// Truncate implements vfs.File.
func (f *file) Truncate(label vfs.Label, size int64) error {
	return f.s.broken("truncate", label, f.path, func() error {
		delete(f.s.last, f.path)
		return f.under.Truncate(label, size)
	})
}

// Size implements vfs.File.
func (f *file) Size() (int64, error) { return f.under.Size() }

// Close implements vfs.File.
func (f *file) Close() error { return f.under.Close() }
