package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// unwatched is a group that nobody watches.
type unwatched struct{}

func (unwatched) Observe(observe.Event)                           {}
func (unwatched) Booted(int, *replica.Replica)                    {}
func (unwatched) Stepped(int, *replica.Replica, []replica.Answer) {}
func (unwatched) Asked(uint64, *op.Request)                       {}
func (unwatched) Ending(op.Incarnation)                           {}
func (unwatched) Forced()                                         {}
func (unwatched) Served(int, []byte)                              {}
func (unwatched) Promised(int, op.Number)                         {}

// The words of an action hold all that is needed to take it: a group that is led by them
// alone comes from state to state of the behaviour, and in the end to rest by itself. If it
// is let alone where a new incarnation is to begin, that begins by itself.
func TestLedByWords(t *testing.T) {
	for _, c := range []struct {
		model string
		count int
	}{
		{"sim-ordered-group", 15}, {"sim-ordered-group-succession", 30}, {"sim-ordered-group-succession-messages", 15},
		{"sim-ordered-group-rejoin", 15}, {"sim-advance-group-succession", 15}, {"sim-transfer-group", 15},
		{"sim-reset-record-group", 15}, {"sim-transfer-reset-group", 15},
		{"sim-agreed-log", 20}, {"sim-agreed-log-persisted", 10},
	} {
		t.Run(c.model, func(t *testing.T) {
			began := 0
			for _, b := range drawn(t, c.model, c.count) {
				ledByWords(t, b, len(b.Acts))
				if i := slices.IndexFunc(b.Acts, func(a behaviours.Act) bool { return a.Action == "NewIncarnation" }); i > 0 {
					in, _ := ledByWords(t, b, i).Incarnation()
					require.Equal(t, op.Incarnation(2), in, "behaviour %d, after act %d", b.Number, i-1)
					began++
				}
			}
			require.Equal(t, strings.Contains(c.model, "succession") || c.model == "sim-agreed-log", began > 0)
		})
	}
}

// ledByWords leads a group through the acts of b up to one, and lets it come to rest.
func ledByWords(t *testing.T, b *behaviours.Behaviour, upTo int) *GroupDrive {
	design, err := replica.ParseDesign(b.Design)
	require.NoError(t, err)
	v, err := NewGroupDrive(b.Replicas, design, PolicyOf(b), 0, moving(b), unwatched{})
	require.NoError(t, err)
	if isAgreed(b) {
		v.Agree()
	}
	for i := range b.Acts[1:upTo] {
		a := &b.Acts[i+1]
		words := Words(settled(a))
		read, at, err := Action(strings.Fields(words), b.Design, b.Replicas)
		require.NoError(t, err, "%s: word %d", words, at)
		if err = v.Take(read); a.Action == "Answer" { // who does not lead answers nobody
			continue
		}
		require.NoError(t, err, "behaviour %d, act %d: %s", b.Number, i+1, words)
		diff := differ("", v.table.want(a.State), v.table.state(v.g, a.State))
		require.Nil(t, diff, "behaviour %d, act %d: %s: %v", b.Number, i+1, words, diff)
	}
	require.NoError(t, v.Rest(), "behaviour %d, after act %d", b.Number, upTo-1)
	return v
}
