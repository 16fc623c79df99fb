package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/record"
	"purgelab/impl/segment"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// Import is the other half of an engine's export.
type Import func(engine.ImportOptions, *engine.Point) engine.Import

// RunTransfer judges exports and imports of an engine.
func RunTransfer(t *testing.T, open Open, imp Import) {
	for _, c := range []struct {
		name string
		test func(*bench, Import)
	}{
		{"nothing durable is not exported", exportNothing},
		{"an import shows what was exported", importShows},
		{"an import goes on with the log", importGoesOn},
		{"an export stays while the log goes on", exportStays},
		{"nothing that was deleted is exported", exportCut},
		{"what is deleted is gone from an export", exportDeleted},
		{"a purge ends an export", exportPurged},
		{"a boot exports the same", exportAfterBoot},
		{"an import goes on after a crash", importResumes},
		{"an import takes the place of another", importReplaces},
		{"damage is not exported", exportRefusesDamage},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(newBench(t, open), imp) })
	}
}

// history fills a bench with everything that a transfer has to carry.
func (b *bench) history() {
	for i := range 6 {
		b.append(1 + i%3)
	}
	b.store(group, 3)
	b.store(op.Key{ID: 9}, 2)
	b.purge(3)
	for i := range 12 {
		b.append(1 + i%4)
	}
	b.store(consumer, 20)
	b.store(group, 4)
	b.store(op.Key{ID: 7}, 5)
	b.apply(engine.Effect{Kind: engine.Delete, Key: op.Key{ID: 7}})
	b.cut(8)
}

// export holds the state of now, with extra.
func (b *bench) export(extra string) engine.Export {
	b.finish(b.e.Checkpoint([]byte(extra)))
	x, err := b.e.Export()
	require.NoError(b, err)
	require.NoError(b, x.Point().Check())
	return x
}

// receiver is a bench of another replica, which holds nothing.
func (b *bench) receiver() *bench {
	r := newBench(b.T, b.open)
	r.id = record.Identity{Cluster: 7, Replica: 5, Incarnation: 1}
	r.disk = crashfs.New()
	return r
}

func (b *bench) importOptions() engine.ImportOptions {
	return engine.ImportOptions{Options: b.options()}
}

// fill moves at most limit chunks of about size bytes; false if some are left.
func (b *bench) fill(m engine.Import, x engine.Export, size, limit int) bool {
	in, err := m.Messages()
	require.NoError(b, err)
	defer in.Close()
	for ; limit > 0; limit-- {
		piece, at, more := in.Want()
		if !more {
			return true
		}
		data, err := x.Read(piece, at, size)
		require.NoError(b, err)
		require.NoError(b, in.Take(data))
	}
	return false
}

// take imports all of an export and opens it. The journal is that of from.
func (b *bench) take(imp Import, x engine.Export, from *bench) {
	m := imp(b.importOptions(), x.Point())
	require.NoError(b, m.Begin())
	require.True(b, b.fill(m, x, 100, 1<<20))
	b.finish(m.Seal())
	b.journal, b.stored = append([]engine.Effect(nil), from.journal...), from.stored
	b.reopen()
}

// reopen opens what is on the disk, without the journal.
func (b *bench) reopen() {
	e, _, err := b.open(b.options())
	require.NoError(b, err)
	b.e = e
}

// same demands that two engines show the same.
func (b *bench) same(want *bench) {
	b.Helper()
	f, w := b.e.Facts(), want.e.Facts()
	f.Front, w.Front = 0, 0 // of the disk, not of the state
	w.Previous = f.Previous
	require.Equal(b, w, f)
	require.Equal(b, append([]engine.BookmarkEntry{}, want.e.Bookmarks()...), append([]engine.BookmarkEntry{}, b.e.Bookmarks()...))
	require.Equal(b, b.records(want.e), b.records(b.e))
}

func (b *bench) records(e engine.Engine) []op.Record {
	rs, err := e.Read(e.Facts().Start, 1<<30)
	require.NoError(b, err)
	return rs
}

func exportNothing(b *bench, _ Import) {
	_, err := b.e.Export()
	require.ErrorIs(b, err, engine.ErrNoPoint)
	b.append(2)
	_, err = b.e.Export()
	require.ErrorIs(b, err, engine.ErrNoPoint, "it is not durable")
	x := b.export("")
	require.EqualValues(b, 2, x.Point().End)
}

func importShows(b *bench, imp Import) {
	for _, size := range []int{1, 100, 1 << 20} {
		src := newBench(b.T, b.open)
		src.history()
		x := src.export("sessions")
		r := src.receiver()
		m := imp(r.importOptions(), x.Point())
		require.NoError(b, m.Begin())
		require.True(b, r.fill(m, x, size, 1<<20))
		r.finish(m.Seal())
		r.disk.PowerLoss(r.power) // all of it is durable
		r.reopen()
		r.same(src)
		require.Greater(b, r.check(), 1, "a boot takes it on trust, as if it had been written here")
		require.Equal(b, "sessions", string(r.e.Extra()))
		require.Equal(b, r.e.Facts().Applied, r.e.Facts().Front)
	}
	b.append(3)
	b.cut(-1)
	x := b.export("")
	require.Empty(b, x.Point().Pieces, "no message is left")
	r := b.receiver()
	r.take(imp, x, b)
	r.same(b)
}

func importGoesOn(b *bench, imp Import) {
	b.history()
	r := b.receiver()
	r.take(imp, b.export(""), b)
	b.append(3)
	b.store(consumer, 21)
	b.purge(4)
	b.append(2)
	r.journal, r.stored = b.journal, b.stored
	require.Less(b, r.e.Facts().Applied, b.e.Facts().Applied)
	at := r.e.Facts().Applied
	for n := at + 1; n <= b.highest(); n++ {
		if n == b.highest()-1 { // the purge
			r.finish(r.e.Purge(n, 4, nil))
			if r.e.Facts().Applied == n {
				continue
			}
		}
		require.NoError(b, r.e.Apply(n, b.journal[n-2]))
	}
	r.same(b)
	r.finish(r.e.Checkpoint(nil))
	r.reclaim()
	r.disk.PowerLoss(r.power)
	r.reopen()
	r.same(b)
}

func exportStays(b *bench, imp Import) {
	b.history()
	x := b.export("")
	quiet := newBench(b.T, b.open)
	quiet.history()
	b.append(40)
	b.checkpoint()
	b.reclaim()
	b.append(40)
	b.checkpoint()
	b.reclaim()
	r := b.receiver()
	r.take(imp, x, quiet)
	r.same(quiet)
}

// payloads are all those of the chunks of an export.
func (b *bench) payloads(x engine.Export) (out []op.Payload) {
	for i, p := range x.Point().Pieces {
		for at := int64(segment.FirstByte); at < p.Size; {
			data, err := x.Read(i, at, 100)
			require.NoError(b, err)
			sent, err := segment.Messages(data)
			require.NoError(b, err)
			for _, m := range sent {
				out = append(out, m.Payload)
			}
			at += int64(len(data))
		}
	}
	return out
}

// exportCut: wherever the start lies, every chunk is searched for what lies below it.
func exportCut(b *bench, imp Import) {
	for i := range 30 {
		b.append(1 + i%4)
	}
	end := b.e.Facts().End
	for start := op.Offset(0); start <= end; start++ {
		b.cut(start)
		x := b.export("")
		var want []op.Payload
		for _, r := range b.records(b.e) {
			want = append(want, r.Payload)
		}
		require.Equal(b, want, b.payloads(x), "from %d", start)
		if start%5 == 3 {
			r := b.receiver()
			r.take(imp, x, b)
			r.same(b)
			again := r.export("").Point()
			require.Equal(b, x.Point().Pieces, again.Pieces, "who took it offers the same")
			b.reclaim()
		}
	}
}

// exportDeleted: what is deleted after an export was made cannot be read of it any more,
// be its file there or not; what is left can. Nothing new is exported before the next
// checkpoint.
func exportDeleted(b *bench, _ Import) {
	for range 30 {
		b.append(3)
	}
	x := b.export("")
	for i, p := range x.Point().Pieces {
		data, err := x.Read(i, segment.FirstByte, 1)
		require.NoError(b, err)
		b.cut(p.Base + 1)
		_, err = x.Read(i, segment.FirstByte, 1)
		require.ErrorIs(b, err, engine.ErrGone)
		_, err = x.Read(i, segment.FirstByte+int64(len(data)), 1)
		require.NoError(b, err)
		_, err = b.e.Export()
		require.ErrorIs(b, err, engine.ErrNoPoint)
		b.cut(p.End)
		b.checkpoint()
		b.reclaim()
		_, err = x.Read(i, p.Size-1, 1)
		require.ErrorIs(b, err, engine.ErrGone)
	}
	require.Empty(b, b.export("").Point().Pieces)
}

// exportPurged: the new generation has a file of the same name, other messages in it.
func exportPurged(b *bench, imp Import) {
	for range 4 {
		b.append(3)
	}
	x := b.export("")
	_, err := x.Read(0, segment.FirstByte, 1)
	require.NoError(b, err)
	b.purge(1)
	for range 4 {
		b.append(3)
	}
	b.checkpoint()
	_, err = x.Read(0, segment.FirstByte, 1)
	require.ErrorIs(b, err, engine.ErrGone)
	x.Release()
	b.reclaim()
	r := b.receiver()
	r.take(imp, b.export(""), b)
	r.same(b)
}

func exportAfterBoot(b *bench, _ Import) {
	b.history()
	want := *b.export("sessions").Point()
	for _, power := range []bool{false, true} {
		b.append(2) // above the checkpoint
		b.crash(power)
		x, err := b.e.Export()
		require.NoError(b, err)
		require.Equal(b, want, *x.Point())
	}
}

func importResumes(b *bench, imp Import) {
	b.history()
	x := b.export("sessions")
	for stop := 1; ; stop++ {
		for _, power := range []bool{false, true} {
			r := b.receiver()
			m := imp(r.importOptions(), x.Point())
			require.NoError(b, m.Begin())
			whole := r.fill(m, x, 1, stop)
			if power {
				r.disk.PowerLoss(r.power)
			} else {
				r.disk.ProcessCrash()
			}
			m = imp(r.importOptions(), x.Point())
			require.NoError(b, m.Begin())
			in, err := m.Messages()
			require.NoError(b, err)
			piece, at, _ := in.Want()
			in.Close()
			if !power && !whole {
				require.True(b, piece > 0 || at > segment.FirstByte, "what has arrived is kept")
			}
			require.True(b, r.fill(m, x, 1, 1<<20))
			r.finish(m.Seal())
			r.disk.PowerLoss(r.power)
			r.reopen()
			r.same(b)
			if whole && power {
				require.Greater(b, stop, 8)
				return
			}
		}
	}
}

// importReplaces: what another import left, in whatever state, does no harm.
func importReplaces(b *bench, imp Import) {
	other := newBench(b.T, b.open)
	for range 30 {
		other.append(3)
	}
	other.store(consumer, 80)
	other.purge(2)
	other.append(9)
	other.store(op.Key{ID: 33}, 8)
	b.history()
	for _, left := range []int{0, 3, 1 << 20} {
		r := b.receiver()
		y := other.export("other")
		m := imp(r.importOptions(), y.Point())
		require.NoError(b, m.Begin())
		if r.fill(m, y, 1, left) {
			r.finish(m.Seal())
		}
		x := b.export("sessions")
		r.take(imp, x, b)
		r.same(b)
		require.Equal(b, "sessions", string(r.e.Extra()))
	}
}

func exportRefusesDamage(b *bench, _ Import) {
	b.history()
	x := b.export("")
	b.reclaim() // so that only this generation has a file of the name
	for i := 1; i < len(x.Point().Pieces); i++ {
		name := b.segment(x.Point().Pieces[i].Base)
		f, err := b.disk.FS().Open(name)
		require.NoError(b, err)
		one := make([]byte, 1)
		_, err = f.ReadAt(one, segment.FirstByte+20)
		require.NoError(b, err)
		_, err = f.WriteAt("test", []byte{one[0] ^ 1}, segment.FirstByte+20)
		require.NoError(b, err)
		_, err = x.Read(i, segment.FirstByte, 100)
		require.ErrorIs(b, err, corrupt.ErrCorrupt)
	}
}
