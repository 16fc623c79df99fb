package run

import (
	"context"
	"errors"
	"fmt"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/model/op"
)

// What is promised once nothing breaks any more, in ticks of simulated time. Every
// machine is up by then, so every partition has a quorum of replicas that can be
// trusted, or all its members to begin the next incarnation from; those whose damaged
// disks refuse to serve are excepted. docs/recovery.md says the same.
const (
	// RestTicks: from the end of the last fault until every replica has joined again,
	// serves, and has everything, every intent is settled everywhere, and clients that
	// waited were answered.
	RestTicks = 1500
	// ServeTicks: from then on until an append to every partition and then a purge of
	// it are answered, and every replica has them.
	ServeTicks = 300
)

func ticksSince(begun int64, c *sim.Cluster) int64 {
	return (c.Now() - begun + sim.Tick - 1) / sim.Tick
}

// rest waits until nothing is left to do, and says what is if that takes too long.
func (m *simulation) rest(ctx context.Context) (stuck string, err error) {
	return m.within(ctx, RestTicks, func() (bool, string) {
		if ok, why := m.cluster.AtRest(); !ok {
			return false, why
		}
		return m.cluster.Idle(), "a client was not answered"
	})
}

// within runs the cluster until done holds, and says what is missing if it does not in
// so many ticks.
func (m *simulation) within(ctx context.Context, ticks int64, done func() (bool, string)) (stuck string, err error) {
	c := m.cluster
	err = c.RunUntil(ctx, ticks*sim.Tick, func() bool {
		m.leaveLost()
		ok, why := done()
		if stuck = why; ok {
			stuck = ""
		}
		return ok || len(c.Refusals) > 0
	})
	if err != nil && !errors.Is(err, sim.ErrTimeLimit) {
		return "", err
	}
	return stuck, nil
}

// serve lets every partition take an append and a purge, after everything was judged
// and recorded: what it leaves is in no history and no trace.
// A group that agrees on its log does so without a minority of its machines, which go
// down for good.
func (m *simulation) serve(ctx context.Context, s *Settings) (stuck string, err error) {
	c := m.cluster
	m.trace.keep = false
	if s.Design != replica.ResetRecord.String() {
		left := sim.Split(s.Seed, "left").Perm(s.Replicas)[:(s.Replicas-1)/2]
		for i := range left {
			left[i]++
		}
		c.LeaveDown(left)
	}
	m.script.probe(c)
	c.Resume()
	return m.within(ctx, ServeTicks, func() (bool, string) {
		if why := m.script.unserved; why != "" {
			return false, why
		}
		if !c.Idle() {
			return false, "an append or a purge after the last fault was not answered"
		}
		return c.AtRest()
	})
}

// probe makes one client append to every partition that can go on, and purge it.
func (s *script) probe(c *sim.Cluster) {
	s.quiet, s.probing = true, true
	for _, p := range c.Live() {
		if !c.Lost(p) {
			at := op.Partition(p)
			s.reads = append(s.reads,
				&op.Request{Kind: op.Append, Partition: at, Payloads: []op.Payload{op.Payload(fmt.Sprintf("after-%d", p))}},
				&op.Request{Kind: op.Purge, Partition: at})
		}
	}
}

// probed takes what came of a probe: what was not answered for certain is asked again.
func (s *script) probed(c *sim.Call, o sim.Outcome, reply op.Reply) {
	switch {
	case o != sim.Answered:
		s.reads = append([]*op.Request{c.Request}, s.reads...)
	case reply.Code != op.OK && c.Request.Kind != op.Register:
		s.unserved = fmt.Sprintf("after the last fault partition %d answers %v to a request of kind %v", c.Request.Partition, reply.Code, c.Request.Kind)
	}
}
