package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/journal"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
)

// A folder that a transfer fills may have been a home: its journal, and the boot in
// which that was used, are no part of what comes.
func TestStagingThatWasAHome(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { moving(cfg); cfg.Policy = allReplicated })
	c.elect()
	c.history(5, 0)
	id := c.leader()%3 + 1
	r := c.replicas[id-1]
	cfg := r.cfg
	c.crash(id, false)
	c.history(30, 4)
	fs := c.disks[id-1].FS()
	// What an earlier life left: a pull that was never finished is in there, too.
	require.NoError(t, fs.Mkdir("test", "p0/h1"))
	jr, _, err := journal.Open(journal.Options{FS: fs, Dir: "p0/h1/journal", Identity: cfg.identity()})
	require.NoError(t, err)
	require.NoError(t, jr.Append(nil, []raftlog.Entry{{Op: 2, Term: 1, Data: []byte("of before")}}))
	require.NoError(t, record.Write(fs, "test", "p0/h1/boot", cfg.identity(), mustEncode(&bootRecord{Boot: 99})))
	lead := c.replicas[c.leader()-1]
	m, err := lead.offerTo(uint64(id))
	require.NoError(t, err)
	require.NoError(t, record.Write(fs, "test", "p0/h1/offer", cfg.identity(), m.Encode()))
	require.NoError(t, c.boot(id))
	require.Equal(t, "h1", c.replicas[id-1].staged.name)
	c.reach("everything is everywhere", c.whole)
	require.Equal(t, 1, c.count(id, "CommitInstall", ""))
	require.Equal(t, "h1", c.replicas[id-1].View().Home)
	c.same()
	for _, power := range []bool{false, true} {
		c.crash(id, power)
		require.NoError(t, c.boot(id))
		c.reach("everything is everywhere", c.whole)
		c.same()
	}
}

// A receiver that does not compact itself, and crashes in one pull after another, fills
// one home, and what another one holds goes.
func TestHomesWithoutCompaction(t *testing.T) {
	c := newClusterOf(t, 3, moving)
	c.elect()
	c.history(5, 0)
	id := c.leader()%3 + 1
	c.crash(id, false)
	c.history(40, 0)
	c.cfg.Compact = Compaction{}
	for range 3 {
		require.NoError(t, c.boot(id))
		c.reach("a pull", func() bool { f := c.replicas[id-1].fetch; return f != nil && f.pull != nil })
		require.Equal(t, "h1", c.replicas[id-1].staged.name)
		c.crash(id, false)
	}
	require.NoError(t, c.disks[id-1].FS().Mkdir("test", "p0/h0"))
	require.NoError(t, c.boot(id))
	c.reach("everything is everywhere", c.whole)
	c.reach("reclaimed", func() bool { return !c.replicas[id-1].homes })
	names, err := c.disks[id-1].FS().List("p0")
	require.NoError(t, err)
	require.Equal(t, []string{"h1/", "member"}, names)
	require.Equal(t, 1, c.count(id, "CommitInstall", ""))
	c.same()
}
