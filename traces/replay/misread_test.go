package replay

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/traces/behaviours"
)

// exampleRead is the behaviour of testdata.
func exampleRead(t *testing.T) *behaviours.Behaviour {
	var out *behaviours.Behaviour
	require.NoError(t, behaviours.Read(strings.NewReader(example(t)), "example", func(b *behaviours.Behaviour) error { out = b; return nil }))
	return out
}

// What is not there is a fault of the file, wherever it is missed.
func TestMisread(t *testing.T) {
	b := exampleRead(t)
	caught := 0
	for i := range b.Acts {
		for name := range b.Acts[i].State {
			b := exampleRead(t)
			delete(b.Acts[i].State, name)
			diff, err := Replay(b, 0)
			var misread *MisreadError
			if errors.As(err, &misread) {
				caught++
				require.Equal(t, i+2, misread.Line)
			} else {
				require.NoError(t, err)
				require.True(t, diff == nil || diff.Act >= i)
			}
		}
	}
	require.Positive(t, caught)
}

// What a replica that is down is to do is a fault of the file: nobody has asked the
// implementation.
func TestDown(t *testing.T) {
	b := exampleRead(t)
	b.Acts = slices.Delete(b.Acts, 1, 3) // Boot and Serve
	diff, err := Replay(b, 0)
	require.Nil(t, diff)
	var misread *MisreadError
	require.ErrorAs(t, err, &misread)
	require.EqualError(t, err, "behaviour 1, act 1, Materialize: it is of a replica that is down")
	require.Equal(t, 3, misread.Line)

	for _, table := range Table {
		for _, row := range table.Rows {
			if row.Action == "Boot" || slices.Contains(whileDown, row.Action) {
				continue
			}
			design, err := replica.ParseDesign(table.Name)
			require.NoError(t, err)
			d, err := newDriver(design, 0)
			require.NoError(t, err)
			_, err = d.act(&table, &behaviours.Act{Event: observe.Event{Action: row.Action}}, nil)
			require.ErrorIs(t, err, errDown, "%s of %s", row.Action, table.Name)
		}
	}
	for _, table := range Groups {
		design, err := replica.ParseDesign(table.Name)
		if table.Name != agreedName {
			require.NoError(t, err)
		}
		g, err := newGroup(3, design, replica.Policy{}, 0, false)
		require.NoError(t, err)
		if table.Name == agreedName {
			g.agreeing()
		}
		for _, row := range table.Rows {
			if slices.Contains(ofAny, row.Action) {
				continue
			}
			g.members[2].r = nil
			want := errDown
			if g.wantsDown(row.Action) {
				want = errUp
				g.members[2].r = g.members[1].r
			}
			_, err = g.act(&table, &behaviours.Act{Event: observe.Event{Action: row.Action, Replica: 2}, With: map[string]any{"r": "r2"}})
			require.ErrorIs(t, err, want, "%s of %s", row.Action, table.Name)
		}
	}
}

// Where nothing need be synced a replica alone is all machines: that they lose power
// together has a name of its own.
func TestPowerOfAll(t *testing.T) {
	d, err := newDriver(replica.ResetRecord, 0)
	require.NoError(t, err)
	loss := &behaviours.Act{Event: observe.Event{Action: "PowerLoss"}}
	require.NoError(t, d.able(loss))
	d.policy = replica.Policy{Messages: replica.Replicated, Bookmarks: replica.Replicated}
	require.ErrorIs(t, d.able(loss), errAll)
}

// A panic of the implementation is a difference, not a fault of the file.
func TestPanicOfTheImplementation(t *testing.T) {
	b := exampleRead(t)
	diff, err := each(b, func(int) (*Difference, error) {
		return nil, json.Unmarshal(nil, map[string]any(nil)["x"].(json.Unmarshaler))
	})
	require.Nil(t, diff)
	require.ErrorContains(t, err, "it does not hold what the table reads")
	diff, err = each(b, func(int) (*Difference, error) {
		json.NewEncoder(nil).Encode(1) // raised elsewhere
		return nil, nil
	})
	require.NoError(t, err)
	require.Contains(t, diff.Error(), "the implementation has panic: ")
}

// A folder is gone if its number is told, not if that is a part of another one.
func TestOpenedAtBoot(t *testing.T) {
	disk := map[string]any{
		"marker": map[string]any{"st": "begun", "g": 11.0, "p": 0.0},
		"dirs":   map[string]any{"1": map[string]any{}, "10": map[string]any{}},
		"gone":   []any{10.0},
	}
	require.Equal(t, "1", openedAtBoot(disk))
	disk["gone"] = []any{}
	require.Equal(t, "10", openedAtBoot(disk))
}

// Of every action of a table that is taken by words it is said what it needs.
func TestParameters(t *testing.T) {
	for _, table := range Table {
		for _, row := range table.Rows {
			require.Contains(t, Parameters(table.Name, false), row.Action)
		}
	}
	for _, table := range Groups {
		for _, row := range table.Rows {
			require.Contains(t, Parameters(table.Name, true), row.Action)
		}
	}
}
