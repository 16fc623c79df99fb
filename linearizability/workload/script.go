package workload

import (
	"slices"

	"purgelab/model/op"
)

// Step is one operation of a script: who asks for what, and when.
type Step struct {
	Client int
	// At is the simulated time in microseconds before which it is not begun; it
	// begins later if the client is not done with the one before.
	At int64
	// Choice is what is asked. Think is not used. The partition of the request is
	// its number in the beginning; it stands for whatever the partition has become.
	Choice
}

// Script is a workload in which nothing is drawn: what a run did, or a part of it.
type Script struct {
	Steps []Step // those of a client in the order in which it does them
}

// Clients is how many clients there are: one more than the highest number.
func (s *Script) Clients() int {
	n := 0
	for i := range s.Steps {
		n = max(n, s.Steps[i].Client+1)
	}
	return n
}

// Partitions is how many partitions it needs at the beginning.
func (s *Script) Partitions() int {
	n := 1
	for i := range s.Steps {
		n = max(n, int(s.Steps[i].Request.Partition)+1)
	}
	return n
}

// Recreations is how often it has a partition created again.
func (s *Script) Recreations() int {
	n := 0
	for i := range s.Steps {
		if s.Steps[i].Recreate {
			n++
		}
	}
	return n
}

// Last is the time of the last step, in microseconds.
func (s *Script) Last() int64 {
	at := int64(0)
	for i := range s.Steps {
		at = max(at, s.Steps[i].At)
	}
	return at
}

// Player gives clients the steps of a script.
type Player struct {
	left [][]Step // by client
}

// Play begins a script.
func (s *Script) Play() *Player {
	p := &Player{left: make([][]Step, s.Clients())}
	for _, step := range s.Steps {
		p.left[step.Client] = append(p.left[step.Client], step)
	}
	return p
}

// Next is the next operation of a client at a time; false when it has done all. now
// tells which number a partition of the beginning has now.
func (p *Player) Next(client int, at int64, now func(op.Partition) op.Partition) (Choice, bool) {
	if client >= len(p.left) || len(p.left[client]) == 0 {
		return Choice{}, false
	}
	step := p.left[client][0]
	p.left[client] = p.left[client][1:]
	c := step.Choice
	r := *c.Request // which the simulator fills in
	r.Partition = now(r.Partition)
	c.Request = &r
	c.Think = max(0, step.At-at-1)
	return c, true
}

// Note makes a step of a choice that a client was given at a time, before anything is
// filled in.
func (w *Workload) Note(client int, at int64, c Choice) Step {
	r := *c.Request
	r.Partition = w.first(r.Partition)
	c.Request = &r
	s := Step{Client: client, At: at + 1 + c.Think, Choice: c}
	s.Think = 0
	return s
}

// first is the number that a partition had in the beginning.
func (w *Workload) first(now op.Partition) op.Partition {
	i := slices.IndexFunc(w.partitions, func(p partition) bool { return p.id == now })
	return op.Partition(max(i, 0))
}

// Now is the number that a partition of the beginning has now.
func (w *Workload) Now(first op.Partition) op.Partition {
	if int(first) < len(w.partitions) {
		return w.partitions[first].id
	}
	return first
}
