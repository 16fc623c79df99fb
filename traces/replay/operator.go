package replay

import (
	"fmt"

	"purgelab/impl/consensus"
	"purgelab/impl/meta"
	"purgelab/model/op"
)

// This file is an operator. Where all members have answered, and the disks of a majority are
// gone, nothing goes on before somebody says so: in the end of what leads a group he does.

// fewShown tells whether all have said what they hold, and no majority has a memory of it.
func (p *plane) fewShown(g *group) bool {
	id := p.leads()
	if id == 0 {
		return false
	}
	is := p.decided(id)
	if !is.Sealed || is.Incarnation != g.incarnation || len(is.Standings) < len(p.of)-1 {
		return false
	}
	shown := 0
	for _, x := range is.Standings {
		if x.Evidence.Intact && !x.Copied {
			shown++
		}
	}
	return 2*shown < len(p.of)
}

// force has the plane go on with what is left.
func (p *plane) force(g *group) error {
	for i, r := range []meta.Request{{Kind: meta.Register}, {Kind: meta.ForceIncarnation, Incarnation: g.incarnation}} {
		r.Session, r.Sequence = p.reply.Session, op.Sequence(i)
		p.reply = meta.Reply{}
		if err := p.step(p.leads(), meta.Input{Call: &meta.Call{Request: &r}}); err != nil {
			return err
		}
		if err := p.drain(); err != nil {
			return err
		}
	}
	if len(p.reply.Results) != 1 || p.reply.Results[0].Code != op.OK {
		return fmt.Errorf("replay: an operator is answered %+v", p.reply)
	}
	if g.watch != nil {
		g.watch.Forced()
	}
	return nil
}

// leads is the machine that leads the plane, 0: none.
func (p *plane) leads() int {
	for id := 1; id < len(p.of); id++ {
		if p.of[id].View().Role == consensus.Leader {
			return id
		}
	}
	return 0
}
