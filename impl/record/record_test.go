package record

import (
	"errors"
	"math/rand/v2"
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
)

var me = Identity{Cluster: 7, Partition: 1, Replica: 2, Incarnation: 1}

func TestFiveAnswers(t *testing.T) {
	d := crashfs.New()
	fs := d.FS()
	_, a, err := Read(fs, "m", me)
	require.NoError(t, err)
	require.Equal(t, Absent, a)

	require.NoError(t, Write(fs, "t", "m", me, []byte("value")))
	v, a, err := Read(fs, "m", me)
	require.NoError(t, err)
	require.Equal(t, Value, a)
	require.Equal(t, "value", string(v))

	other := me
	other.Incarnation = 2
	_, a, err = Read(fs, "m", other)
	require.Equal(t, Foreign, a)
	var foreign *ForeignError
	require.ErrorAs(t, err, &foreign)
	require.Equal(t, "record: m belongs to another replica: want 7/p1/r2/i2, got 7/p1/r2/i1", err.Error())

	f, err := fs.Open("m")
	require.NoError(t, err)
	_, err = f.WriteAt("t", []byte("V"), 32)
	require.NoError(t, err)
	_, a, err = Read(fs, "m", me)
	require.Equal(t, Damaged, a)
	require.ErrorIs(t, err, corrupt.ErrCorrupt)

	d.ProcessCrash()
	_, a, err = Read(fs, "m", me)
	require.Equal(t, IOError, a)
	require.ErrorIs(t, err, vfs.ErrCrashed)
}

// TestEveryByteCounts flips each byte and cuts at each length.
func TestEveryByteCounts(t *testing.T) {
	good := Encode(me, []byte("a small value"))
	for i := range good {
		bad := append([]byte{}, good...)
		bad[i] ^= 0x20
		_, _, err := Decode("m", bad)
		var c *corrupt.Error
		require.ErrorAs(t, err, &c, "byte %d", i)
		require.Equal(t, "m", c.File)
		require.NotEqual(t, c.Want, c.Got)
		_, _, err = Decode("m", good[:i])
		require.ErrorAs(t, err, &c, "length %d", i)
	}
	_, _, err := Decode("m", append(good, 0))
	require.ErrorIs(t, err, corrupt.ErrCorrupt)
}

func TestRoundTrip(t *testing.T) {
	f := fuzz.NewWithSeed(1).NilChance(0.1).NumElements(0, 300)
	for range 500 {
		var id Identity
		var value []byte
		f.Fuzz(&id)
		f.Fuzz(&value)
		gotID, got, err := Decode("m", Encode(id, value))
		require.NoError(t, err)
		require.Equal(t, id, gotID)
		require.Equal(t, string(value), string(got))
	}
}

// TestOldOrNewAtEveryCrashPoint stops a replacement at each call, before and
// after it, loses power, and expects one whole value; the new one if Write
// returned nil.
func TestOldOrNewAtEveryCrashPoint(t *testing.T) {
	for seed := range uint64(30) {
		for point := 0; point < 14; point++ {
			d := crashfs.New()
			require.NoError(t, Write(d.FS(), "t", "m", me, []byte("old")))
			n := 0
			d.Arm(func(vfs.Label, string) crashfs.Action {
				n++
				switch {
				case n == point/2+1 && point%2 == 0:
					return crashfs.CrashBefore
				case n == point/2+1:
					return crashfs.CrashAfter
				}
				return crashfs.Continue
			})
			err := Write(d.FS(), "t", "m", me, []byte("new"))
			d.Arm(nil)
			if err != nil {
				require.True(t, errors.Is(err, vfs.ErrCrashed))
			}
			d.PowerLoss(rand.New(rand.NewPCG(seed, uint64(point))))
			v, a, rerr := Read(d.FS(), "m", me)
			require.NoError(t, rerr)
			require.Equal(t, Value, a)
			if err == nil {
				require.Equal(t, "new", string(v))
			} else {
				require.Contains(t, []string{"old", "new"}, string(v))
			}
			// Whatever was left behind, the next write works.
			require.NoError(t, Write(d.FS(), "t", "m", me, []byte("next")))
			d.PowerLoss(rand.New(rand.NewPCG(seed, 99)))
			v, _, rerr = Read(d.FS(), "m", me)
			require.NoError(t, rerr)
			require.Equal(t, "next", string(v))
		}
	}
}

func TestReplaceMayBeLost(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(40) {
		d := crashfs.New()
		require.NoError(t, Write(d.FS(), "t", "m", me, []byte("old")))
		require.NoError(t, Replace(d.FS(), "t", "m", me, []byte("new")))
		d.PowerLoss(rand.New(rand.NewPCG(seed, 0)))
		v, _, err := Read(d.FS(), "m", me)
		require.NoError(t, err)
		seen[string(v)] = true
	}
	require.Equal(t, map[string]bool{"old": true, "new": true}, seen)
}

// Whatever call fails, the error is the disk's, the old value is there, and the next
// write succeeds. A leftover that cannot be looked for is not written over: it may be
// a file whose sync has failed.
func TestEveryCallFails(t *testing.T) {
	for nth := 1; ; nth++ {
		d := crashfs.New()
		require.NoError(t, Write(d.FS(), "t", "m", me, []byte("old")))
		_, err := d.FS().Create("t", "m.tmp")
		require.NoError(t, err)
		r := faultfs.New(faultfs.FailBefore)
		r.Nth = nth
		set := faultfs.NewSet(r)
		fs := set.Wrap(d.FS())
		err = Write(fs, "t", "m", me, []byte("new"))
		if set.Hits() == 0 {
			require.NoError(t, err)
			require.Equal(t, 8, nth, "open, remove, create, write, sync, rename, sync of the directory")
			break
		}
		require.ErrorIs(t, err, faultfs.ErrInjected)
		v, a, err := Read(d.FS(), "m", me)
		require.NoError(t, err)
		require.Equal(t, Value, a)
		require.Equal(t, nth == 7, string(v) == "new", "call %d: %s", nth, v)
		require.NoError(t, Write(fs, "t", "m", me, []byte("new")))
	}
	for _, call := range []string{"open", "read"} {
		d := crashfs.New()
		require.NoError(t, Write(d.FS(), "t", "m", me, []byte("old")))
		r := faultfs.New(faultfs.FailBefore)
		r.Op = call
		_, a, err := Read(faultfs.NewSet(r).Wrap(d.FS()), "m", me)
		require.ErrorIs(t, err, faultfs.ErrInjected)
		require.Equal(t, IOError, a, "nothing is known")
	}
}
