package crashfs

import "purgelab/impl/vfs"

// Rot changes bits of one byte that is stable, on the medium: the cache and
// whatever a power loss leaves of this byte show it, unless a later write of it
// is kept. It is not a call of any program.
func (d *Disk) Rot(path string, off int64, mask byte) error {
	n := d.find(path)
	if n == nil || n.dir || off < 0 || off >= int64(len(n.data)) {
		return d.fail(Call{Op: "rot", Path: path, Offset: off}, vfs.ErrNotExist)
	}
	n.data[off] ^= mask
	for i := range n.undo {
		if u := &n.undo[i]; off >= u.off && off < u.off+int64(len(u.old)) {
			u.old = append([]byte(nil), u.old...) // clones share it
			u.old[off-u.off] ^= mask
		}
	}
	return nil
}

// Tear cuts a file that is stable as a whole to a size, on the medium. It is not
// a call of any program.
func (d *Disk) Tear(path string, size int64) error {
	n := d.find(path)
	if n == nil || n.dir || len(n.undo) > 0 || size < 0 || size > int64(len(n.data)) {
		return d.fail(Call{Op: "tear", Path: path, Offset: size}, vfs.ErrNotExist)
	}
	n.data = n.data[:size]
	return nil
}
