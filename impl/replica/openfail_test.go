package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// failingList is a disk of which the nth folder cannot be listed.
type failingList struct {
	vfs.FS
	left int
}

// List implements vfs.FS.
func (f *failingList) List(dir string) ([]string, error) {
	if f.left--; f.left == 0 {
		return nil, vfs.ErrFailed
	}
	return f.FS.List(dir)
}

// A boot that fails lets go what it had opened: at whatever listing of a folder it fails,
// and when what it read makes it suspect.
func TestFailedOpenLetsAllFilesGo(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { moving(cfg); cfg.Policy = allReplicated })
	c.elect()
	c.history(30, 0)
	c.powerLoss()
	c.cfg.Compact = Compaction{} // the base stays
	c.begin()
	c.reach("a base", c.copied)
	c.elect()
	c.history(9, 0)
	cfg := c.replicas[0].cfg
	c.crash(1, false)
	cfg.FS = c.disks[0].FS()
	require.NoError(t, cfg.findMember())
	failed := 0
	for nth := 1; nth <= 30; nth++ {
		h := &handles{FS: c.disks[0].FS()}
		cfg.FS = &failingList{h, nth}
		r, err := openMember(cfg)
		if err == nil { // it can do without
			require.NotEmpty(t, h.open)
			err = r.Release()
		} else {
			failed++
		}
		for _, o := range h.open {
			t.Errorf("%s is open after listing %d: %v", o.path, nth, err)
		}
	}
	require.Greater(t, failed, 3)

	h := &handles{FS: c.disks[0].FS()}
	cfg.FS = h
	cfg.BootID++
	require.NoError(t, cfg.findMember())
	_, err := openMember(cfg)
	var unclean *UncleanError
	require.ErrorAs(t, err, &unclean)
	require.Empty(t, h.open)
}

// A boot of the machine that nobody knows proves nothing: whoever was not stopped is
// suspect.
func TestUnknownBootProvesNothing(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = allReplicated })
	c.elect()
	c.append("a")
	for _, stop := range []bool{true, false} {
		r := c.replicas[0]
		r.cfg.BootID = 0
		if stop {
			require.NoError(t, r.Stop())
		}
		cfg := r.cfg
		c.crash(1, false)
		cfg.FS, cfg.BootID = c.disks[0].FS(), 0
		r, err := Open(cfg)
		require.NoError(t, err)
		c.replicas[0] = r
		require.Equal(t, !stop, r.View().Joining, "was stopped: %v", stop)
	}
}

// A checkpoint that names a membership which no group can have is damaged.
func TestUnusableMembershipIsRefused(t *testing.T) {
	r := &Replica{cfg: Config{Members: []int{1, 2, 3}, Sessions: 4}, line: &line{}}
	require.NoError(t, r.decodeExtra(nil))
	r.moved = true
	good := r.encodeExtra()
	require.NoError(t, r.decodeExtra(good))
	r.members.Learners = r.members.Voters[:1]
	require.ErrorIs(t, r.decodeExtra(r.encodeExtra()), corrupt.ErrCorrupt)
	r.members.Voters, r.members.Learners = nil, nil
	require.ErrorIs(t, r.decodeExtra(r.encodeExtra()), corrupt.ErrCorrupt)
}

// Op numbers begin anew under the same incarnation: what it goes on from stays.
func TestSequenceKeepsTheBase(t *testing.T) {
	c := newVolatile(t, 1, allReplicated, Variants{}, 0)
	c.elect()
	c.append("a")
	cfg, fs := c.replicas[0].cfg, c.disks[0].FS()
	require.NoError(t, record.Write(fs, "test", "p0/base", cfg.identity(), nil))
	require.NoError(t, fs.Mkdir("test", "p0/base-log"))
	require.NoError(t, fs.SyncDir("test", "p0"))
	c.loseAll()
	require.Equal(t, op.OK, c.append("b").Code)
	names, err := c.disks[0].FS().List("p0")
	require.NoError(t, err)
	require.Subset(t, names, []string{"base", "base-log/"})
}
