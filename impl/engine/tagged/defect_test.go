package tagged

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// Each defect of this package does what its name says, and without it the same
// calls do not.

// purged has two messages and a bookmark, then purge 3 at op 5.
func purged(t *testing.T, d *crashfs.Disk, defects defect.Set) *Engine {
	e := reopen(t, d, defects)
	require.NoError(t, e.Apply(2, Effect{Kind: Append, Payloads: []op.Payload{"old"}, Timestamp: 1}))
	require.NoError(t, e.Apply(3, Effect{Kind: Append, Payloads: []op.Payload{"old too"}, Timestamp: 2}))
	require.NoError(t, e.Apply(4, Effect{Kind: Store, Key: key(1), Position: op.Position{Incarnation: 1, Offset: 1}}))
	task := e.Purge(5, 3, []byte("sessions"))
	for done := false; !done; {
		var err error
		done, _, err = task.Step()
		require.NoError(t, err)
	}
	return e
}

func reopen(t *testing.T, d *crashfs.Disk, defects defect.Set) *Engine {
	e, _, err := Open(Options{FS: d.FS(), Dir: "p0", Identity: me, Defects: defects, HighestOp: func() op.Number { return 7 }})
	require.NoError(t, err)
	return e
}

func messages(t *testing.T, e *Engine) []op.Payload {
	out := []op.Payload{}
	recs, err := e.Read(e.Facts().Start, 100)
	require.NoError(t, err)
	for _, r := range recs {
		out = append(out, r.Payload)
	}
	return out
}

func TestLocalBoundaryHidesFreshMessages(t *testing.T) {
	for defects, want := range map[defect.Set][]op.Payload{
		0:                    {"six", "seven", "eight"},
		defect.LocalBoundary: {"eight"},
	} {
		d := crashfs.New()
		e := purged(t, d, defects)
		for i, p := range []op.Payload{"six", "seven", "eight"} {
			require.NoError(t, e.Apply(op.Number(6+i), Effect{Kind: Append, Payloads: []op.Payload{p}, Timestamp: 3}))
		}
		require.Equal(t, want, messages(t, e))
	}
}

// TestCheckpointBeforeSyncNamesWhatIsLost: what the record says to be there must be there,
// so the disk that a loss of power leaves is refused.
func TestCheckpointBeforeSyncNamesWhatIsLost(t *testing.T) {
	for _, defects := range []defect.Set{0, defect.CheckpointBeforeSync} {
		d := crashfs.New()
		e := reopen(t, d, defects)
		require.NoError(t, e.Apply(2, Effect{Kind: Append, Payloads: []op.Payload{"fresh"}, Timestamp: 1}))
		task := e.Checkpoint(nil)
		for done := false; !done; {
			var err error
			done, _, err = task.Step()
			require.NoError(t, err)
		}
		d.PowerLossKeeping(func(crashfs.Change) bool { return false })
		e, _, err := Open(Options{FS: d.FS(), Dir: "p0", Identity: me})
		if defects != 0 {
			require.ErrorContains(t, err, "seg-00000000000000000000.log")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []op.Payload{"fresh"}, messages(t, e))
	}
}

func TestMarkerNoDirSyncTakesTheCompletionBack(t *testing.T) {
	for _, defects := range []defect.Set{0, defect.MarkerNoDirSync} {
		back := 0
		for seed := range uint64(40) {
			d := crashfs.New()
			purged(t, d, defects)
			d.PowerLoss(rand.New(rand.NewPCG(seed, 0)))
			if e := reopen(t, d, defects); e.Facts().Generation != 3 {
				back++
			}
		}
		require.Equal(t, defects != 0, back > 0)
	}
}

// TestCompleteEarlyNamesNoFolder: a crash before the folder is made leaves a marker that
// names it, and no boot begins with that.
func TestCompleteEarlyNamesNoFolder(t *testing.T) {
	for _, defects := range []defect.Set{0, defect.CompleteEarly} {
		d := crashfs.New()
		task := reopen(t, d, defects).Purge(2, 3, nil)
		d.Arm(func(l vfs.Label, _ string) crashfs.Action {
			if l == "purge.switch.mkdir" {
				return crashfs.CrashBefore
			}
			return crashfs.Continue
		})
		var err error
		for err == nil {
			_, _, err = task.Step()
		}
		d.ProcessCrash()
		_, _, err = Open(Options{FS: d.FS(), Dir: "p0", Identity: me})
		require.Equal(t, defects != 0, err != nil, "%v", err)
	}
}

func TestBookmarkGenerationIgnoredResurrects(t *testing.T) {
	for _, defects := range []defect.Set{0, defect.BookmarkGenerationIgnored} {
		d := crashfs.New()
		purged(t, d, defects)
		d.ProcessCrash()
		_, found := reopen(t, d, defects).Bookmark(key(1))
		require.Equal(t, defects != 0, found)
	}
}

// TestFutureBookmarksAreThereTooSoon: a bookmark of an op that a boot has yet to replay
// counts before that op.
func TestFutureBookmarksAreThereTooSoon(t *testing.T) {
	for _, defects := range []defect.Set{0, defect.FutureBookmarks} {
		d := crashfs.New()
		e := reopen(t, d, defects)
		require.NoError(t, e.Apply(2, Effect{Kind: Append, Payloads: []op.Payload{"read"}, Timestamp: 1}))
		require.NoError(t, e.Apply(3, Effect{Kind: Store, Key: key(1), Position: op.Position{Incarnation: 1}}))
		d.ProcessCrash()
		e = reopen(t, d, defects)
		require.EqualValues(t, 1, e.Facts().Applied)
		_, found := e.Bookmark(key(1))
		require.Equal(t, defects != 0, found)
	}
}

func TestReplayBelowBoundaryResurrects(t *testing.T) {
	for _, defects := range []defect.Set{0, defect.ReplayBelowBoundary} {
		d := crashfs.New()
		e := purged(t, d, defects)
		require.NoError(t, e.Apply(6, Effect{Kind: Append, Payloads: []op.Payload{"fresh"}, Timestamp: 3}))
		d.ProcessCrash()
		e = reopen(t, d, defects)
		want := []op.Payload{"fresh"}
		if defects != 0 {
			require.EqualValues(t, 1, e.Facts().Applied)
			require.NoError(t, e.Apply(2, Effect{Kind: Append, Payloads: []op.Payload{"old"}, Timestamp: 1}))
			for n := op.Number(3); n < 6; n++ {
				require.NoError(t, e.Apply(n, Effect{}))
			}
			want = []op.Payload{"old", "fresh"}
		}
		require.EqualValues(t, 5, e.Facts().Applied)
		require.NoError(t, e.Apply(6, Effect{Kind: Append, Payloads: []op.Payload{"fresh"}, Timestamp: 3}))
		require.Equal(t, want, messages(t, e))
	}
}
