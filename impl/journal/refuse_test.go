package journal

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/impl/raftlog"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// filledDisk holds a journal of several files.
func filledDisk(t *testing.T) *crashfs.Disk {
	d := crashfs.New()
	j, _ := open(t, d, 200)
	for n := op.Number(2); n < 12; n++ {
		require.NoError(t, j.Append(&raftlog.State{Term: 1, Commit: n - 1}, []raftlog.Entry{entry(n, 1)}))
	}
	require.NoError(t, j.Sync())
	require.NoError(t, j.Close())
	return d
}

// Whatever call of an Open fails, it is the disk's own error, nothing is taken for
// damage, and the next Open finds everything.
func TestEveryCallOfAnOpenFails(t *testing.T) {
	for _, call := range []string{"open", "read", "list", "mkdir", "syncdir", "sync", "write", "truncate"} {
		failed := 0
		for nth := 1; ; nth++ {
			r := faultfs.New(faultfs.FailBefore)
			r.Op, r.Nth = call, nth
			d := filledDisk(t)
			if call == "truncate" { // only a torn tail is cut
				d = torn(t)
			}
			set := faultfs.NewSet(r)
			disk := &handles{FS: set.Wrap(d.FS())}
			j, _, err := Open(Options{FS: disk, Dir: "p0/journal", Identity: me, FileBytes: 200})
			if err == nil {
				require.NoError(t, j.Close())
			}
			require.Zero(t, disk.open, "%s %d", call, nth)
			if set.Hits() == 0 {
				require.NoError(t, err)
				break
			}
			if call == "list" && err == nil {
				continue // whether a folder is there can be told otherwise
			}
			failed++
			require.ErrorIs(t, err, faultfs.ErrInjected, "%s %d", call, nth)
			require.NotErrorIs(t, err, ErrCorrupt)
			require.True(t, vfs.Failed(err))
			j, _ = open(t, d, 200)
			require.Positive(t, j.Last())
			if call != "truncate" {
				require.EqualValues(t, 11, j.Last())
			}
		}
		if call != "mkdir" { // the folder is there
			require.Positive(t, failed, call)
		}
	}
}

// torn is a journal whose last frame was cut short.
func torn(t *testing.T) *crashfs.Disk {
	d := crashfs.New()
	j, _ := open(t, d, 0)
	require.NoError(t, j.Append(nil, []raftlog.Entry{entry(2, 1)}))
	require.NoError(t, j.file.Truncate("t", j.size-1))
	return d
}

// A live read that fails says so, and the next one finds the entry.
func TestReadsOfEntriesFail(t *testing.T) {
	for _, rule := range []string{"fail-before op=read", "fail-before op=open"} {
		r, err := faultfs.Parse(rule)
		require.NoError(t, err)
		set := faultfs.NewSet()
		j, _, err := Open(Options{FS: set.Wrap(filledDisk(t).FS()), Dir: "p0/journal", Identity: me, FileBytes: 200})
		require.NoError(t, err)
		set.Add(r)
		_, err = j.Entries(2, 4, 1<<20)
		require.ErrorIs(t, err, faultfs.ErrInjected)
		got, err := j.Entries(2, 4, 1<<20)
		require.NoError(t, err)
		require.Len(t, got, 2)
	}
}

// Frames and files that are intact, and not those that must be there.
func TestIntactButWrong(t *testing.T) {
	sum := identitySum(me)
	frame := func(seq, synced uint64, first op.Number) []byte {
		return appendFrame(nil, sum, 1, seq, synced, nil, []raftlog.Entry{entry(first, 1)})
	}
	file := func(number uint32, first uint64, frames ...[]byte) []byte {
		b := encodeFileHeader(me, number, first)
		for _, f := range frames {
			b = append(b, f...)
		}
		return b
	}
	for name, c := range map[string]struct {
		files [][]byte
		want  string
	}{
		"another number": {[][]byte{file(2, 1, frame(1, 0, 2))}, "journal file number: want 1, got 2"},
		"frames missing between files": {[][]byte{file(1, 1, frame(1, 0, 2)), file(2, 3, frame(3, 2, 4))},
			"journal first frame: want 2, got 3"},
		"a frame twice":     {[][]byte{file(1, 1, frame(1, 0, 2), frame(1, 0, 2), frame(3, 2, 3))}, "journal frame sequence: want 2, got 1"},
		"ops missing":       {[][]byte{file(1, 1, frame(1, 0, 5))}, "journal first op of a frame: want 2 to 2, got 5"},
		"before the log":    {[][]byte{file(1, 1, frame(1, 0, 1))}, "journal first op of a frame: want 2 to 2, got 1"},
		"a file is missing": {[][]byte{file(1, 1, frame(1, 0, 2)), nil, file(3, 2, frame(2, 1, 3))}, "journal file number: want 2, got 3"},
	} {
		t.Run(name, func(t *testing.T) {
			d := crashfs.New()
			fs := d.FS()
			require.NoError(t, fs.Mkdir("t", "p0"))
			require.NoError(t, fs.Mkdir("t", "p0/journal"))
			j := &Journal{o: Options{Dir: "p0/journal"}}
			for i, b := range c.files {
				if b == nil {
					continue
				}
				f, err := fs.Create("t", j.name(uint32(i+1)))
				require.NoError(t, err)
				_, err = f.WriteAt("t", b, 0)
				require.NoError(t, err)
			}
			disk := &handles{FS: fs}
			_, _, err := Open(Options{FS: disk, Dir: "p0/journal", Identity: me})
			require.ErrorIs(t, err, corrupt.ErrCorrupt)
			require.Zero(t, disk.open)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A frame whose checksum is right and whose body has no legal shape is refused, and
// nothing is read beyond it.
func TestBodiesWithoutShape(t *testing.T) {
	count := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	for want, body := range map[string][]byte{
		"body bytes: want at least 1, got 0":     nil,
		"state bytes: want 24, got 3":            {hasState, 1, 2, 3},
		"count bytes: want 4, got 2":             {0, 1, 2},
		"entry header bytes: want 13, got 0":     append([]byte{0}, count(1)...),
		"entry data bytes: want 200, got 0":      append(append([]byte{0}, count(1)...), 0, 0, 0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0),
		"bytes after entries: want 0, got 2":     append(append([]byte{0}, count(0)...), 7, 7),
		"frame incarnation: want 1, got 5":       append([]byte{0}, count(0)...),
		"entry header bytes: want 13, got 12":    append(append([]byte{0}, count(1)...), make([]byte, 12)...),
		"frame length: want at most 5, got 1005": append([]byte{0}, count(0)...),
	} {
		f := append(make([]byte, frameHeader), body...)
		inc := uint32(1)
		if want == "frame incarnation: want 1, got 5" {
			inc = 5
		}
		binary.LittleEndian.PutUint32(f[12:], inc)
		framed.Seal(f, frameHeader, frameMagic, 0)
		if want == "frame length: want at most 5, got 1005" {
			binary.LittleEndian.PutUint32(f[4:], 1005)
		}
		_, err := decodeFrame("f", 0, f, 0, 1)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, want)
		require.ErrorContains(t, err, want)
	}
}
