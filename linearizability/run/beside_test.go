package run

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/impl/vfs/gatherfs"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
)

// besideMember is a replica that is driven as package node does it on a real
// machine: the syncs of the journal are made beside other steps, here some steps
// after they were asked for, and what is stored is written in larger pieces.
type besideMember struct {
	*replica.Replica
	sync  func() error
	after int // pieces of work until the sync is over
	draw  uint64
	made  *int
}

// Step implements sim.Member.
func (m *besideMember) Step(in replica.Input) (replica.Output, error) {
	if in.Work && m.sync != nil {
		if m.after--; m.after < 0 {
			call := m.sync
			m.sync = nil
			*m.made++
			in = replica.Input{Now: in.Now, Sync: &replica.SyncResult{Err: call()}}
		}
	}
	out, err := m.Replica.Step(in)
	if out.Sync != nil {
		m.draw = m.draw*6364136223846793005 + 1442695040888963407
		m.sync, m.after = out.Sync, int(m.draw>>60)
		out.Sync = nil
	}
	out.Work = out.Work || m.sync != nil
	out.Synced = out.Synced || in.Sync != nil
	return out, err
}

// TestSyncsBesideOtherSteps: what holds in the simulator, whose replicas wait for
// their syncs and write at once, holds for replicas that do not.
func TestSyncsBesideOtherSteps(t *testing.T) {
	made := 0
	for seed := uint64(1); seed <= seeds.Count(); seed++ {
		for _, design := range []string{"ordered", "advance"} {
			s := Settings{Seed: seed, Design: design, Faults: "all", NoTrace: true}
			s.Messages = []string{"persisted", "replicated"}[seed%2]
			s.Bookmarks = []string{"persisted", "replicated"}[seed/2%2]
			r, err := run(context.Background(), s, func(c replica.Config) (sim.Member, error) {
				c.SyncBeside = true
				c.FS = gatherfs.New(c.FS, 300, func(path string) bool {
					return strings.Contains(path, "/seg-") || strings.Contains(path, "/bookmarks-")
				})
				m, err := replica.Open(c)
				if err != nil {
					return nil, err
				}
				return &besideMember{Replica: m, draw: seed, made: &made}, nil
			})
			require.NoError(t, err)
			for _, x := range r.Results {
				require.Equal(t, verdict.Pass, x.Verdict, "design %s, seed %d: %s: %s", design, seed, x.Property, x.Reason)
			}
		}
	}
	require.Greater(t, made, int(seeds.Count())*100)
}
