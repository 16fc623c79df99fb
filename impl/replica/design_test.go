package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/model/op"
)

func TestParseDesign(t *testing.T) {
	for _, d := range []Design{Ordered, ResetRecord, Advance} {
		got, err := ParseDesign(d.String())
		require.NoError(t, err)
		require.Equal(t, d, got)
	}
	_, err := ParseDesign("legacy")
	require.ErrorContains(t, err, "want one of [ordered reset-record advance]")
}

// In the design advance a purge is numbered, repeatable, and moves the start.
func TestAdvance(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.cfg.Design = Advance
	require.NoError(t, c.boot(1))
	c.elect()
	s := c.do(&op.Request{Kind: op.Register}).Session
	c.append("a", "b", "c")
	require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1, Offset: 0}}).Code)
	purge := &op.Request{Kind: op.Purge, Session: s, Sequence: 1}
	want := op.Reply{Position: op.Position{Incarnation: 1, Offset: 3}}
	require.Equal(t, want, c.do(purge))
	c.append("d")
	require.Equal(t, want, c.do(purge), "a repeat takes nothing")
	require.Equal(t, "ok i1:g0:3 d", c.first())
	require.Equal(t, op.Position{Incarnation: 1}, c.do(&op.Request{Kind: op.GetBookmark}).Position, "bookmarks stay")
	next := func(r op.Reset) string {
		return show(c.do(&op.Request{Kind: op.Poll, Strategy: op.Next, Reset: r, Max: 9}))
	}
	require.Equal(t, "ok i1:g0:3 d", next(op.Earliest))
	require.Equal(t, "ok i1:g0:4", next(op.Latest))
	require.Equal(t, "offset-out-of-range i1:g0:-1", next(op.Fail))
	require.Equal(t, op.BadRequest, c.do(&op.Request{Kind: op.Purge, Session: s}).Code, "half an identity")
	require.Equal(t, op.Mismatch, c.do(&op.Request{Kind: op.Purge, Expected: &op.Position{Incarnation: 1, Offset: 9}}).Code)
	c.crash(1, true)
	require.NoError(t, c.boot(1))
	c.elect()
	require.Equal(t, "ok i1:g0:3 d", c.first())
	require.Equal(t, want, c.do(purge), "also after a power loss")
}

// A bookmark above the end, which must not be there, reads nothing.
func TestPlanAboveTheEnd(t *testing.T) {
	_, n, refusal, err := plan(above{}, &op.Request{Kind: op.Poll, Strategy: op.Next, Max: 5})
	require.NoError(t, err)
	require.Nil(t, refusal)
	require.Zero(t, n)
}

// above is an empty partition with a bookmark at 7.
type above struct{}

func (above) Facts() engine.Facts { return engine.Facts{Incarnation: 1} }

func (above) Bookmark(op.Key) (op.Position, bool) {
	return op.Position{Incarnation: 1, Offset: 7}, true
}

func (above) FirstAt(op.Timestamp) (op.Offset, op.Timestamp, bool, error) { return 0, 0, false, nil }

func TestVariantsPrintAsTheyAreRead(t *testing.T) {
	for _, list := range []string{"", "keep-floor", "tagged-bookmarks,keep-floor,retry-sync"} {
		v, err := ParseVariants(list)
		require.NoError(t, err)
		require.Equal(t, list, v.String())
	}
	v, err := ParseVariants("retry-sync,tagged-bookmarks")
	require.NoError(t, err)
	require.Equal(t, Variants{TaggedBookmarks: true, RetrySync: true}, v)
	_, err = ParseVariants("keep-floor,")
	require.EqualError(t, err, `variant "": want any of tagged-bookmarks, keep-floor, retry-sync`)
}
