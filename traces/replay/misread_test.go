package replay

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
