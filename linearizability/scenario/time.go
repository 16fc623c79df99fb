package scenario

import (
	"purgelab/impl/consensus"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// This file lets things happen, and time pass.

// event does the one thing that comes next: the oldest message arrives, or the
// next replica that has work does a piece. False: nothing is left to do.
func (w *world) event() bool {
	if len(w.queue) > 0 {
		m := w.queue[0]
		w.queue = w.queue[1:]
		if !w.cut[m.From][m.To] {
			w.step(w.nodes[m.To], replica.Input{Message: &m})
		}
		return true
	}
	for range w.s.Replicas {
		w.turn = w.turn%w.s.Replicas + 1
		if n := w.nodes[w.turn]; n.member != nil && n.work {
			w.step(n, replica.Input{Work: true})
			return true
		}
	}
	return false
}

// anyEvent does the one thing that comes next in some partition.
func (c *cluster) anyEvent() bool {
	for _, w := range c.all {
		if w.event() {
			return true
		}
	}
	return false
}

// drain does all that can be done without time passing, until done.
func (w *cluster) drain(done func() bool) bool {
	for range drainLimit {
		if done() {
			return true
		}
		if !w.anyEvent() {
			return false
		}
	}
	w.restless = true
	return false
}

func never() bool { return false }

// until lets time pass until done, at most so many ticks.
func (w *cluster) until(ticks int, done func() bool) bool {
	for range ticks {
		if w.drain(done) {
			return true
		}
		if w.restless {
			return false
		}
		w.now += tickMillis
		for _, x := range w.all {
			for _, n := range x.nodes[1:] {
				x.step(n, replica.Input{Tick: true})
				if w.drain(done) {
					return true
				}
			}
			x.resend()
		}
		if w.plane != nil {
			if w.tickPlane(); w.drain(done) {
				return true
			}
		}
	}
	return done()
}

// settle lets everything come to rest.
func (w *cluster) settle() { w.until(restTicks, never) }

// leader is who leads in the latest incarnation and the highest term, 0 if nobody
// does.
func (w *world) leader() int {
	leader, term, incarnation := 0, uint64(0), op.Incarnation(0)
	for _, n := range w.nodes[1:] {
		if n.member == nil {
			continue
		}
		if v := n.member.View(); v.Role == consensus.Leader && (v.Incarnation > incarnation || v.Incarnation == incarnation && v.Term > term) {
			leader, term, incarnation = n.id, v.Term, v.Incarnation
		}
	}
	return leader
}

// elect makes a replica the leader: time passes for all but the one that leads
// now, so nobody hears of it, and for the others only until they forget it.
func (w *world) elect(id int) string {
	old := w.leader()
	if old == id {
		return "r" + string(rune('0'+id))
	}
	won := func() bool { return w.leader() == id }
	for tick := range 4 * electionTicks {
		w.now += tickMillis
		w.step(w.nodes[id], replica.Input{Tick: true})
		if w.drain(won) {
			break
		}
		for _, n := range w.nodes[1:] {
			if n.id == id || n.id == old || tick >= electionTicks {
				continue
			}
			w.step(n, replica.Input{Tick: true})
			if w.drain(won) {
				break
			}
		}
	}
	if l := w.leader(); l != 0 {
		return "r" + string(rune('0'+l))
	}
	return "nobody"
}
