package enginetest

import (
	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// trusted fills a bench, checkpoints it and boots: most of its files are taken on trust.
// It returns the first of them.
func (b *bench) trusted() string {
	b.append(2)
	b.purge(1)
	for range 12 {
		b.append(3)
	}
	b.checkpoint()
	b.reclaim()
	file := b.segment(0)
	b.crash(true)
	return file
}

// bootTakesOnTrust: a boot does not read all messages, and they are all there.
func bootTakesOnTrust(b *bench) {
	b.trusted()
	require.Greater(b, b.check(), 3, "a part a call")
	b.holds(0, 36, 2)
	b.crash(false)
	b.cut(10)
	b.append(4)
	b.checkpoint()
	b.reclaim()
	b.check() // files that are gone are not missed
	b.holds(10, 40, 2)
}

// check goes on until nothing is left, and returns how many calls it took.
func (b *bench) check() int {
	for calls := 1; ; calls++ {
		more, err := b.e.Check()
		require.NoError(b, err)
		if !more {
			return calls
		}
	}
}

// trustedAndDamaged: damage of what a boot took on trust is neither answered nor
// exported, and Check finds it.
func trustedAndDamaged(b *bench) {
	const batches = 3 * segment.FirstByte // of the file, more or less
	for _, at := range []int64{segment.FirstByte, segment.FirstByte + 45, batches} {
		b := newBench(b.T, b.open)
		file := b.trusted()
		f, err := b.disk.FS().Open(file)
		require.NoError(b, err)
		size, err := f.Size()
		require.NoError(b, err)
		require.Greater(b, size, at)
		require.NoError(b, b.disk.Rot(file, at, 4))
		b.crash(false)
		x, err := b.e.Export()
		require.NoError(b, err)
		_, err = b.e.Read(0, 1)
		require.ErrorIs(b, err, corrupt.ErrCorrupt)
		_, _, _, err = b.e.FirstAt(0)
		require.ErrorIs(b, err, corrupt.ErrCorrupt)
		err = nil
		for at := int64(segment.FirstByte); err == nil && at < size; {
			var data []byte
			data, err = x.Read(0, at, 1)
			at += int64(len(data))
		}
		require.ErrorIs(b, err, corrupt.ErrCorrupt)
		for more := true; more; {
			if more, err = b.e.Check(); err != nil {
				break
			}
		}
		require.ErrorIs(b, err, corrupt.ErrCorrupt)
		end := b.e.Facts().End
		recs, err := b.e.Read(end-1, 1)
		require.NoError(b, err)
		require.Equal(b, op.Payload("message 37"), recs[0].Payload)
	}
}
