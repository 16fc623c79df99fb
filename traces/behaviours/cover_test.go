package behaviours

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// graphOf makes a graph of transitions between numbered states.
func graphOf(states int, list ...[2]int) *Graph {
	g := &Graph{head: Header{Design: "ordered", Model: "test"}, out: make([][]int, states)}
	for s := range states {
		g.states = append(g.states, map[string]any{"s": float64(s), "mem": map[string]any{}})
	}
	for t, e := range list {
		g.acts = append(g.acts, Act{With: map[string]any{"t": float64(t)}})
		g.from, g.to = append(g.from, e[0]), append(g.to, e[1])
		g.out[e[0]] = append(g.out[e[0]], t)
	}
	return g
}

// covered checks that behaviours begin in the initial state, go on from where they are,
// and take everything; it returns how many acts they are.
func covered(t require.TestingT, g *Graph) int {
	taken := make([]bool, len(g.from))
	acts := 0
	require.NoError(t, g.Cover(func(b *Behaviour) error {
		require.Equal(t, "Init", string(b.Acts[0].Action))
		require.Equal(t, g.states[0], b.Acts[0].State)
		for i, a := range b.Acts[1:] {
			n := number(a.With["t"])
			require.Equal(t, b.Acts[i].State, g.states[g.from[n]])
			require.Equal(t, a.State, g.states[g.to[n]])
			taken[n] = true
			acts++
		}
		return nil
	}))
	require.NotContains(t, taken, false)
	return acts
}

func TestCoverIsShortest(t *testing.T) {
	for _, c := range []struct {
		name   string
		states int
		list   [][2]int
		acts   int
	}{
		{"a round", 3, [][2]int{{0, 1}, {1, 2}, {2, 0}}, 3},
		{"a fork: the first step twice", 4, [][2]int{{0, 1}, {1, 2}, {1, 3}}, 4},
		{"a loop on the way", 3, [][2]int{{0, 1}, {1, 1}, {1, 2}}, 3},
		{"two ways to one step, one of them short", 5, [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}, {3, 4}, {3, 4}}, 6},
		{"back is nearer than from the beginning", 6, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 3}}, 6},
		{"back is farther than from the beginning", 5, [][2]int{{0, 1}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, 6},
	} {
		require.Equal(t, c.acts, covered(t, graphOf(c.states, c.list...)), c.name)
	}
}

func TestCoverOfAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "states")
		var list [][2]int
		for s := 1; s < n; s++ { // each can be reached
			list = append(list, [2]int{rapid.IntRange(0, s-1).Draw(t, "from"), s})
		}
		for range rapid.IntRange(1, 6).Draw(t, "more") {
			list = append(list, [2]int{rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")})
		}
		g := graphOf(n, list...)
		require.Equal(t, shortest(g), covered(t, g))
	})
}

// shortest is how few acts can take every transition, found by trying all: how far it is
// from having taken none to having taken all, if going back to the beginning costs nothing.
func shortest(g *Graph) int {
	type at struct{ state, taken int }
	all := 1<<len(g.from) - 1
	seen := map[at]bool{}
	now := []at{{}}
	for acts := 0; ; acts++ {
		var next []at
		for i := 0; i < len(now); i++ {
			x := now[i]
			if seen[x] {
				continue
			}
			seen[x] = true
			if x.taken == all {
				return acts
			}
			now = append(now, at{0, x.taken})
			for _, t := range g.out[x.state] {
				next = append(next, at{g.to[t], x.taken | 1<<t})
			}
		}
		now = next
	}
}

func TestUnreachable(t *testing.T) {
	err := graphOf(3, [2]int{0, 0}, [2]int{1, 2}).Cover(func(*Behaviour) error { return nil })
	require.ErrorContains(t, err, "cannot be reached")
}

func TestPrinted(t *testing.T) {
	line := `"<<\"TO\", [a |-> \"Boot\", n |-> 0, m |-> [st |-> \"none\"]], [log |-> << >>, up |-> \"replay\"]>>"`
	mark, last, shown, ok := printed(line)
	require.True(t, ok)
	require.Equal(t, "TO", mark)
	require.Equal(t, `[a |-> "Boot", n |-> 0, m |-> [st |-> "none"]]`, last)
	require.Equal(t, `[log |-> << >>, up |-> "replay"]`, shown)
	a, err := newAct(last, shown)
	require.NoError(t, err)
	require.Equal(t, "Boot map[m:map[st:none] n:0] map[log:[] up:replay]", fmt.Sprintf("%s %v %v", a.Action, a.With, a.State))
	for _, bad := range []string{"", `"<<\"TO\", [a |-> 1"`, "Semantic errors"} {
		_, _, _, ok := printed(bad)
		require.False(t, ok, bad)
	}
}
