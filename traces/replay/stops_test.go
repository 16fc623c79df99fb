package replay

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/traces/behaviours"
)

// told keeps the events of a group.
type told struct {
	unwatched
	events *[]observe.Event
}

func (t told) Observe(e observe.Event) { *t.events = append(*t.events, e) }

// A replica that cannot be opened stopped by itself: its power is lost, and who watches is
// told. So it is of one that is led alone.
func TestStopsInBoot(t *testing.T) {
	var events []observe.Event
	g := &group{design: replica.Ordered, watch: told{events: &events}}
	require.NoError(t, g.begin(3))
	v := &GroupDrive{g: g, table: &Groups[0], tokens: asking}
	of := func(a observe.Action) *behaviours.Act {
		return &behaviours.Act{Event: observe.Event{Action: a, Replica: 2}, With: map[string]any{"r": "r2"}}
	}
	require.NoError(t, v.Take(of("ProcessCrash")))
	require.NoError(t, removeAll(g.members[2].disk.FS(), dir))
	events = nil
	err := v.Take(of("Boot"))
	require.True(t, Stopped(err), "%v", err)
	require.ErrorContains(t, err, "replica 2: ")
	require.Equal(t, []observe.Event{{Action: "PowerLoss", Replica: 2}}, events)
	require.Nil(t, v.Member(2))

	alone, err := NewDrive(replica.Ordered, replica.Variants{}, replica.Policy{}, 0, told{events: &events})
	require.NoError(t, err)
	require.NoError(t, removeAll(alone.d.disk.FS(), dir))
	events = nil
	err = alone.Take(&behaviours.Act{Event: observe.Event{Action: "Boot"}})
	require.True(t, Stopped(err), "%v", err)
	require.Equal(t, []observe.Event{{Action: "PowerLoss"}}, events)
}

// What nobody stopped for is no stop.
func TestOutcome(t *testing.T) {
	for _, err := range []error{&missing{"Boot"}, errDown, &Difference{}, errRefused} {
		require.ErrorIs(t, outcome(err), ErrNotTaken)
		require.False(t, Stopped(outcome(err)))
	}
	broken := errors.New("the disk cannot be read")
	require.Equal(t, broken, outcome(broken))
	require.NoError(t, outcome(nil))
}

// What contradicts itself on a disk does so at every boot: no power is lost that would
// take it away.
func TestStopsAtDamage(t *testing.T) {
	require.EqualValues(t, "ProcessCrash", endOf(&stopped{1, &corrupt.Error{}}))
	require.EqualValues(t, "PowerLoss", endOf(&stopped{1, &replica.DiskError{}}))
}
