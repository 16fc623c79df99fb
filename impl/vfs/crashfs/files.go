package crashfs

import (
	"fmt"
	"io"
	"strings"

	"purgelab/impl/vfs"
)

// files is a vfs.FS over a Disk for one boot.
type files struct {
	d    *Disk
	boot uint64
}

// find returns the node at path, nil if there is none.
func (d *Disk) find(path string) *node {
	n := d.root
	if path == "." {
		return n
	}
	for more := true; more; {
		var name string
		name, path, more = strings.Cut(path, "/")
		if !n.dir {
			return nil
		}
		if n = n.lookup(name); n == nil {
			return nil
		}
	}
	return n
}

// parent returns the directory that holds path's last element, and that
// element.
func (d *Disk) parent(path string) (*node, string, error) {
	dir, name := ".", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	n := d.find(dir)
	if n == nil || !n.dir || name == "" || name == "." || name == ".." {
		return nil, "", vfs.ErrNotExist
	}
	return n, name, nil
}

func (f *files) dead() bool { return f.d.crashed || f.boot != f.d.boot }

// Create implements vfs.FS.
func (f *files) Create(label vfs.Label, path string) (vfs.File, error) {
	c := Call{Label: label, Op: "create", Path: path}
	after, err := f.d.before(f.boot, c)
	if err != nil {
		return nil, err
	}
	dir, name, err := f.d.parent(path)
	if err != nil {
		return nil, f.d.fail(c, err)
	}
	n := dir.lookup(name)
	switch {
	case n == nil:
		n = f.d.node(false)
		dir.change(nameOp{to: name, n: n})
	case n.dir:
		return nil, f.d.fail(c, vfs.ErrExist)
	default:
		n.truncate(0)
	}
	if err := after(); err != nil {
		return nil, err
	}
	return &file{d: f.d, boot: f.boot, n: n, path: path}, nil
}

// Open implements vfs.FS.
func (f *files) Open(path string) (vfs.File, error) {
	c := Call{Op: "open", Path: path}
	if f.dead() {
		return nil, f.d.fail(c, vfs.ErrCrashed)
	}
	n := f.d.find(path)
	if n == nil {
		return nil, f.d.fail(c, vfs.ErrNotExist)
	}
	if n.dir {
		return nil, f.d.fail(c, fmt.Errorf("is a directory"))
	}
	return &file{d: f.d, boot: f.boot, n: n, path: path}, nil
}

// Rename implements vfs.FS.
func (f *files) Rename(label vfs.Label, from, to string) error {
	c := Call{Label: label, Op: "rename", Path: from, To: to}
	after, err := f.d.before(f.boot, c)
	if err != nil {
		return err
	}
	a, fromName, err := f.d.parent(from)
	if err != nil {
		return f.d.fail(c, err)
	}
	b, toName, err := f.d.parent(to)
	if err != nil {
		return f.d.fail(c, err)
	}
	n := a.lookup(fromName)
	if n == nil {
		return f.d.fail(c, vfs.ErrNotExist)
	}
	if old := b.lookup(toName); n.dir || old != nil && old.dir {
		return f.d.fail(c, fmt.Errorf("directories are not renamed or replaced"))
	} else if old == n {
		return after() // two names of one file: POSIX leaves both
	}
	if a == b {
		a.change(nameOp{from: fromName, to: toName, n: n})
	} else {
		both := &decision{}
		a.change(nameOp{from: fromName, both: both})
		b.change(nameOp{to: toName, n: n, both: both})
	}
	return after()
}

// Remove implements vfs.FS.
func (f *files) Remove(label vfs.Label, path string) error {
	c := Call{Label: label, Op: "remove", Path: path}
	after, err := f.d.before(f.boot, c)
	if err != nil {
		return err
	}
	dir, name, err := f.d.parent(path)
	if err != nil {
		return f.d.fail(c, err)
	}
	n := dir.lookup(name)
	if n == nil {
		return f.d.fail(c, vfs.ErrNotExist)
	}
	if n.dir && len(n.cur) > 0 {
		return f.d.fail(c, fmt.Errorf("directory not empty"))
	}
	dir.change(nameOp{from: name})
	return after()
}

// Mkdir implements vfs.FS.
func (f *files) Mkdir(label vfs.Label, path string) error {
	c := Call{Label: label, Op: "mkdir", Path: path}
	after, err := f.d.before(f.boot, c)
	if err != nil {
		return err
	}
	if path == "." {
		return after()
	}
	dir, name, err := f.d.parent(path)
	if err != nil {
		return f.d.fail(c, err)
	}
	if n := dir.lookup(name); n == nil {
		dir.change(nameOp{to: name, n: f.d.node(true)})
	} else if !n.dir {
		return f.d.fail(c, vfs.ErrExist)
	}
	return after()
}

// Link implements vfs.FS.
func (f *files) Link(label vfs.Label, from, to string) error {
	c := Call{Label: label, Op: "link", Path: from, To: to}
	after, err := f.d.before(f.boot, c)
	if err != nil {
		return err
	}
	n := f.d.find(from)
	if n == nil {
		return f.d.fail(c, vfs.ErrNotExist)
	}
	dir, name, err := f.d.parent(to)
	if err != nil {
		return f.d.fail(c, err)
	}
	if n.dir {
		return f.d.fail(c, fmt.Errorf("is a directory"))
	}
	if dir.lookup(name) != nil {
		return f.d.fail(c, vfs.ErrExist)
	}
	dir.change(nameOp{to: name, n: n})
	return after()
}

// List implements vfs.FS.
func (f *files) List(path string) ([]string, error) {
	c := Call{Op: "list", Path: path}
	if f.dead() {
		return nil, f.d.fail(c, vfs.ErrCrashed)
	}
	n := f.d.find(path)
	if n == nil || !n.dir {
		return nil, f.d.fail(c, vfs.ErrNotExist)
	}
	out := make([]string, len(n.cur))
	for i, e := range n.cur {
		out[i] = e.name
		if e.n.dir {
			out[i] += "/"
		}
	}
	return out, nil
}

// SyncDir implements vfs.FS.
func (f *files) SyncDir(label vfs.Label, path string) error {
	c := Call{Label: label, Op: "syncdir", Path: path}
	after, err := f.d.before(f.boot, c)
	if err != nil {
		return err
	}
	n := f.d.find(path)
	if n == nil || !n.dir {
		return f.d.fail(c, vfs.ErrNotExist)
	}
	n.syncNames()
	return after()
}

// file is an open vfs.File.
type file struct {
	d      *Disk
	boot   uint64
	n      *node
	path   string
	closed bool
}

func (f *file) check(op string) error {
	if f.d.crashed || f.boot != f.d.boot {
		return f.d.fail(Call{Op: op, Path: f.path}, vfs.ErrCrashed)
	}
	if f.closed {
		return f.d.fail(Call{Op: op, Path: f.path}, fmt.Errorf("file is closed"))
	}
	return nil
}

// mutate is before for an open file.
func (f *file) mutate(c Call) (func() error, error) {
	if err := f.check(c.Op); err != nil {
		return nil, err
	}
	return f.d.before(f.boot, c)
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check("read"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, f.d.fail(Call{Op: "read", Path: f.path}, fmt.Errorf("offset %d", off))
	}
	if off >= int64(len(f.n.data)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	k := copy(p, f.n.data[off:])
	if k < len(p) {
		return k, io.EOF
	}
	return k, nil
}

// WriteAt implements vfs.File.
func (f *file) WriteAt(label vfs.Label, p []byte, off int64) (int, error) {
	c := Call{Label: label, Op: "write", Path: f.path, Offset: off, Bytes: len(p)}
	after, err := f.mutate(c)
	if err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, f.d.fail(c, fmt.Errorf("offset %d", off))
	}
	f.n.write(p, off)
	if err := after(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Sync implements vfs.File.
func (f *file) Sync(label vfs.Label) error {
	after, err := f.mutate(Call{Label: label, Op: "sync", Path: f.path})
	if err != nil {
		return err
	}
	f.n.sync()
	return after()
}

// Truncate implements vfs.File.
func (f *file) Truncate(label vfs.Label, size int64) error {
	c := Call{Label: label, Op: "truncate", Path: f.path, Offset: size}
	after, err := f.mutate(c)
	if err != nil {
		return err
	}
	if size < 0 {
		return f.d.fail(c, fmt.Errorf("size %d", size))
	}
	f.n.truncate(size)
	return after()
}

// Size implements vfs.File.
func (f *file) Size() (int64, error) {
	if err := f.check("size"); err != nil {
		return 0, err
	}
	return int64(len(f.n.data)), nil
}

// Close implements vfs.File. A dead handle closes without complaint.
func (f *file) Close() error {
	f.closed = true
	return nil
}
