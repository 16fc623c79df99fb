package flat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/framed"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// A bookmark file is written in place and smaller than a sector, so a power loss
// leaves one write whole or not at all. A write that the disk breaks off may leave
// the beginning of the new bytes and the end of the old: so a file is two copies of
// the same, and the first one that is whole counts. One is whole whatever happens to
// the other, and what is older than the last write is replayed from the journal.
//
// A copy holds up to three versions, oldest first: as of the durable checkpoint, as
// of the one under way, and the newest. Little endian:
//
//	+0    magic     u32   "PLK2"
//	+4    identity  20
//	+24   count     u32   of versions
//	+28   crc32c    u32   of the rest
//	+32   3 × { op u64, flags u32 (1: set, 0: removed), incarnation u32,
//	            generation u32, zero u32, offset i64 }
//
// Incarnation and generation are zero unless bookmarks are tagged. A file that is
// shorter than two copies and has none, or is all zeros, was made and never written
// as a whole, or never synced: there is no bookmark.
const (
	markMagic   = 0x324b4c50
	markHeader  = 32
	versionSize = 32
	maxVersions = 3
	markBytes   = markHeader + maxVersions*versionSize
	isSet       = 1
)

var errFailed = fmt.Errorf("flat: stopped after a failed sync: %w", vfs.ErrUnsure)

// version is a bookmark as some op left it.
type version struct {
	op  op.Number
	set bool
	at  op.Position
}

// mark is a bookmark: now is as of Applied, disk what its file holds.
type mark struct {
	key   op.Key
	now   version
	disk  []version
	h     vfs.File // nil until there is a file
	dirty bool
}

// marks are all bookmarks, by key.
type marks struct {
	list     []*mark
	newNames [2]bool // by kind: a name may not be durable
	failed   error
}

func (o *Options) bookmarks(k op.ConsumerKind) string { return o.Dir + "/bookmarks/" + k.String() }

func (o *Options) bookmarkFile(k op.Key) string {
	return o.bookmarks(k.Kind) + "/" + strconv.FormatUint(uint64(k.ID), 10)
}

func (m *marks) search(k op.Key) (int, bool) {
	return slices.BinarySearchFunc(m.list, k, func(x *mark, k op.Key) int {
		switch {
		case x.key == k:
			return 0
		case x.key.Less(k):
			return -1
		}
		return 1
	})
}

func (m *marks) find(k op.Key) *mark {
	if i, ok := m.search(k); ok {
		return m.list[i]
	}
	return nil
}

// lastOp is the newest op that a file speaks of.
func (m *marks) lastOp() op.Number {
	var n op.Number
	for _, x := range m.list {
		if k := len(x.disk); k > 0 {
			n = max(n, x.disk[k-1].op)
		}
	}
	return n
}

// write sets or removes a bookmark by v.op. A file that is ahead stays as it is.
func (m *marks) write(o *Options, k op.Key, v version, needed [2]op.Number) error {
	i, ok := m.search(k)
	x := &mark{key: k}
	if ok {
		x = m.list[i]
	}
	if n := len(x.disk); n == 0 || x.disk[n-1].op < v.op {
		disk := append(slices.Clone(x.disk), v)
		disk = slices.DeleteFunc(disk, func(d version) bool {
			return d.op != v.op && d.op != latest(disk, needed[0]).op && d.op != latest(disk, needed[1]).op
		})
		if x.h == nil {
			h, err := o.FS.Create("bookmark.create", o.bookmarkFile(k))
			if err != nil {
				return err
			}
			m.newNames[k.Kind] = true
			x.h = h
		}
		if _, err := x.h.WriteAt("bookmark.write", twice(encodeMark(o, disk)), 0); err != nil {
			return err
		}
		x.disk, x.dirty = disk, true
	}
	x.now = v
	if !ok {
		m.list = slices.Insert(m.list, i, x)
	}
	return nil
}

// latest is the newest version at or below op n.
func latest(list []version, n op.Number) version {
	var out version
	for _, v := range list {
		if v.op <= n {
			out = v
		}
	}
	return out
}

// sync makes all files durable; one that fails once fails for good.
func (m *marks) sync() error {
	if m.failed != nil {
		return m.failed
	}
	for _, x := range m.list {
		if !x.dirty {
			continue
		}
		if err := x.h.Sync("bookmark.sync"); err != nil {
			m.failed = fmt.Errorf("%w: %w", errFailed, err)
			return m.failed
		}
		x.dirty = false
	}
	return nil
}

// count is how many bookmarks there are as of op n.
func (m *marks) count(n op.Number) uint32 {
	var out uint32
	for _, x := range m.list {
		if latest(x.disk, n).set {
			out++
		}
	}
	return out
}

// reclaim removes one file that says no more than that a bookmark was removed.
func (m *marks) reclaim(o *Options, applied op.Number) (bool, error) {
	for i, x := range m.list {
		if v := x.disk[len(x.disk)-1]; v.set || v.op > applied || x.dirty {
			continue
		}
		if err := o.FS.Remove("bookmark.reclaim", o.bookmarkFile(x.key)); err != nil && !errors.Is(err, vfs.ErrNotExist) {
			return false, err
		}
		x.h.Close()
		m.list = slices.Delete(m.list, i, i+1)
		return true, nil
	}
	return false, nil
}

// forget lets all bookmarks go, without touching the disk.
func (m *marks) forget() {
	m.close()
	*m = marks{}
}

func (m *marks) close() {
	for _, x := range m.list {
		if x.h != nil {
			x.h.Close()
		}
	}
}

// load reads all files. At least want bookmarks must be there as of op applied.
func (m *marks) load(o *Options, f *engine.Facts, applied op.Number, want uint32) error {
	m.newNames = [2]bool{true, true}
	for _, kind := range []op.ConsumerKind{op.Consumer, op.Group} {
		names, err := o.FS.List(o.bookmarks(kind))
		if err != nil {
			return err
		}
		for _, name := range names {
			id, err := strconv.ParseUint(name, 10, 32)
			if err != nil || strconv.FormatUint(id, 10) != name {
				continue
			}
			x := &mark{key: op.Key{Kind: kind, ID: uint32(id)}, dirty: true}
			if x.h, x.disk, err = readMark(o, x.key, f); err != nil {
				return err
			}
			if len(x.disk) == 0 {
				x.h.Close()
				continue
			}
			x.now = latest(x.disk, applied)
			i, _ := m.search(x.key)
			m.list = slices.Insert(m.list, i, x)
		}
	}
	if got := m.count(applied); got < want {
		return &corrupt.Error{File: o.Dir + "/bookmarks", What: fmt.Sprintf("bookmarks as of op %d", applied), Want: want, Got: got}
	}
	return nil
}

func encodeMark(o *Options, list []version) []byte {
	b := make([]byte, 0, markBytes)
	b = binary.LittleEndian.AppendUint32(b, markMagic)
	b = o.Identity.Append(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	b = append(b, 0, 0, 0, 0)
	for _, v := range list {
		var flags, inc, gen uint32
		if v.set {
			flags = isSet
		}
		if o.Tagged {
			inc, gen = uint32(v.at.Incarnation), uint32(v.at.Generation)
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(v.op))
		b = binary.LittleEndian.AppendUint32(b, flags)
		b = binary.LittleEndian.AppendUint32(b, inc)
		b = binary.LittleEndian.AppendUint32(b, gen)
		b = append(b, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(v.at.Offset))
	}
	b = b[:markBytes]
	binary.LittleEndian.PutUint32(b[28:], framed.Sum(b))
	return b
}

// readMark reads a file; without versions there is no bookmark.
func readMark(o *Options, k op.Key, f *engine.Facts) (vfs.File, []version, error) {
	name := o.bookmarkFile(k)
	h, err := o.FS.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	b := make([]byte, 2*markBytes+1)
	n, err := h.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		h.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if !slices.ContainsFunc(b[:n], func(c byte) bool { return c != 0 }) {
		return h, nil, nil
	}
	list, err := decodeMark(o, name, b[:markBytes], f)
	if errors.Is(err, corrupt.ErrCorrupt) {
		if other, e := decodeMark(o, name, b[markBytes:2*markBytes], f); e == nil {
			return h, other, nil
		} else if n < 2*markBytes {
			return h, nil, nil
		}
	}
	if err == nil && n > 2*markBytes {
		err = &corrupt.Error{File: name, What: "bookmark bytes", Want: 2 * markBytes, Got: "more"}
	}
	if err != nil {
		h.Close()
		return nil, nil, err
	}
	return h, list, nil
}

func twice(b []byte) []byte { return append(b, b...) }

func decodeMark(o *Options, name string, b []byte, f *engine.Facts) ([]version, error) {
	b = bytes.Clone(b)
	if m := binary.LittleEndian.Uint32(b); m != markMagic {
		return nil, &corrupt.Error{File: name, What: "bookmark magic", Want: uint32(markMagic), Got: m}
	}
	stored := binary.LittleEndian.Uint32(b[28:])
	binary.LittleEndian.PutUint32(b[28:], 0)
	if crc := framed.Sum(b); crc != stored {
		return nil, &corrupt.Error{File: name, Offset: 28, What: "bookmark checksum", Want: crc, Got: stored}
	}
	if id := record.DecodeIdentity(b[4:]); id != o.Identity {
		return nil, &record.ForeignError{File: name, Want: o.Identity, Got: id}
	}
	count := binary.LittleEndian.Uint32(b[24:])
	if count == 0 || count > maxVersions {
		return nil, &corrupt.Error{File: name, Offset: 24, What: "bookmark versions", Want: "1 to 3", Got: count}
	}
	var list []version
	for i := range int(count) {
		x := b[markHeader+i*versionSize:]
		v := version{op: op.Number(binary.LittleEndian.Uint64(x)), set: binary.LittleEndian.Uint32(x[8:]) == isSet}
		v.at = op.Position{Incarnation: f.Incarnation, Generation: f.Generation, Offset: op.Offset(binary.LittleEndian.Uint64(x[24:]))}
		if o.Tagged {
			v.at.Incarnation = op.Incarnation(binary.LittleEndian.Uint32(x[12:]))
			v.at.Generation = op.Generation(binary.LittleEndian.Uint32(x[16:]))
			if v.set && v.at.Generation != f.Generation {
				continue // of another era: it does not count
			}
		}
		list = append(list, v)
	}
	return list, nil
}
