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
	design string
	model  string
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
	design, err := DesignOf(m)
	if err != nil {
		return nil, err
	}
	g := &Graph{design: design, model: m.Name}
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
	a, err := newAct(last, "[a |-> 0]")
	if err != nil {
		b.bad = err
		return
	}
	b.acts, b.from, b.to = append(b.acts, a), append(b.from, t.from), append(b.to, t.to)
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

// Cover hands out behaviours that together take every transition. From where it stands
// a behaviour goes on with a transition that was not taken yet, or goes to the nearest
// one; if that is farther than from the beginning, the next behaviour takes it.
func (g *Graph) Cover(use func(*Behaviour) error) error {
	c := cover{Graph: g, taken: make([]bool, len(g.from)), left: make([]int, len(g.states)), via: make([]int, len(g.states)), mark: make([]int, len(g.states))}
	for s, out := range g.out {
		c.left[s] = len(out)
	}
	c.depths()
	rest := len(g.from)
	for number := 1; rest > 0; number++ {
		b := &Behaviour{Header: Header{Design: g.design, Model: g.model, Number: number}}
		b.add(g.act(Act{}, 0))
		b.Acts[0].Action = "Init"
		for at := 0; rest > 0; {
			path := c.nearest(at)
			if path == nil || at != 0 && len(path) > c.depth[g.from[path[len(path)-1]]] {
				break
			}
			for _, t := range path {
				if !c.taken[t] {
					c.taken[t] = true
					c.left[g.from[t]]--
					rest--
				}
				b.add(g.act(g.acts[t], g.to[t]))
				at = g.to[t]
			}
		}
		if len(b.Acts) == 1 {
			return fmt.Errorf("behaviours: model %s: %d transitions cannot be reached", g.model, rest)
		}
		if err := use(b); err != nil {
			return err
		}
	}
	return nil
}

// act is a with the state that it leads to.
func (g *Graph) act(a Act, state int) Act {
	a.State = g.states[state]
	a.fill()
	return a
}

// cover is what Cover knows while it goes.
type cover struct {
	*Graph
	taken []bool // per transition
	left  []int  // per state: transitions not taken
	depth []int  // per state: from the initial one

	via, mark []int // of the search: the transition that led to a state; the search that saw it
	search    int
	queue     []int
}

func (c *cover) depths() {
	c.depth = make([]int, len(c.states))
	seen := make([]bool, len(c.states))
	queue := []int{0}
	seen[0] = true
	for ; len(queue) > 0; queue = queue[1:] {
		for _, t := range c.out[queue[0]] {
			if to := c.to[t]; !seen[to] {
				seen[to] = true
				c.depth[to] = c.depth[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
}

// nearest is the shortest way from a state whose last transition was not taken yet, nil
// if there is none. Of several it prefers one that ends where it began, then one that
// leads to where most is left.
func (c *cover) nearest(at int) []int {
	c.search++
	c.queue = append(c.queue[:0], at)
	c.mark[at] = c.search
	for i := 0; i < len(c.queue); i++ {
		s := c.queue[i]
		if c.left[s] > 0 {
			return c.path(at, s, c.choose(s))
		}
		for _, t := range c.out[s] {
			if to := c.to[t]; c.mark[to] != c.search {
				c.mark[to], c.via[to] = c.search, t
				c.queue = append(c.queue, to)
			}
		}
	}
	return nil
}

func (c *cover) choose(s int) int {
	best, value := -1, -1
	for _, t := range c.out[s] {
		if c.taken[t] {
			continue
		}
		if c.to[t] == s {
			return t
		}
		if v := c.left[c.to[t]]; v > value {
			best, value = t, v
		}
	}
	return best
}

func (c *cover) path(at, end, last int) []int {
	path := []int{last}
	for s := end; s != at; s = c.from[c.via[s]] {
		path = append(path, c.via[s])
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}
