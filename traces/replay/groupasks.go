package replay

import (
	"errors"
	"fmt"
	"slices"

	"purgelab/impl/replica"
	"purgelab/model/op"
)

// This file asks the replicas of a group what clients ask.

// errRefused is a request that a leader does not take.
var errRefused = errors.New("refused")

// ask puts a request in to the leader, as the one for op n, and lets it journal what it
// proposes. Nobody waits for the answer.
func (g *group) ask(n int, r *op.Request) error {
	m := g.members[g.lead]
	if g.watch != nil {
		g.watch.Asked(uint64(n), r)
	}
	g.answers = g.answers[:0]
	if err := g.step(m, replica.Input{Request: &replica.Request{Token: uint64(n), Op: r}}); err != nil {
		return err
	}
	if len(g.answers) > 0 && g.answers[0].Reply.Code != op.OK {
		return fmt.Errorf("%w: %v", errRefused, g.answers[0].Reply.Code)
	}
	return g.write(m)
}

// asking is the token of a read that is asked, registering of the registration of the
// session, and wiping and up those of purges; those of other requests are ops.
const (
	asking      = 1 << 40
	registering = 1 << 41
	wiping      = 1 << 42
)

// look has a replica answer a read, without asking whether it leads.
func (g *group) look(id int, q *op.Request) (op.Reply, error) {
	m := g.members[id]
	g.answers = g.answers[:0]
	m.r.Look(replica.Request{Token: asking, Op: q})
	const most = 32 // no read takes as many phases, and few are under way
	for range most {
		if i := slices.IndexFunc(g.answers, func(x replica.Answer) bool { return x.Token == asking }); i >= 0 {
			return g.answers[i].Reply, nil
		}
		if err := g.step(m, replica.Input{Work: true, Job: replica.ReadOn}); err != nil {
			return op.Reply{}, err
		}
	}
	return op.Reply{}, &missing{"Answer"}
}
