package sim

import (
	"math/rand/v2"

	"purgelab/impl/replica"
	"purgelab/model/op"
)

// meta stands for the metadata plane: a durable counter that hands out purge
// generations per partition and tells the replicas, again and again, which ones
// are not settled yet. It is a single reliable place, reached through links that
// are not.
type meta struct {
	intents [][]replica.Intent // per partition, ascending generations, never changed
	callers [][]uint64         // per partition: the call that each intent was granted to
	settled []int              // per partition: how many are known to be settled
	rand    *rand.Rand
}

func (m *meta) init(seed uint64, partitions int) {
	m.intents = make([][]replica.Intent, partitions)
	m.callers = make([][]uint64, partitions)
	m.settled = make([]int, partitions)
	m.rand = Split(seed, "meta")
}

// grant gives a call its generation, the same one if it asks again. Some
// generations are skipped, as intents that were withdrawn would be.
func (m *meta) grant(caller uint64, r *op.Request) {
	if m.granted(caller, r.Partition) != 0 {
		return
	}
	list := m.intents[r.Partition]
	g := op.Generation(1)
	if len(list) > 0 {
		g = list[len(list)-1].Generation + 1
	}
	if m.rand.IntN(8) == 0 {
		g++
	}
	m.intents[r.Partition] = append(list, replica.Intent{Generation: g, Expected: r.Expected})
	m.callers[r.Partition] = append(m.callers[r.Partition], caller)
}

// granted is the generation that a call was given, 0 if none.
func (m *meta) granted(caller uint64, p op.Partition) op.Generation {
	for i := len(m.callers[p]) - 1; i >= 0; i-- {
		if m.callers[p][i] == caller {
			return m.intents[p][i].Generation
		}
	}
	return 0
}

// askIntent: a client's question reached the metadata plane.
func (c *Cluster) askIntent(id int, epoch uint32) {
	cl := &c.clients[id]
	if cl.epoch != epoch {
		return // it gave up before the question arrived
	}
	c.meta.grant(cl.token, cl.call.Request)
	if d, _ := c.net.route(0, 0, false, &c.Effects); d != lostInTransit {
		c.schedule(d, event{kind: evGrant, who: uint16(id), epoch: epoch})
	}
}

// tellIntents tells one machine what is not settled.
func (c *Cluster) tellIntents(id int) {
	c.schedule(intentsPeriod, event{kind: evIntents, who: uint16(id)})
	if !c.machines[id].up {
		return
	}
	for p, list := range c.meta.intents {
		c.learnSettled(id, p)
		open := list[c.meta.settled[p]:]
		if len(open) == 0 {
			continue
		}
		if d, _ := c.net.route(0, id, false, &c.Effects); d != lostInTransit {
			c.step(id, p, replica.Input{Intents: open})
		}
	}
}

// learnSettled reads from a replica what it has settled: what is applied
// anywhere was committed, so it is settled everywhere sooner or later.
func (c *Cluster) learnSettled(id, p int) {
	m := c.machines[id].members[p].member
	list := c.meta.intents[p]
	if m == nil || c.meta.settled[p] == len(list) {
		return
	}
	s := m.View().Facts.Settled
	for c.meta.settled[p] < len(list) && list[c.meta.settled[p]].Generation <= s {
		c.meta.settled[p]++
	}
}
