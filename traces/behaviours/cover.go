package behaviours

import "fmt"

// Cover hands out behaviours that together take every transition, in as few acts as can
// be. That is the problem of the postman who walks every street: a behaviour may end in
// any state, and the next one begins in the initial one. How often each transition is
// taken once more, so that every state is left as often as it is come to, is the cheapest
// flow; then all of it is one round, which is cut where a behaviour ends.
func (g *Graph) Cover(use func(*Behaviour) error) error {
	r := round{Graph: g, times: make([]int, len(g.from)), ends: make([]int, len(g.states)), next: make([]int, len(g.states))}
	r.count()
	b := g.begin(1)
	for _, t := range r.walk() {
		if t != end {
			b.add(g.act(g.acts[t], g.to[t]))
			continue
		}
		if len(b.Acts) > 1 {
			if err := use(b); err != nil {
				return err
			}
			b = g.begin(b.Number + 1)
		}
	}
	for t, n := range r.times {
		if n > 0 {
			return fmt.Errorf("behaviours: model %s: transition %v cannot be reached", g.head.Model, g.acts[t].With)
		}
	}
	if len(b.Acts) > 1 {
		return use(b)
	}
	return nil
}

// begin is a behaviour in its initial state.
func (g *Graph) begin(number int) *Behaviour {
	b := &Behaviour{Header: g.head}
	b.Number = number
	b.add(g.act(Act{}, 0))
	b.Acts[0].Action = "Init"
	return b
}

// act is a with the state that it leads to.
func (g *Graph) act(a Act, state int) Act {
	a.State = g.states[state]
	a.fill()
	return a
}

// end stands for the end of a behaviour in a round.
const end = -1

// round is the way through the graph while it is found.
type round struct {
	*Graph
	times []int // per transition: how often it is still to be taken
	ends  []int // per state: how many behaviours end there
	next  []int // per state: the transition to try next
}

// count finds how often each transition is taken, and where behaviours end.
func (r *round) count() {
	n := len(r.states)
	f := newFlow(n + 2)
	spare := make([]int, n) // how much more often a state is come to than left
	for t := range r.from {
		r.times[t] = 1
		spare[r.to[t]]++
		spare[r.from[t]]--
		f.arc(r.from[t], r.to[t], unlimited, 1) // arc 2t
	}
	ends := len(f.to)
	for s := range n {
		f.arc(s, 0, unlimited, 0)
	}
	for s, much := range spare {
		if much > 0 {
			f.arc(n, s, much, 0)
		} else if much < 0 {
			f.arc(s, n+1, -much, 0)
		}
	}
	f.run(n, n+1)
	for t := range r.times {
		r.times[t] += f.flows(2 * t)
	}
	for s := range r.ends {
		r.ends[s] = f.flows(ends + 2*s)
	}
}

// walk goes round (Hierholzer's way): from the initial state on until it is back, and
// from where something is left along the way once more.
func (r *round) walk() []int {
	type hop struct{ state, by int }
	stack, out := []hop{{0, end}}, []int{}
	for len(stack) > 0 {
		at := stack[len(stack)-1].state
		switch t := r.take(at); {
		case t >= 0:
			stack = append(stack, hop{r.to[t], t})
		case t == end && r.ends[at] > 0 && at != 0:
			r.ends[at]--
			stack = append(stack, hop{0, end})
		default:
			out = append(out, stack[len(stack)-1].by)
			stack = stack[:len(stack)-1]
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// take is a transition of a state that is still to be taken, end if there is none.
func (r *round) take(s int) int {
	for ; r.next[s] < len(r.out[s]); r.next[s]++ {
		if t := r.out[s][r.next[s]]; r.times[t] > 0 {
			r.times[t]--
			return t
		}
	}
	return end
}
