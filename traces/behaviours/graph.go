package behaviours

import (
	"context"
	"fmt"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// Graph is all that a bounded model may do: states, and the transitions between them,
// each once. State 0 is the initial one.
type Graph struct {
	head   Header
	states []map[string]any
	acts   []Act // of transitions, without states
	from   []int // per transition
	to     []int
	out    [][]int // transitions of each state
}

// States and Transitions count.
func (g *Graph) States() int      { return len(g.states) }
func (g *Graph) Transitions() int { return len(g.from) }

// Explore has TLC print all transitions of a model, which must be small.
func Explore(ctx context.Context, tool tlc.Tool, spec string, m models.Model) (*Graph, error) {
	h, err := headerOf(m)
	if err != nil {
		return nil, err
	}
	g := &Graph{head: h}
	b := builder{Graph: g, texts: map[string]int{}, known: map[string]int{}, seen: map[transition]bool{}}
	err = explore(ctx, tool, spec, m, tlc.Options{}, "ACTION_CONSTRAINT PrintTo\n", b.line)
	if err == nil {
		err = b.bad
	}
	if err == nil && len(g.states) == 0 {
		err = fmt.Errorf("behaviours: model %s: TLC printed no state", m.Name)
	}
	return g, err
}

// builder puts printed lines together. The same state may be printed with its fields
// in another order.
type builder struct {
	*Graph
	texts map[string]int // of a state, as printed
	known map[string]int // and in order
	seen  map[transition]bool
	at    int
	bad   error
}

type transition struct {
	from, to int
	last     string
}

func (b *builder) line(mark, last, shown string) {
	if b.bad != nil {
		return
	}
	to, err := b.state(last, shown)
	if err != nil {
		b.bad = err
		return
	}
	if mark == "FROM" {
		b.at = to
		return
	}
	v, err := tlc.ParseValue(last)
	if err != nil {
		b.bad = err
		return
	}
	t := transition{b.at, to, v.Sorted().String()}
	if b.seen[t] {
		return
	}
	b.seen[t] = true
	b.acts, b.from, b.to = append(b.acts, parameters(v)), append(b.from, t.from), append(b.to, t.to)
	b.out[t.from] = append(b.out[t.from], len(b.from)-1)
}

func (b *builder) state(last, shown string) (int, error) {
	if i, ok := b.texts[shown]; ok {
		return i, nil
	}
	v, err := tlc.ParseValue(shown)
	if err != nil {
		return 0, err
	}
	key := v.Sorted().String()
	i, ok := b.known[key]
	if !ok {
		i = len(b.states)
		b.known[key] = i
		b.states = append(b.states, plain(v).(map[string]any))
		b.out = append(b.out, nil)
	}
	b.texts[shown] = i
	return i, nil
}
