package transfer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/model/op"
)

// TestNotDurableBeforeTheRecord: an install whose record may be durable before what
// it names is neither old nor new after a loss of power.
func TestNotDurableBeforeTheRecord(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for _, d := range []defect.Set{defect.InstallBeforeSync, defect.StagedRenameWithoutSync} {
			m := &matrix{l: l, before: older, every: 1 << 30, crashes: 1 << 30, limit: 1, defects: d}
			m.run(t)
			require.NotEmpty(t, m.reds, "%b", d)
		}
	})
}

// moved is a whole transfer to an empty replica, opened.
func moved(t *testing.T, l layout, from engine.Engine, o SenderOptions, own Own, defects defect.Set) (engine.Engine, error) {
	s, m := offered(t, from, o)
	d := newDisk(t)
	fs := d.FS()
	own.Incarnation, own.Defects = 1, defects
	p, err := Begin(PullOptions{Engine: on(fs, other, dir+"/h1", defects), Import: l.imp}, m, own)
	if err != nil {
		return nil, err
	}
	whole, err := move(s, p, 1<<20)
	require.NoError(t, err)
	require.True(t, whole)
	require.NoError(t, install(p, fs, "h1"))
	now, err := present(fs, on(fs, other, dir, 0).Identity)
	require.NoError(t, err)
	return l.open(on(fs, other, now.path(), 0))
}

func TestSessionsNotTransferred(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for _, d := range []defect.Set{0, defect.SessionsNotTransferred} {
			from := source(t, l, 0)
			e, err := moved(t, l, from, SenderOptions{Defects: d}, Own{}, 0)
			require.NoError(t, err)
			require.Equal(t, d == 0, shown(t, from) == shown(t, e))
			require.Equal(t, d == 0, string(e.Extra()) == "sessions of op 34")
		}
	})
}

// TestOldGenerationBookmarksTransferred: the folder of the generation before is still
// there when the offer is made.
func TestOldGenerationBookmarksTransferred(t *testing.T) {
	l := layouts[0]
	for _, d := range []defect.Set{0, defect.OldGenerationBookmarksTransferred} {
		from := source(t, l, d)
		e, err := moved(t, l, from, SenderOptions{}, Own{}, 0)
		require.NoError(t, err)
		_, found := e.Bookmark(op.Key{ID: 1}) // of generations 0 and 2
		require.Equal(t, d != 0, found)
		require.Equal(t, d == 0, shown(t, from) == shown(t, e))
	}
}

// TestOlderOfferAccepted: a receiver that has committed more than was offered.
func TestOlderOfferAccepted(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for _, d := range []defect.Set{0, defect.OlderOfferAccepted} {
			_, err := moved(t, l, source(t, l, 0), SenderOptions{}, Own{Committed: newerOp}, d)
			if d == 0 {
				why, _ := Refused(err)
				require.Equal(t, NotAbove, why)
				require.EqualError(t, err, "transfer: refused, not-above: op of the offer: want above 34, which is committed, got 34")
			} else {
				require.NoError(t, err)
			}
		}
	})
}

// TestOlderGenerationInstalled: a receiver that has purged more than was offered, where
// replicas need not agree.
func TestOlderGenerationInstalled(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for _, d := range []defect.Set{0, defect.OlderGenerationInstalled} {
			from := source(t, l, 0)
			_, err := moved(t, l, from, SenderOptions{}, Own{Facts: engine.Facts{Generation: from.Facts().Generation + 1}}, d)
			if d == 0 {
				why, _ := Refused(err)
				require.Equal(t, Rewinds, why)
			} else {
				require.NoError(t, err)
			}
		}
	})
}

func TestBoundaryNotRebased(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for _, d := range []defect.Set{0, defect.BoundaryNotRebased} {
			from := source(t, l, 0)
			e, err := moved(t, l, from, SenderOptions{}, Own{Facts: engine.Facts{Generation: 2, Boundary: 36}}, d)
			require.NoError(t, err)
			require.Equal(t, d == 0, e.Facts().Boundary == from.Facts().Boundary)
			// What comes next is fresh, and must be seen.
			for n := op.Number(newerOp + 1); n <= newerOp+4; n++ {
				require.NoError(t, e.Apply(n, engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"fresh"}, Timestamp: 900}))
			}
			require.Equal(t, d == 0, e.Facts().End == from.Facts().End+4)
		}
	})
}
