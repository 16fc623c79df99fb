package behaviours

// flow is a network in which the cheapest flow is found that brings what some nodes have
// to spare to those that lack it: the method of shortest paths with potentials, all
// shortest paths of one length at a time. Costs are 0 or above.
type flow struct {
	first     [][]int // arcs of a node; arc a^1 is a turned round
	to, left  []int   // of an arc: where it goes, and how much more can flow
	cost      []int
	potential []int
	dist      []int
	next      []int // per node: the arc to try next
	on        []bool
}

const unlimited = 1 << 40

func newFlow(nodes int) *flow {
	return &flow{first: make([][]int, nodes), potential: make([]int, nodes), dist: make([]int, nodes), next: make([]int, nodes), on: make([]bool, nodes)}
}

// arc adds one and returns its number.
func (f *flow) arc(from, to, most, cost int) int {
	n := len(f.to)
	f.to, f.left, f.cost = append(f.to, to, from), append(f.left, most, 0), append(f.cost, cost, -cost)
	f.first[from], f.first[to] = append(f.first[from], n), append(f.first[to], n+1)
	return n
}

// flows is how much flows through an arc.
func (f *flow) flows(arc int) int { return f.left[arc^1] }

// run lets all flow that can, from source to sink, as cheaply as can be.
func (f *flow) run(source, sink int) {
	for f.distances(source, sink) {
		clear(f.next)
		for f.push(source, sink, unlimited) > 0 {
			clear(f.on)
		}
		clear(f.on)
	}
}

// distances makes what the shortest ways from source cost the potentials; false if none
// leads to sink. Costs under potentials are small, so nodes wait in buckets.
func (f *flow) distances(source, sink int) bool {
	for i := range f.dist {
		f.dist[i] = unlimited
	}
	f.dist[source] = 0
	buckets := [][]int{{source}}
	for d := 0; d < len(buckets); d++ {
		for i := 0; i < len(buckets[d]); i++ {
			v := buckets[d][i]
			if f.dist[v] != d {
				continue
			}
			for _, a := range f.first[v] {
				w := f.to[a]
				e := d + f.cost[a] + f.potential[v] - f.potential[w]
				if f.left[a] == 0 || e >= f.dist[w] {
					continue
				}
				f.dist[w] = e
				for len(buckets) <= e {
					buckets = append(buckets, nil)
				}
				buckets[e] = append(buckets[e], w)
			}
		}
	}
	far := f.dist[sink]
	for v := range f.potential {
		f.potential[v] += min(f.dist[v], far)
	}
	return far < unlimited
}

// push lets at most much flow from v to sink along arcs that are on shortest ways.
func (f *flow) push(v, sink, much int) int {
	if v == sink {
		return much
	}
	f.on[v] = true
	for ; f.next[v] < len(f.first[v]); f.next[v]++ {
		a := f.first[v][f.next[v]]
		w := f.to[a]
		if f.left[a] == 0 || f.on[w] || f.cost[a]+f.potential[v]-f.potential[w] != 0 {
			continue
		}
		if done := f.push(w, sink, min(much, f.left[a])); done > 0 {
			f.left[a] -= done
			f.left[a^1] += done
			f.on[v] = false
			return done
		}
	}
	return 0
}
