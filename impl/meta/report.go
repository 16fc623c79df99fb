package meta

import (
	"slices"

	"purgelab/model/op"
)

// A machine tells the plane how its members stand through its own replica of the
// plane, which goes on sending what the state does not show to whoever leads. The
// leader watches for partitions whose majority is suspect, or whose base is lost, and
// seals one that has been so for a while: a member that joined again may just not have
// been heard.
const (
	reportTicks = 10 // between two reports of the same
	sealTicks   = 40 // that a partition cannot go on before it is sealed
)

// Local is how the member of this machine stands in a partition.
type Local struct {
	Partition   op.Partition
	Incarnation op.Incarnation
	Standing    Standing
}

// dying counts the ticks during which a partition could not go on.
type dying struct {
	of    op.Partition
	in    op.Incarnation
	ticks int
}

// Stands notes how a member of this machine stands; the machine is filled in. The
// plane is told at the next tick.
func (m *Machine) Stands(l Local) {
	l.Standing.Machine = m.cfg.ID
	if i := slices.IndexFunc(m.local, func(x Local) bool { return x.Partition == l.Partition }); i >= 0 {
		m.local[i] = l
	} else {
		m.local = append(m.local, l)
	}
	m.reportLater = 0
}

// tell sends what the state does not show, now and then.
func (m *Machine) tell() {
	if len(m.local) == 0 {
		return
	}
	if m.reportLater--; m.reportLater > 0 {
		return
	}
	m.reportLater = reportTicks
	for _, l := range m.local {
		r := &Request{Kind: ReportStanding, Partition: l.Partition, Incarnation: l.Incarnation, Standing: &l.Standing}
		if !m.news(r) {
			continue
		}
		if m.leading {
			m.ask(r)
		} else if to := machineOf(m.node.Status().Leader); to != 0 {
			m.out.Messages = append(m.out.Messages, Message{From: m.cfg.ID, To: to, Report: r})
		}
	}
}

// news tells whether a report is about the present and the state does not show it.
func (m *Machine) news(r *Request) bool {
	p := m.state.Partition(r.Partition)
	return p != nil && !p.Deleted && p.Incarnation == r.Incarnation && !p.heard(r.Standing)
}

// heard takes the report of another machine.
func (m *Machine) heard(r *Request) {
	if m.leading && r.valid() && r.Kind == ReportStanding && m.news(r) {
		m.ask(r)
	}
}

// ask proposes what nobody waits for; what is lost is asked again.
func (m *Machine) ask(r *Request) {
	m.counter++
	_ = m.node.Propose(encode(&command{Origin: m.origin, Number: m.counter, Request: *r}))
}

// watch seals what cannot go on.
func (m *Machine) watch() {
	if !m.leading {
		m.dying = nil
		return
	}
	var now []dying
	m.state.Each(func(p *Partition) {
		if p.Deleted || p.Sealed || len(p.Standings) == 0 || !m.state.MajoritySuspect(p) && !p.baseless() {
			return
		}
		d := dying{of: p.ID, in: p.Incarnation}
		for _, x := range m.dying {
			if x.of == d.of && x.in == d.in {
				d.ticks = x.ticks + 1
			}
		}
		if d.ticks >= sealTicks {
			d.ticks = 0
			m.ask(&Request{Kind: SealPartition, Partition: p.ID, Incarnation: p.Incarnation})
		}
		now = append(now, d)
	})
	m.dying = now
}
