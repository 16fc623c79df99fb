package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rough is a network that does everything it may.
var rough = Network{Loss: 0.1, Duplicate: 0.1, Slow: 0.1}

func toyCluster(t testing.TB, seed uint64, hasty bool, s *appender) *Cluster {
	c, err := New(Options{Seed: seed, Replicas: 1, Clients: 3, Network: rough, Open: openToy(hasty)}, s)
	require.NoError(t, err)
	return c
}

// ordeal runs a toy under crashes and power losses and brings it to rest.
func ordeal(t testing.TB, seed uint64, hasty bool, s *appender) *Cluster {
	c := toyCluster(t, seed, hasty, s)
	for i := int64(1); i < 12; i++ {
		c.After(i*60*Millisecond, func() { c.Crash([]int{1}, i%2 == 0, 20*Millisecond) })
		c.After(i*60*Millisecond+30*Millisecond, func() {
			c.AimAt(1, Aim{Label: "toy", Nth: 3, After: i%3 == 0, Power: true, Down: 5 * Millisecond, Again: &Aim{Nth: 1, Down: Millisecond}})
		})
	}
	require.NoError(t, c.RunUntil(context.Background(), 100*Second, c.Idle))
	c.Heal()
	c.BePatient()
	require.NoError(t, c.RunUntil(context.Background(), 10*Second, func() bool { ok, _ := c.AtRest(); return ok }))
	require.Empty(t, c.Refusals)
	return c
}

func lost(c *Cluster, s *appender) (missing []string) {
	lines := c.Member(1, 0).(*toy).lines
	for _, a := range s.acked {
		var payload string
		var at int
		fmt.Sscanf(a, "%s %d", &payload, &at)
		if at >= len(lines) || !strings.HasPrefix(lines[at], payload+" ") {
			missing = append(missing, a)
		}
	}
	return missing
}

func TestAckedSurvivesEveryCrash(t *testing.T) {
	for seed := uint64(1); seed <= 30; seed++ {
		s := &appender{left: 300}
		c := ordeal(t, seed, false, s)
		require.Empty(t, lost(c, s), "seed %d", seed)
		require.NotEmpty(t, s.acked)
		e := c.Effects
		require.Positive(t, min(e.Lost, e.Duplicated, e.Slowed, e.ToDead, e.ProcessCrashes, e.PowerLosses, e.AtCall, e.InRecovery, e.Restarts, e.Repeated), "%+v", e)
	}
}

// A replica that answers before it syncs loses what it promised: the faults are
// not for show.
func TestHastyReplicaIsCaught(t *testing.T) {
	caught := 0
	for seed := uint64(1); seed <= 30; seed++ {
		s := &appender{left: 300}
		if c := ordeal(t, seed, true, s); len(lost(c, s)) > 0 {
			caught++
		}
	}
	require.Positive(t, caught)
}

func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) ([]string, Effects, uint64) {
		s := &appender{left: 200}
		c := ordeal(t, seed, false, s)
		return s.log, c.Effects, c.machines[1].disk.Digest()
	}
	logA, effectsA, diskA := run(7)
	logB, effectsB, diskB := run(7)
	require.Equal(t, logA, logB)
	require.Equal(t, effectsA, effectsB)
	require.Equal(t, diskA, diskB)
	logC, _, _ := run(8)
	require.NotEqual(t, logA, logC)
}

func TestGivingUpChangesIdentity(t *testing.T) {
	s := &appender{left: 2}
	c := toyCluster(t, 1, false, s)
	c.Cut(0, 1)
	require.NoError(t, c.RunUntil(context.Background(), Second, c.Idle))
	// Nobody registered, so nothing is unknown.
	require.Zero(t, s.unknown)
	c.Mend(0, 1)
	s.left = 3
	c.SetNetwork(Network{})
	c.Resume()
	require.NoError(t, c.RunUntil(context.Background(), Second, c.Idle))
	require.Len(t, s.acked, 3)
	c.Cut(1, 0)
	s.left = 3
	c.Resume()
	require.NoError(t, c.RunUntil(context.Background(), 10*Second, c.Idle))
	require.Equal(t, 3, s.unknown)
	require.Equal(t, 3, c.Effects.GaveUp)
}

func TestRunUntilStops(t *testing.T) {
	s := &appender{}
	c := toyCluster(t, 1, false, s)
	require.ErrorIs(t, c.RunUntil(context.Background(), 50*Millisecond, func() bool { return false }), ErrTimeLimit)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, c.RunUntil(ctx, Second, func() bool { return false }), context.Canceled)
}

func TestPurposesAreSplit(t *testing.T) {
	require.Equal(t, Split(1, "a").Uint64(), Split(1, "a").Uint64())
	require.NotEqual(t, Split(1, "a").Uint64(), Split(1, "b").Uint64())
	require.NotEqual(t, Split(1, "a").Uint64(), Split(2, "a").Uint64())
}
