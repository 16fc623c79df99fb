package crashfs

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/osfs"
)

var paths = []string{"a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/x", "f/x"}

// world drives a Disk and the naive model with the same calls.
type world struct {
	t       *rapid.T
	d       *Disk
	fs      vfs.FS
	m       *naive
	handles []pair
}

type pair struct {
	f vfs.File
	n *naiveNode
}

func (w *world) naiveFind(path string) (dir *naiveNode, name string, n *naiveNode) {
	at := w.m.nodes[0]
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if at == nil || !at.dir {
			return nil, "", nil
		}
		if i == len(parts)-1 {
			return at, p, at.list()[p]
		}
		at = at.list()[p]
	}
	return nil, "", nil
}

func (w *world) step() {
	p := rapid.SampledFrom(paths).Draw(w.t, "path")
	dir, name, n := w.naiveFind(p)
	switch op := rapid.SampledFrom([]string{"create", "open", "write", "write", "write", "sync", "truncate", "rename", "remove", "mkdir", "link", "syncdir", "list"}).Draw(w.t, "op"); op {
	case "create":
		f, err := w.fs.Create("t", p)
		if dir == nil || n != nil && n.dir {
			require.Error(w.t, err)
			return
		}
		require.NoError(w.t, err)
		if n == nil {
			n = w.m.add(false)
			dir.moves = append(dir.moves, naiveMove{to: name, n: n})
		} else if len(n.bytes()) > 0 {
			n.ops = append(n.ops, naiveWrite{off: 0})
		}
		w.handles = append(w.handles, pair{f, n})
	case "open":
		f, err := w.fs.Open(p)
		if n == nil || n.dir {
			require.Error(w.t, err)
			return
		}
		require.NoError(w.t, err)
		w.handles = append(w.handles, pair{f, n})
	case "write", "sync", "truncate":
		if len(w.handles) > 0 {
			w.fileStep(op, rapid.SampledFrom(w.handles).Draw(w.t, "file"))
		}
	case "rename":
		to := rapid.SampledFrom(paths).Draw(w.t, "to")
		dir2, name2, n2 := w.naiveFind(to)
		err := w.fs.Rename("t", p, to)
		if n == nil || n.dir || dir2 == nil || n2 != nil && n2.dir {
			require.Error(w.t, err)
			return
		}
		require.NoError(w.t, err)
		switch {
		case n == n2:
		case dir == dir2:
			dir.moves = append(dir.moves, naiveMove{from: name, to: name2, n: n})
		default:
			draw := new(int)
			dir.moves = append(dir.moves, naiveMove{from: name, draw: draw})
			dir2.moves = append(dir2.moves, naiveMove{to: name2, n: n, draw: draw})
		}
	case "remove":
		err := w.fs.Remove("t", p)
		if n == nil || n.dir && len(n.list()) > 0 {
			require.Error(w.t, err)
			return
		}
		require.NoError(w.t, err)
		dir.moves = append(dir.moves, naiveMove{from: name})
	case "mkdir":
		err := w.fs.Mkdir("t", p)
		if dir == nil || n != nil && !n.dir {
			require.Error(w.t, err)
			return
		}
		require.NoError(w.t, err)
		if n == nil {
			dir.moves = append(dir.moves, naiveMove{to: name, n: w.m.add(true)})
		}
	case "link":
		to := rapid.SampledFrom(paths).Draw(w.t, "to")
		dir2, name2, n2 := w.naiveFind(to)
		err := w.fs.Link("t", p, to)
		if n == nil || n.dir || dir2 == nil || n2 != nil {
			require.Error(w.t, err)
			return
		}
		require.NoError(w.t, err)
		dir2.moves = append(dir2.moves, naiveMove{to: name2, n: n})
	case "syncdir":
		err := w.fs.SyncDir("t", p)
		if n == nil || !n.dir {
			require.Error(w.t, err)
			require.NoError(w.t, w.fs.SyncDir("t", "."))
			w.m.nodes[0].sync()
			return
		}
		require.NoError(w.t, err)
		n.sync()
	case "list":
		_, err := w.fs.List(p)
		require.Equal(w.t, n != nil && n.dir, err == nil)
	}
}

func (w *world) fileStep(op string, h pair) {
	switch op {
	case "write":
		off := rapid.Int64Range(0, 1800).Draw(w.t, "off")
		data := rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 900).Draw(w.t, "data")
		if rapid.Bool().Draw(w.t, "append") {
			off = int64(len(h.n.bytes()))
		}
		k, err := h.f.WriteAt("t", data, off)
		require.NoError(w.t, err)
		require.Equal(w.t, len(data), k)
		h.n.ops = append(h.n.ops, naiveWrite{off: off, data: append([]byte{}, data...)})
	case "sync":
		require.NoError(w.t, h.f.Sync("t"))
		h.n.sync()
	case "truncate":
		size := rapid.Int64Range(0, 3000).Draw(w.t, "size")
		require.NoError(w.t, h.f.Truncate("t", size))
		if size != int64(len(h.n.bytes())) {
			h.n.ops = append(h.n.ops, naiveWrite{off: size})
		}
	}
}

func readAll(t require.TestingT, f vfs.File) []byte {
	size, err := f.Size()
	require.NoError(t, err)
	b := make([]byte, size+1)
	k, err := f.ReadAt(b, 0)
	require.ErrorIs(t, err, io.EOF)
	require.EqualValues(t, size, k)
	return b[:k]
}

func compare(t require.TestingT, fs vfs.FS, at string, n *naiveNode) {
	names, err := fs.List(at)
	require.NoError(t, err)
	require.Equal(t, len(n.sorted()), len(names), at)
	for i, want := range n.sorted() {
		require.Equal(t, want, names[i])
		full := at + "/" + trimSlash(want)
		if at == "." {
			full = trimSlash(want)
		}
		child := n.list()[trimSlash(want)]
		if child.dir {
			compare(t, fs, full, child)
			continue
		}
		f, err := fs.Open(full)
		require.NoError(t, err)
		require.Equal(t, append([]byte{}, child.bytes()...), append([]byte{}, readAll(t, f)...), full)
	}
}

// TestAgainstNaive checks that a Disk does what the naive model does, crashes
// with the same draws included.
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt, d: New(), m: newNaive()}
		w.fs = w.d.FS()
		for range rapid.IntRange(1, 5).Draw(rt, "lives") {
			for range rapid.IntRange(1, 25).Draw(rt, "steps") {
				w.step()
			}
			for _, h := range w.handles {
				require.Equal(rt, append([]byte{}, h.n.bytes()...), append([]byte{}, readAll(rt, h.f)...))
			}
			compare(rt, w.fs, ".", w.m.nodes[0])
			if rapid.Bool().Draw(rt, "power") {
				seed := rapid.Uint64().Draw(rt, "seed")
				w.d.PowerLoss(rand.New(rand.NewPCG(seed, 1)))
				w.m.powerLoss(rand.New(rand.NewPCG(seed, 1)))
			} else {
				w.d.ProcessCrash()
			}
			for _, h := range w.handles {
				_, err := h.f.WriteAt("t", []byte("x"), 0)
				require.ErrorIs(rt, err, vfs.ErrCrashed)
			}
			_, err := w.fs.List(".")
			require.ErrorIs(rt, err, vfs.ErrCrashed)
			w.handles, w.fs = nil, w.d.FS()
			compare(rt, w.fs, ".", w.m.nodes[0])
		}
	})
}

// TestPowerLossKeepsOnlyWhatWasWritten checks, without knowing how draws are
// made, that each sector after a power loss is one that some subset of the
// unsynced writes explains, and that both extremes and torn middles occur.
func TestPowerLossKeepsOnlyWhatWasWritten(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(400) {
		d := New()
		fs := d.FS()
		f, err := fs.Create("t", "a")
		require.NoError(t, err)
		write := func(c byte, off, n int) {
			_, err := f.WriteAt("t", []byte(strings.Repeat(string(rune(c)), n)), int64(off))
			require.NoError(t, err)
		}
		write('s', 0, 1024)
		require.NoError(t, f.Sync("t"))
		require.NoError(t, fs.SyncDir("t", "."))
		write('x', 512, 1536) // sectors 1 to 3
		write('y', 1024, 512) // sector 2
		d.PowerLoss(rand.New(rand.NewPCG(seed, 0)))
		f, err = d.FS().Open("a")
		require.NoError(t, err)
		b := readAll(t, f)
		require.Contains(t, []int{1024, 2048}, len(b))
		require.Equal(t, strings.Repeat("s", 512), string(b[:512]))
		shape := ""
		for s := 512; s < len(b); s += 512 {
			c := b[s]
			require.Equal(t, strings.Repeat(string(rune(c)), 512), string(b[s:s+512]))
			require.Contains(t, []string{"", "sx", "\x00xy", "\x00x"}[s/512], string(rune(c)))
			shape += string(rune(c))
		}
		seen[shape] = true
	}
	for _, shape := range []string{"s", "x", "sxx", "xyx", "xxx", "s\x00x", "s\x00\x00", "x\x00\x00", "sy\x00"} {
		require.True(t, seen[shape], "never seen: %q", shape)
	}
}

func TestNamesNeedTheirDirectory(t *testing.T) {
	outcomes := map[string]bool{}
	for seed := range uint64(200) {
		d := New()
		fs := d.FS()
		f, err := fs.Create("t", "old")
		require.NoError(t, err)
		_, err = f.WriteAt("t", []byte("1"), 0)
		require.NoError(t, err)
		require.NoError(t, f.Sync("t"))
		require.NoError(t, fs.SyncDir("t", "."))
		require.NoError(t, fs.Rename("t", "old", "new"))
		f, err = fs.Create("t", "fresh")
		require.NoError(t, err)
		require.NoError(t, f.Sync("t"))
		d.PowerLoss(rand.New(rand.NewPCG(seed, 0)))
		names, err := d.FS().List(".")
		require.NoError(t, err)
		outcomes[strings.Join(names, " ")] = true
	}
	require.Equal(t, map[string]bool{"old": true, "new": true, "fresh old": true, "fresh new": true}, outcomes)
}

func TestHook(t *testing.T) {
	for _, action := range []Action{CrashBefore, CrashAfter} {
		d := New()
		d.LogCalls(true)
		d.Arm(func(l vfs.Label, path string) Action {
			if l == "second" {
				return action
			}
			return Continue
		})
		fs := d.FS()
		f, err := fs.Create("first", "a")
		require.NoError(t, err)
		_, err = f.WriteAt("second", []byte("x"), 0)
		require.ErrorIs(t, err, vfs.ErrCrashed)
		require.True(t, d.Crashed())
		require.ErrorIs(t, f.Sync("third"), vfs.ErrCrashed)
		d.Arm(nil)
		d.ProcessCrash()
		require.ErrorIs(t, f.Sync("third"), vfs.ErrCrashed)
		f, err = d.FS().Open("a")
		require.NoError(t, err)
		want := ""
		if action == CrashAfter {
			want = "x"
		}
		require.Equal(t, want, string(readAll(t, f)))
		require.Equal(t, "first create a\nsecond write a at 0 bytes 1", d.Calls()[0].String()+"\n"+d.Calls()[1].String())
		require.Len(t, d.Calls(), 2)
	}
}

// TestSameSeedSameDisk guards against a draw over a map.
func TestSameSeedSameDisk(t *testing.T) {
	build := func() uint64 {
		d := New()
		fs := d.FS()
		r := rand.New(rand.NewPCG(7, 7))
		for i := range 40 {
			p := string(rune('a' + i%17))
			f, err := fs.Create("t", p)
			require.NoError(t, err)
			_, err = f.WriteAt("t", make([]byte, 100*i), int64(i))
			require.NoError(t, err)
			if i%9 == 0 {
				d.PowerLoss(r)
				fs = d.FS()
			}
		}
		d.PowerLoss(r)
		return d.Digest()
	}
	first := build()
	for range 20 {
		require.Equal(t, first, build())
	}
}

// TestAgainstOS runs the same calls on the real file system.
func TestAgainstOS(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "os")
		require.NoError(rt, err)
		real, err := osfs.New(root)
		require.NoError(rt, err)
		sides := []vfs.FS{New().FS(), real}
		var open [2][]vfs.File
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			p := rapid.SampledFrom(paths).Draw(rt, "path")
			to := rapid.SampledFrom(paths).Draw(rt, "to")
			op := rapid.SampledFrom([]string{"create", "create", "open", "write", "write", "truncate", "rename", "remove", "mkdir", "link", "list"}).Draw(rt, "op")
			data := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(rt, "data")
			off := rapid.Int64Range(0, 100).Draw(rt, "off")
			which := rapid.IntRange(0, 50).Draw(rt, "file")
			var outs [2]string
			for i, fs := range sides {
				outs[i] = osStep(rt, fs, op, p, to, data, off, which, &open[i])
			}
			require.Equal(rt, outs[0], outs[1], "%s %s %s", op, p, to)
		}
		for i := range open[0] {
			require.Equal(rt, readAll(rt, open[1][i]), readAll(rt, open[0][i]))
			require.NoError(rt, open[1][i].Close())
		}
		for _, fs := range sides {
			require.NoError(rt, fs.SyncDir("t", "."))
		}
	})
}

func osStep(t *rapid.T, fs vfs.FS, op, p, to string, data []byte, off int64, which int, open *[]vfs.File) string {
	answer := func(err error) string {
		switch {
		case err == nil:
			return "ok"
		// The way through a file is ENOTDIR to a real system.
		case op == "open" && !strings.Contains(p, "/") && errors.Is(err, vfs.ErrNotExist):
			return "not exist"
		}
		return "error"
	}
	switch op {
	case "create", "open":
		f, err := (vfs.File)(nil), error(nil)
		if op == "create" {
			f, err = fs.Create("t", p)
		} else {
			f, err = fs.Open(p)
		}
		if err == nil {
			*open = append(*open, f)
		}
		return answer(err)
	case "write", "truncate":
		if len(*open) == 0 {
			return "none"
		}
		f := (*open)[which%len(*open)]
		if op == "truncate" {
			return answer(f.Truncate("t", off))
		}
		_, err := f.WriteAt("t", data, off)
		return answer(err) + string(readAll(t, f))
	case "rename":
		return answer(fs.Rename("t", p, to))
	case "remove":
		return answer(fs.Remove("t", p))
	case "mkdir":
		return answer(fs.Mkdir("t", p))
	case "link":
		return answer(fs.Link("t", p, to))
	}
	names, err := fs.List(p)
	return answer(err) + strings.Join(names, ",")
}
