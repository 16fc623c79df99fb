package faults

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs/faultfs"
)

// Drawn plans print as they read, and every kind of trouble is drawn.
func TestDrawnStoragePlans(t *testing.T) {
	actions := map[faultfs.Action]bool{}
	rot := false
	for seed := range uint64(200) {
		p, err := Draw(Storage, 3, 3000, rand.New(rand.NewPCG(seed, 1)))
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, p.Write(&b))
		again, err := Parse("plan", strings.NewReader(b.String()), 3)
		require.NoError(t, err, b.String())
		require.Equal(t, p.Faults, again.Faults)
		for _, f := range p.Faults {
			rot = rot || f.Kind == Rot
			if f.Kind == DiskFault {
				r, err := faultfs.Parse(f.Rule)
				require.NoError(t, err)
				actions[r.Action] = true
				// Silent damage of what nothing proves is not drawn: see docs/disks.md.
				require.NotContains(t, []faultfs.Action{faultfs.DropWrite, faultfs.Misdirect, faultfs.BitFlip, faultfs.StaleRead}, r.Action)
			}
		}
	}
	require.Len(t, actions, 6)
	require.True(t, rot)
}

func TestStoragePlanErrors(t *testing.T) {
	for fault, want := range map[string]string{
		`{"at":1,"for":1,"kind":"disk-fault","replicas":[1],"rule":"explode"}`:                 `fault 1: rule: faultfs: column 1: action "explode"`,
		`{"at":1,"for":1,"kind":"disk-fault","replicas":[1]}`:                                  "want an action",
		`{"at":1,"for":1,"kind":"disk-fault","rule":"fail-before"}`:                            "at least one replica",
		`{"at":1,"for":1,"kind":"rot","replicas":[1,2]}`:                                       "want one replica, got 2",
		`{"at":1,"for":1,"kind":"disk-fault","replicas":[1],"rule":"sync-forget op=write"}`:    `op "write"`,
		`{"at":1,"for":1,"kind":"disk-fault","replicas":[1],"rule":"fail-before label=x nth"}`: "column 21",
	} {
		_, err := Parse("plan", strings.NewReader(`{"network":{},"faults":[`+fault+`]}`), 3)
		require.ErrorContains(t, err, want, fault)
	}
}
