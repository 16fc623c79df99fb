package crashfs

import "purgelab/impl/vfs"

// Put writes bytes over others that are stable, on the medium: what a write that
// went astray leaves, and, of the bytes that were there before, what a write
// leaves that never came. As with Rot, the cache and whatever a power loss leaves
// of these bytes show it. It is not a call of any program.
func (d *Disk) Put(path string, off int64, p []byte) error {
	n := d.find(path)
	if n == nil || n.dir || off < 0 || off+int64(len(p)) > int64(len(n.data)) {
		return d.fail(Call{Op: "put", Path: path, Offset: off, Bytes: len(p)}, vfs.ErrNotExist)
	}
	copy(n.data[off:], p)
	for i := range n.undo {
		u := &n.undo[i]
		from, to := max(off, u.off), min(off+int64(len(p)), u.off+int64(len(u.old)))
		if from < to {
			u.old = append([]byte(nil), u.old...) // clones share it
			copy(u.old[from-u.off:], p[from-off:to-off])
		}
	}
	return nil
}
