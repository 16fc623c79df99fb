package meta

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
)

// A disk that cannot be read stops the plane with the disk's own error, at a boot
// too, and not with a panic: its machine is restarted, and boots when the disk can
// be read.
func TestUnreadableDisk(t *testing.T) {
	p := newPlane(t, 1, 1)
	c := p.caller()
	for range 5 {
		c.do(Request{Kind: PurgePartition, Partition: 2})
	}
	failed := 0
	for nth := 1; nth < 20; nth++ {
		r := faultfs.New(faultfs.FailBefore)
		r.Op, r.Nth = "read", nth
		set := faultfs.NewSet(r)
		cfg := p.cfg
		cfg.ID, cfg.FS, cfg.Rand = 1, set.Wrap(p.disks[0].Clone().FS()), rand.New(rand.NewPCG(1, 1))
		m, err := Open(cfg)
		for i := 0; err == nil && i < 40; i++ {
			_, err = m.Step(Input{Tick: true})
			for work := true; err == nil && work; {
				var out Output
				out, err = m.Step(Input{Work: true})
				work = out.Work
			}
		}
		if set.Hits() == 0 {
			require.NoError(t, err)
			break
		}
		require.ErrorIs(t, err, faultfs.ErrInjected)
		require.True(t, vfs.Failed(err))
		failed++
	}
	require.Greater(t, failed, 1)
}

// The record of the member that a replica is: it cannot be written, and it is whole
// and holds something else.
func TestMemberRecord(t *testing.T) {
	p := newPlane(t, 1, 1)
	cfg := p.cfg
	cfg.ID, cfg.Rand = 1, rand.New(rand.NewPCG(1, 1))
	r := faultfs.New(faultfs.FailBefore)
	r.Op = "create"
	d := crashfs.New()
	require.NoError(t, d.FS().Mkdir("test", cfg.Dir))
	cfg.FS = faultfs.NewSet(r).Wrap(d.FS())
	err := Format(cfg)
	require.ErrorIs(t, err, faultfs.ErrInjected)
	require.ErrorContains(t, err, "meta 1: format: ")
	require.NoError(t, Format(cfg))
	_, err = Open(cfg)
	require.NoError(t, err)
	require.NoError(t, record.Write(cfg.FS, "test", cfg.Dir+"/member", cfg.identity(), []byte{0xff}))
	_, err = Open(cfg)
	require.ErrorIs(t, err, corrupt.ErrCorrupt)
	require.ErrorContains(t, err, cfg.Dir+"/member: ")
}
