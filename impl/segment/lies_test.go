package segment

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// A disk that says it wrote, and did not, or elsewhere, or wrong: a reader is never
// given another message than the one that was stored; a boot refuses if a checkpoint
// says that the messages are durable, and otherwise cuts them off, so that replay
// stores them again. All batches are of one size, so that a misdirected one may
// stand exactly where another should.
func TestDiskThatLies(t *testing.T) {
	const batches = 6
	size := int(newBatch(t))
	for _, lie := range []faultfs.Rule{
		{Action: faultfs.DropWrite}, {Action: faultfs.BitFlip, Op: "write", Arg: 98, Bit: 2},
		{Action: faultfs.Misdirect, Arg: size}, {Action: faultfs.Misdirect, Arg: -size}, {Action: faultfs.Misdirect, Arg: 512}, {Action: faultfs.Misdirect, Arg: -7},
	} {
		for nth := 1; nth <= batches; nth++ {
			if nth == 1 && lie.Arg < 0 {
				continue // there is nothing before it
			}
			lie.Nth, lie.Times, lie.Label = nth, 1, "segment"
			d := newDisk(t)
			set := faultfs.NewSet(lie)
			o := options(set.Wrap(d.FS()))
			o.SegmentBytes = 1 << 20
			l, _, err := Open(o)
			require.NoError(t, err)
			for n := op.Number(2); n < 2+batches; n++ {
				require.NoError(t, l.Append(n, op.Offset(n-2), 1, []op.Payload{"same"}))
			}
			require.Equal(t, 1, set.Hits(), "%v", lie)
			wrong := 0
			for at := op.Offset(0); at < batches; at++ {
				recs, err := l.Read(at, batches, 1)
				if err != nil {
					require.ErrorIs(t, err, corrupt.ErrCorrupt, "%v", lie)
					wrong++
					continue
				}
				require.Equal(t, []op.Record{{Payload: "same", Timestamp: 1}}, recs)
			}
			require.Positive(t, wrong, "%v", lie)
			_, _, err = l.SyncNext(0, batches)
			require.NoError(t, err)

			// Nothing says that they are durable: they are cut off, and come again.
			c := reopened(t, d)
			unproved := o
			unproved.FS = c.FS()
			k, r, err := Open(unproved)
			require.NoError(t, err)
			require.True(t, r.Torn != nil || nth == batches, "%v", lie)
			for n := op.Number(2); n < 2+batches; n++ {
				require.NoError(t, k.Append(n, op.Offset(n-2), 1, []op.Payload{"same"}), "%v", lie)
			}
			recs, err := k.Read(0, batches, batches)
			require.NoError(t, err)
			require.Len(t, recs, batches)

			proved := o
			proved.FS, proved.End, proved.Applied, proved.Timestamp = reopened(t, d).FS(), batches, 1+batches, 1
			_, _, err = Open(proved)
			require.ErrorIs(t, err, corrupt.ErrCorrupt, "%v", lie)
		}
	}
}

// newBatch is how long a batch of the test is.
func newBatch(t *testing.T) int64 {
	d := newDisk(t)
	l, _, err := Open(options(d.FS()))
	require.NoError(t, err)
	require.NoError(t, l.Append(2, 0, 1, []op.Payload{"same"}))
	return l.files[0].size - fileHeader
}

// reopened is the disk after a power loss that kept the names.
func reopened(t *testing.T, d *crashfs.Disk) *crashfs.Disk {
	c := d.Clone()
	require.NoError(t, c.FS().SyncDir("t", "g"))
	c.PowerLossAs(nil)
	return c
}

// Reads that are wrong though the medium is right: nothing is answered, and the
// next read is right.
func TestReadsThatLie(t *testing.T) {
	for _, rule := range []string{"bit-flip op=read at=3", "bit-flip op=read at=45 bit=7", "stale-read", "fail-before op=read"} {
		r, err := faultfs.Parse(rule)
		require.NoError(t, err)
		d := newDisk(t)
		set := faultfs.NewSet(r)
		l, _, err := Open(options(set.Wrap(d.FS())))
		require.NoError(t, err)
		require.NoError(t, l.Append(2, 0, 1, []op.Payload{"a"}))
		_, err = l.Read(0, 1, 1)
		require.Error(t, err, rule)
		require.Equal(t, rule == "fail-before op=read", errors.Is(err, faultfs.ErrInjected), "%v", err)
		recs, err := l.Read(0, 1, 1)
		require.NoError(t, err)
		require.Equal(t, []op.Record{{Payload: "a", Timestamp: 1}}, recs)
	}
}
