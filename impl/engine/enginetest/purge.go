package enginetest

import (
	"errors"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

var consumer, group = op.Key{ID: 1}, op.Key{Kind: op.Group, ID: 1}

func purgeBeginsEmpty(b *bench) {
	b.append(5)
	b.store(consumer, 4)
	b.store(group, 2)
	b.checkpoint()
	b.purge(3)
	empty := func() {
		b.Helper()
		b.holds(0, 0, 5)
		require.Empty(b, b.e.Bookmarks())
		require.EqualValues(b, 3, b.e.Facts().Generation)
		require.EqualValues(b, 3, b.e.Facts().Settled)
		require.Nil(b, b.e.Facts().Pending)
	}
	empty()
	b.reclaim()
	empty()
	for _, power := range []bool{false, true} {
		b.crash(power)
		empty()
	}
	b.append(2)
	b.store(group, 1)
	b.holds(0, 2, 5)
	b.crash(true)
	b.holds(0, 2, 5)
	require.Len(b, b.e.Bookmarks(), 1)
}

// purgeCrashes takes the power at every disk call of a purge and of the reclaim
// after it. What a boot finds is all of the old generation or all of the new.
func purgeCrashes(b *bench) {
	for call := 1; ; call++ {
		x := newBench(b.T, b.open)
		x.append(5)
		x.store(consumer, 4)
		x.checkpoint()
		left := call
		x.disk.Arm(func(vfs.Label, string) crashfs.Action {
			if left--; left == 0 {
				return crashfs.CrashBefore
			}
			return crashfs.Continue
		})
		n := x.highest() + 1
		t := x.e.Purge(n, 1, nil)
		var err error
		for done := false; !done && err == nil; {
			done, _, err = t.Step()
		}
		for more := true; more && err == nil; {
			var r engine.Reclaimed
			r, err = x.e.Reclaim()
			more = r.More
		}
		x.disk.Arm(nil)
		if err == nil {
			require.Greater(b, call, 5)
			return // the call was never reached
		}
		require.True(b, errors.Is(err, vfs.ErrCrashed), err)
		x.disk.PowerLoss(x.power)
		e, _, err := x.open(x.options())
		require.NoError(b, err, "call %d", call)
		x.e = e
		if e.Facts().Pending != nil { // the caller comes to the purge again
			x.finish(e.Purge(n, 1, nil))
		}
		f := e.Facts()
		require.Nil(b, f.Pending)
		if f.Generation == 1 {
			x.holds(0, 0, 5)
			require.Empty(b, e.Bookmarks(), "call %d", call)
		} else {
			require.Len(b, e.Bookmarks(), 1)
		}
		x.reclaim()
	}
}

// crashes compares an engine that crashes again and again with one that never
// does, over the same ops.
func crashes(b *bench) {
	quiet := newBench(b.T, b.open)
	for i := range 60 {
		for _, x := range []*bench{b, quiet} {
			switch i % 6 {
			case 0, 2:
				x.append(1 + i%4)
			case 1:
				x.store(consumer, x.e.Facts().End-1)
			case 3:
				x.store(group, x.e.Facts().Start)
			case 4:
				x.cut(x.e.Facts().End - 2)
			case 5:
				if _, ok := x.e.Bookmark(group); ok {
					x.apply(engine.Effect{Kind: engine.Delete, Key: group})
				}
			}
			if i%13 == 12 {
				x.checkpoint()
				x.reclaim()
			}
		}
		if i%7 == 6 {
			b.crash(i%2 == 0)
		}
		f, want := b.e.Facts(), quiet.e.Facts()
		require.Equal(b, []any{want.Applied, want.Start, want.End, want.LastTimestamp}, []any{f.Applied, f.Start, f.End, f.LastTimestamp})
		b.holds(f.Start, f.End, 0)
		require.Equal(b, quiet.e.Bookmarks(), b.e.Bookmarks())
	}
}
