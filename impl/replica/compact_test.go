package replica

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// compacting is a configuration of which journals stay short.
func compacting(cfg *Config) {
	cfg.CheckpointOps, cfg.JournalBytes = 6, 600
	cfg.Compact = Compaction{Ops: 10, Keep: 2}
}

// journalFiles is how many files the journal of a machine has.
func (c *cluster) journalFiles(id int) int {
	names, err := c.disks[id-1].FS().List("p0/journal")
	require.NoError(c.t, err)
	n := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			n++
		}
	}
	return n
}

// Journals are compacted up to what a checkpoint covers, under every design that can
// do so, and everything is there after a boot: messages, bookmarks, sessions, purges.
func TestJournalsAreCompacted(t *testing.T) {
	for _, design := range []Design{Ordered, Advance} {
		for _, power := range []bool{false, true} {
			c := newClusterOf(t, 3, func(cfg *Config) { cfg.Design = design; compacting(cfg) })
			c.elect()
			session := c.do(&op.Request{Kind: op.Register}).Session
			var want []string
			var repeat *op.Request
			for n := range 120 {
				if n == 40 {
					c.purge(map[Design]op.Generation{Ordered: 1}[design])
					want = nil
				}
				p := fmt.Sprintf("m%d", n)
				repeat = &op.Request{Kind: op.Append, Session: session, Sequence: op.Sequence(n + 1), Payloads: []op.Payload{op.Payload(p)}}
				require.Equal(t, op.OK, c.do(repeat).Code)
				want = append(want, p)
				for id := range c.replicas {
					require.LessOrEqual(t, c.journalFiles(id+1), 7)
				}
			}
			key := op.Key{Kind: op.Group, ID: 4}
			at := op.Position{Incarnation: 1, Generation: c.replicas[0].eng.Facts().Generation, Offset: c.replicas[0].eng.Facts().End - 1}
			require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, Key: key, At: at}).Code)
			before := c.do(repeat)
			for id, r := range c.replicas {
				require.Greater(t, r.jr.First(), op.Number(100), "replica %d", id+1)
				require.GreaterOrEqual(t, r.durable-2, r.jr.First()-1)
				c.crash(id+1, power)
			}
			for id := range c.replicas {
				require.NoError(t, c.boot(id+1))
				require.Less(t, c.replicas[id].Report().Journal.Entries, 25)
			}
			c.elect()
			require.Equal(t, before, c.do(repeat))
			require.Equal(t, at, c.do(&op.Request{Kind: op.GetBookmark, Key: key}).Position)
			r := c.do(&op.Request{Kind: op.Poll, Strategy: op.First, Max: 1000})
			require.Equal(t, want, strings.Fields(show(r))[2:])
		}
	}
}

// By bytes, too; and what is to be kept stays.
func TestCompactionPolicy(t *testing.T) {
	for _, x := range []struct {
		policy   Compaction
		from, to int // ops that the journal may hold in the end
	}{
		{Compaction{}, 201, 203},
		{Compaction{Ops: 1000}, 201, 203},
		{Compaction{Ops: 20}, 1, 30},
		{Compaction{Bytes: 2000}, 1, 30},
		{Compaction{Bytes: 1 << 20}, 201, 203},
		{Compaction{Ops: 1, Keep: 50}, 50, 70},
	} {
		c := newClusterOf(t, 1, func(cfg *Config) { compacting(cfg); cfg.Compact = x.policy })
		c.elect()
		for n := range 200 {
			c.append(fmt.Sprint(n))
		}
		held := int(c.replicas[0].jr.Last()-c.replicas[0].jr.First()) + 1
		require.GreaterOrEqual(t, held, x.from, "%+v", x.policy)
		require.LessOrEqual(t, held, x.to, "%+v", x.policy)
	}
}

// A replica that fails to compact goes on, and does so later.
func TestCompactionFails(t *testing.T) {
	for _, rule := range []string{"fail-before label=journal.compact.write", "fail-before label=journal.reclaim"} {
		r, err := faultfs.Parse(rule)
		require.NoError(t, err)
		c := newClusterOf(t, 1, compacting)
		c.faults[0] = faultfs.NewSet(r)
		c.crash(1, false)
		require.NoError(t, c.boot(1))
		c.elect()
		for n := range 60 {
			c.append(fmt.Sprint(n))
			c.now += 10
			c.step(1, Input{Tick: true})
		}
		require.Equal(t, 1, c.faults[0].Hits(), rule)
		c.reach("compacted", func() bool { return c.replicas[0].jr.First() > 40 && c.journalFiles(1) < 6 })
	}
}

// A crash of either kind at every disk call of a life with compactions: the replica
// boots, has everything, and leaves nothing behind.
func TestCrashAtEveryCallOfCompaction(t *testing.T) {
	cases := 0
	for _, power := range []bool{false, true} {
		for nth := 1; ; nth++ {
			c := newClusterOf(t, 1, compacting)
			c.elect()
			left, hit, compaction := nth, false, false
			var label vfs.Label
			c.disks[0].Arm(func(l vfs.Label, _ string) crashfs.Action {
				if left--; left == 0 {
					label, hit = l, true
					return crashfs.CrashBefore
				}
				compaction = compaction || strings.HasPrefix(string(l), "journal.compact")
				return crashfs.Continue
			})
			n := 0
			for ; n < 40 && c.replicas[0] != nil; n++ {
				c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload(fmt.Sprint(n))}})
				c.settle()
			}
			acked := 0
			for _, a := range c.answers {
				if a.Code == op.OK && a.Position.Offset >= 0 {
					acked++
				}
			}
			c.disks[0].Arm(nil)
			if !hit {
				require.True(t, compaction)
				break
			}
			cases++
			c.crash(1, power)
			require.NoError(t, c.boot(1), label)
			c.elect()
			for k := range 30 {
				c.append(fmt.Sprint(n + k))
			}
			require.LessOrEqual(t, c.journalFiles(1), 6, label)
			r := c.do(&op.Request{Kind: op.Poll, Strategy: op.First, Max: 1000})
			require.GreaterOrEqual(t, len(r.Records), acked+30, label)
			for i, rec := range r.Records[:acked] {
				require.Equal(t, fmt.Sprint(i), string(rec.Payload), label)
			}
		}
	}
	t.Logf("%d cases", cases)
}
