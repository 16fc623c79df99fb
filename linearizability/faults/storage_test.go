package faults

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs/faultfs"
)

// Drawn plans print as they read, and every kind of trouble is drawn. What breaks
// without a word breaks only where a checkpoint or the journal will tell, and so
// never in a journal: see docs/disks.md.
func TestDrawnStoragePlans(t *testing.T) {
	actions := map[Kind]map[faultfs.Action]bool{DiskFault: {}, Lie: {}}
	live := map[Kind][2]int{}
	for seed := range uint64(200) {
		p, err := Draw(Storage, 3, 3000, rand.New(rand.NewPCG(seed, 1)))
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, p.Write(&b))
		again, err := Parse("plan", strings.NewReader(b.String()), 3)
		require.NoError(t, err, b.String())
		require.Equal(t, p.Faults, again.Faults)
		for _, f := range p.Faults {
			if f.Kind.spoils() && f.Kind != Lie {
				n := live[f.Kind]
				n[b2i(f.Live)]++
				live[f.Kind] = n
			}
			if f.Kind != DiskFault && f.Kind != Lie {
				continue
			}
			r, err := faultfs.Parse(f.Rule)
			require.NoError(t, err)
			actions[f.Kind][r.Action] = true
			require.Equal(t, f.Kind == Lie, slices.Contains(silent, r.Action))
			if f.Kind == Lie {
				require.NotContains(t, r.Path, "journal")
			}
		}
	}
	require.Len(t, actions[DiskFault], 6)
	require.Len(t, actions[Lie], 4)
	require.Len(t, live, 3)
	for k, n := range live {
		require.Positive(t, min(n[0], n[1]), "%s: at a boot and while the replica is up: %v", k, n)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestStoragePlanErrors(t *testing.T) {
	for fault, want := range map[string]string{
		`{"at":1,"for":1,"kind":"disk-fault","replicas":[1],"rule":"explode"}`:                 `fault 1: rule: faultfs: column 1: action "explode"`,
		`{"at":1,"for":1,"kind":"disk-fault","replicas":[1]}`:                                  "want an action",
		`{"at":1,"for":1,"kind":"disk-fault","rule":"fail-before"}`:                            "at least one replica",
		`{"at":1,"for":1,"kind":"rot","replicas":[1,2]}`:                                       "want one replica, got 2",
		`{"at":1,"for":1,"kind":"misdirect","replicas":[1,2]}`:                                 "want one replica, got 2",
		`{"at":1,"for":1,"kind":"lie","replicas":[1],"rule":"drop-write"}`:                     `rule "drop-write": want one of [drop-write misdirect bit-flip stale-read] with a path that begins with p0/`,
		`{"at":1,"for":1,"kind":"lie","replicas":[1],"rule":"no-space path=p0/x"}`:             `rule "no-space path=p0/x": want one of`,
		`{"at":1,"for":1,"kind":"disk-fault","replicas":[1],"rule":"sync-forget op=write"}`:    `op "write"`,
		`{"at":1,"for":1,"kind":"disk-fault","replicas":[1],"rule":"fail-before label=x nth"}`: "column 21",
	} {
		_, err := Parse("plan", strings.NewReader(`{"network":{},"faults":[`+fault+`]}`), 3)
		require.ErrorContains(t, err, want, fault)
	}
}
