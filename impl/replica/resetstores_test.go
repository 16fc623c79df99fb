package replica

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// howStored are the ways in which a bookmark is set.
var howStored = []string{"unacknowledged", "quorum", "auto-commit"}

// setBookmark sets a bookmark in a way, and tells the answer.
func (c *cluster) setBookmark(how string, k op.Key, s op.Session, n op.Sequence, to op.Offset) op.Reply {
	store := c.store(to)
	store.Key = k
	switch how {
	case "quorum":
		store.Session, store.Sequence = s, n
	case "auto-commit":
		store = &op.Request{Kind: op.Poll, Key: k, Max: uint32(to + 1), AutoCommit: true, Session: s, Sequence: n}
	}
	return c.do(store)
}

// Both kinds of bookmarks, under both policies for them, set in each way: before a
// purge, during its cleanup and after it; then a crash of the process, or a loss of
// power after which this policy promises something. No bookmark of the era before
// is ever there, none of the new one is lost that was acknowledged, and what comes
// during the cleanup is held or refused as this way is.
func TestResetRecordBookmarks(t *testing.T) {
	for _, kind := range []op.ConsumerKind{op.Consumer, op.Group} {
		for _, bookmarks := range []Durability{Persisted, Replicated} {
			for _, how := range howStored {
				for _, checkpoint := range []int{1, 1000} {
					t.Run(fmt.Sprint(kind, bookmarks, how, checkpoint), func(t *testing.T) {
						c := newClusterOf(t, 1, func(cfg *Config) {
							cfg.Design, cfg.Policy, cfg.CheckpointOps = ResetRecord, Policy{Messages: bookmarks, Bookmarks: bookmarks}, checkpoint
						})
						c.elect()
						s := c.do(&op.Request{Kind: op.Register}).Session
						k := op.Key{Kind: kind, ID: 7}
						at := func() op.Reply { return c.do(&op.Request{Kind: op.GetBookmark, Key: k}) }
						next := func() string { return show(c.do(&op.Request{Kind: op.Poll, Key: k, Max: 9})) }
						boot := func(power bool) {
							c.crash(1, power)
							require.NoError(t, c.boot(1))
							c.elect()
						}

						c.append("a", "b", "c")
						require.Equal(t, op.OK, c.setBookmark(how, k, s, 1, 2).Code)
						require.EqualValues(t, 2, at().Position.Offset)
						boot(false)

						// The cleanup cannot go on.
						c.breaks(1, "fail-before label=purge.bookmark.unlink times=0")
						purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
						c.settle()
						require.NotContains(t, c.answers, purge)
						require.Equal(t, op.OK, c.append("d", "e").Code)
						require.False(t, at().Found)
						require.Equal(t, "ok i1:g1:0 d e", next())
						var held uint64
						if how == "quorum" {
							store := c.store(0)
							store.Key, store.Session, store.Sequence = k, s, 2
							held = c.ask(store)
							c.settle()
							require.NotContains(t, c.answers, held)
						} else {
							require.Equal(t, op.Transient, c.setBookmark(how, k, s, 2, 0).Code)
						}

						c.faults[0].Clear()
						require.Equal(t, op.OK, c.wait(purge, 100).Code)
						if held != 0 {
							require.Equal(t, op.OK, c.wait(held, 10).Code)
							require.Equal(t, "ok i1:g1:1 e", next())
						} else {
							require.False(t, at().Found)
						}
						require.Equal(t, op.OK, c.setBookmark(how, k, s, 3, 1).Code)
						require.EqualValues(t, 1, at().Position.Offset)
						boot(bookmarks == Persisted)
						require.Equal(t, op.Position{Incarnation: 1, Generation: 1, Offset: 1}, at().Position)
						require.Equal(t, "ok i1:g1:2", next())
						if bookmarks == Replicated {
							boot(true)
							require.False(t, at().Found, "gone with its messages")
							require.Equal(t, "ok i1:g1:0", next())
						}
					})
				}
			}
		}
	}
}
