package replica

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

var policies = []Policy{{}, {Messages: Replicated}, {Bookmarks: Replicated}, {Messages: Replicated, Bookmarks: Replicated}}

func TestParseDurability(t *testing.T) {
	for _, d := range []Durability{Persisted, Replicated} {
		got, err := ParseDurability(d.String())
		require.NoError(t, err)
		require.Equal(t, d, got)
	}
	_, err := ParseDurability("eventually")
	require.ErrorContains(t, err, "want one of [persisted replicated]")
}

// Each replica has synced its journal when it acknowledges an op that is
// persisted, and has not for one that is replicated.
func TestWhatIsSynced(t *testing.T) {
	for _, p := range policies {
		for _, n := range []int{1, 3} {
			c := newClusterOf(t, n, func(cfg *Config) { cfg.Policy = p })
			c.elect()
			syncs := 0
			for _, d := range c.disks {
				d.Arm(func(l vfs.Label, _ string) crashfs.Action {
					if strings.HasPrefix(string(l), "journal.") && strings.Contains(string(l), "sync") {
						syncs++
					}
					return crashfs.Continue
				})
			}
			for _, step := range []struct {
				req *op.Request
				of  Durability
			}{
				{&op.Request{Kind: op.Append, Payloads: []op.Payload{"a"}}, p.Messages},
				{&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1}}, p.Bookmarks},
				{&op.Request{Kind: op.Append, Payloads: []op.Payload{"b"}}, p.Messages},
				{&op.Request{Kind: op.Poll, AutoCommit: true, Max: 9}, p.Bookmarks},
				{&op.Request{Kind: op.Register}, p.Messages},
				{&op.Request{Kind: op.DeleteBookmark}, p.Bookmarks},
				{&op.Request{Kind: op.DeleteRecords, At: op.Position{Incarnation: 1, Offset: 1}}, p.Messages},
				{&op.Request{Kind: op.Purge, Intent: 1}, min(p.Messages, p.Bookmarks)},
			} {
				syncs = 0
				require.Equal(t, op.OK, c.do(step.req).Code)
				want := n
				if step.of == Replicated {
					want = 0
				}
				require.Equal(t, want, syncs, "%v of %+v, %d replicas", step.req.Kind, p, n)
			}
			require.Equal(t, "ok i1:g1:0", c.first())
			for id := range c.disks {
				c.crash(id+1, false)
				require.NoError(t, c.boot(id+1), "a crash of the process takes nothing")
			}
			c.elect()
			require.Equal(t, "ok i1:g1:0", c.first())
		}
	}
}

// One sync serves all that waits for it, and what need not wait goes along.
func TestOneSyncForMany(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { cfg.Policy = Policy{Messages: Replicated} })
	c.elect()
	syncs := 0
	c.disks[0].Arm(func(l vfs.Label, _ string) crashfs.Action {
		if l == "journal.sync" {
			syncs++
		}
		return crashfs.Continue
	})
	c.append("a")
	var tokens []uint64
	for range 5 {
		tokens = append(tokens, c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"b"}}), c.ask(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1}}))
	}
	c.settle()
	for _, token := range tokens {
		require.Equal(t, op.OK, c.answers[token].Code)
	}
	require.Equal(t, 1, syncs)
	require.Equal(t, c.replicas[0].jr.Last(), c.replicas[0].jr.Synced())
}
