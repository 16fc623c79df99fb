package replay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"purgelab/impl/defect"
	"purgelab/impl/meta"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// plane is the metadata plane of a group whose replicas may lose their memory: it decides
// when the partition goes on in a new incarnation, and from what. Each machine has a
// replica of it on a disk of its own, which never fails.
type plane struct {
	of    []*meta.Machine // by machine, from 1
	queue []meta.Message
	reply meta.Reply // what an operator was answered last
}

func newPlane(n int, defects defect.Set) (*plane, error) {
	p := &plane{of: make([]*meta.Machine, n+1)}
	for id := 1; id <= n; id++ {
		fs := crashfs.New().FS()
		cfg := meta.Config{
			ID: id, Members: machines(n), Cluster: identity.Cluster, FS: fs, Dir: "meta", Initial: []meta.Placement{{}}, Sessions: 1, JournalBytes: 1 << 20,
			HeartbeatTicks: heartbeatTicks, ElectionTicks: electionTicks, Rand: rand.New(&alike{id: uint64(id)}), Defects: defects,
		}
		err := errors.Join(fs.Mkdir("replay.mkdir", "meta"), fs.SyncDir("replay.mkdir", "."), meta.Format(cfg))
		if err == nil {
			p.of[id], err = meta.Open(cfg)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// machines are all, by their numbers.
func machines(n int) (all []int) {
	for id := 1; id <= n; id++ {
		all = append(all, id)
	}
	return all
}

func (p *plane) step(id int, in meta.Input) error {
	for {
		out, err := p.of[id].Step(in)
		if err != nil {
			return err
		}
		p.queue = append(p.queue, out.Messages...)
		for _, a := range out.Answers {
			p.reply = a.Reply
		}
		if in = (meta.Input{Work: true}); !out.Work {
			return nil
		}
	}
}

// tick lets time pass, and whatever is said arrive.
func (p *plane) tick() error {
	for id := 1; id < len(p.of); id++ {
		if err := p.step(id, meta.Input{Tick: true}); err != nil {
			return err
		}
		if err := p.drain(); err != nil {
			return err
		}
	}
	return nil
}

// drain lets whatever is said arrive.
func (p *plane) drain() error {
	for len(p.queue) > 0 {
		m := p.queue[0]
		p.queue = p.queue[1:]
		if err := p.step(m.To, meta.Input{Message: &m}); err != nil {
			return err
		}
	}
	return nil
}

// hears of how a replica stands that is in an incarnation.
func (p *plane) hears(id int, in op.Incarnation, s replica.Standing) {
	if !s.Suspect && !s.Sealed {
		s.Evidence = replica.Evidence{} // it goes on
	}
	p.of[id].Stands(meta.Local{Incarnation: in, Standing: meta.Standing{
		Suspect: s.Suspect, Sealed: s.Sealed, Copied: s.Copied, Of: s.Of, Baseless: s.Baseless,
		Evidence: meta.Evidence{Intact: s.Evidence.Intact, Term: s.Evidence.Term, Last: s.Evidence.Last},
	}})
}

// decided is what the replica of a machine knows of the partition.
func (p *plane) decided(id int) *meta.Partition { return p.of[id].State().Partition(0) }

// decide has the plane begin the next incarnation of a group. All replicas run. An operator,
// if there is one, goes on with what is left where the plane must not.
func (p *plane) decide(g *group, operator bool) error {
	const most = 1000 // ticks: it waits for none as long
	for range most {
		later := 0
		for _, m := range g.members[1:] {
			switch is := p.decided(m.id); {
			case is.Incarnation > g.incarnation:
				later++
				continue
			case is.Sealed && !m.r.View().Sealed:
				if err := g.step(m, replica.Input{Seal: true}); err != nil {
					return err
				}
			}
			p.hears(m.id, g.incarnation, m.r.Standing())
		}
		if later == len(g.members)-1 {
			return nil
		}
		if err := p.tick(); err != nil {
			return err
		}
		if operator && p.fewShown(g) {
			if err := p.force(g); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w: the plane begins none after incarnation %d", &missing{"NewIncarnation"}, g.incarnation)
}

// ends lets the plane hear how all stand, and time pass for it; it tells whether the
// incarnation is to end.
func (p *plane) ends(g *group) (bool, error) {
	for _, m := range g.members[1:] {
		p.hears(m.id, g.incarnation, m.r.Standing())
	}
	err := p.tick()
	return slices.ContainsFunc(machines(len(g.members)-1), func(id int) bool {
		is := p.decided(id)
		return is.Sealed || is.Incarnation > g.incarnation
	}), err
}
