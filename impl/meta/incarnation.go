package meta

import (
	"cmp"
	"slices"

	"purgelab/impl/defect"
	"purgelab/model/op"
)

// This file is how a partition goes on whose majority lost its memory. All of it
// happens in the plane's log, so there is one order of it and one outcome:
//
//	suspect   a machine reports that its member lost its memory, and what its disk
//	          shows; a report that it joined again takes that back
//	seal      a majority of the machines is suspect: the incarnation is to end.
//	          Members that hear of it stop for good, and then report what they hold
//	begin     every machine has reported since the seal, a majority of them with
//	          something to show, or an operator does not want to wait: the next
//	          incarnation goes on from what shows most, the greatest (term, op)
//	          of the latest incarnation that anybody shows
//	baseless  the machine that it goes on from does not have that log any more, and
//	          nobody else has a copy: the incarnation is to end as well. Whoever had no
//	          copy yet shows what he had before, so the next best log is chosen
//
// A partition that could have gone on loses nothing by being sealed: whoever shows
// most of all has everything that was agreed on, as the winner of an election does.

// Evidence is what a machine can show of the log of a partition in one incarnation:
// everything up to op Last, whose term is Term. Without Intact it is nothing.
type Evidence struct {
	Intact bool      `cbor:"1,keyasint,omitempty"`
	Term   uint64    `cbor:"2,keyasint,omitempty"`
	Last   op.Number `cbor:"3,keyasint,omitempty"`
}

// above tells whether e shows more than o.
func (e Evidence) above(o Evidence) bool {
	if e.Intact != o.Intact {
		return e.Intact
	}
	return e.Term > o.Term || e.Term == o.Term && e.Last > o.Last
}

// Standing is what a machine reports of its member of a partition.
type Standing struct {
	Machine int  `cbor:"1,keyasint"`
	Suspect bool `cbor:"2,keyasint,omitempty"`
	// Sealed: it has stopped for good; only then Evidence is its last word.
	Sealed   bool     `cbor:"3,keyasint,omitempty"`
	Evidence Evidence `cbor:"4,keyasint,omitempty"`
	// Copied: Evidence is no memory of its own but a copy of what another one had, so
	// it proves nothing about what a majority once held.
	Copied bool `cbor:"5,keyasint,omitempty"`
	// Of is the incarnation whose log Evidence is of, if it is an older one: of the one
	// that ends this machine never had a base.
	Of op.Incarnation `cbor:"6,keyasint,omitempty"`
	// Baseless: the log that the incarnation goes on from was here, and is not to be
	// had any more.
	Baseless bool `cbor:"7,keyasint,omitempty"`
}

// above tells whether x shows more than y: a later incarnation, or more of the same.
func (x *Standing) above(y *Standing) bool {
	a, b := x.Evidence, y.Evidence
	if a.Intact && b.Intact && x.Of != y.Of {
		return y.Of != 0 && (x.Of == 0 || x.Of > y.Of)
	}
	return a.above(b)
}

// Source says what an incarnation goes on from: the log of the incarnation From, the one
// before it that anybody lived in, that a machine held up to op Last of term Term.
// Machine 0: nothing was left.
type Source struct {
	From    op.Incarnation
	Machine int
	Term    uint64
	Last    op.Number
	// Forced: an operator did not wait for all, or nothing that was synced could be
	// relied on.
	Forced bool
}

// suspect tells whether a machine is.
func (p *Partition) suspect(machine int) bool {
	i := p.standing(machine)
	return i >= 0 && p.Standings[i].Suspect
}

func (p *Partition) standing(machine int) int {
	return slices.IndexFunc(p.Standings, func(s Standing) bool { return s.Machine == machine })
}

// heard tells whether the state shows what a machine reports.
func (p *Partition) heard(x *Standing) bool {
	i := p.standing(x.Machine)
	if p.Sealed {
		return i >= 0 && p.Standings[i].Sealed
	}
	var shown Standing
	if i >= 0 {
		shown = p.Standings[i]
	}
	return shown.Suspect == x.Suspect && shown.Baseless == x.Baseless
}

// baseless tells whether what the incarnation goes on from is not to be had any more.
func (p *Partition) baseless() bool {
	return slices.ContainsFunc(p.Standings, func(s Standing) bool { return s.Baseless })
}

// MajoritySuspect tells whether so many machines lost their memory that the others
// cannot go on.
func (s *State) MajoritySuspect(p *Partition) bool {
	n := 0
	for _, m := range s.machines {
		if p.suspect(m) {
			n++
		}
	}
	return 2*n >= len(s.machines)
}

// report takes what a machine says of its member.
func (s *State) report(p *Partition, x Standing) {
	if p.Sealed && !x.Sealed {
		return // from before it heard of the seal
	}
	i := p.standing(x.Machine)
	switch {
	case i < 0:
		p.Standings = append(slices.Clip(p.Standings), x)
	case !p.Standings[i].Sealed: // its last word stands
		p.Standings = slices.Clone(p.Standings)
		p.Standings[i] = x
	}
	s.begin(p, false)
}

// seal ends an incarnation; what was reported before does not count any more.
func (s *State) seal(p *Partition) {
	if !p.Sealed {
		p.Sealed, p.Standings = true, nil
	}
}

// begin begins the next incarnation of a sealed partition, if enough is known.
func (s *State) begin(p *Partition, forced bool) {
	if !p.Sealed {
		return
	}
	answered, shown := 0, 0
	var best Standing
	for _, m := range s.machines {
		i := p.standing(m)
		if i < 0 {
			continue
		}
		answered++
		if x := p.Standings[i]; x.Evidence.Intact && !(x.Suspect && s.defects.Has(defect.SuspectsUnheard)) {
			if !x.Copied {
				shown++
			}
			if x.above(&best) {
				best = x
			}
		}
	}
	enough := answered == len(s.machines) || s.defects.Has(defect.TwoIncarnations)
	few := 2*shown <= len(s.machines) && !s.defects.Has(defect.FewShown)
	if !forced && (!enough || few) {
		return
	}
	p.Source = Source{From: cmp.Or(best.Of, p.Incarnation), Machine: best.Machine, Term: best.Evidence.Term, Last: best.Evidence.Last, Forced: forced}
	p.Incarnation++
	p.Sealed, p.Standings = false, nil
}

// standing carries out what machines ask for. It names the incarnation that it is
// about, and is about no other one.
func (s *State) standing(r *Request) Result {
	p, refusal := s.existing(r)
	if p == nil {
		if s.beginsAgain(r) {
			p = s.Partition(r.Partition)
			p.Source = Source{From: p.Source.From, Machine: r.Standing.Machine, Term: r.Standing.Evidence.Term, Last: r.Standing.Evidence.Last}
		}
		return refusal
	}
	if r.Kind == SealPartition {
		s.seal(p)
	} else {
		s.report(p, *r.Standing)
	}
	return p.result()
}

// beginsAgain: a defect takes a late report of more for a reason to begin again.
func (s *State) beginsAgain(r *Request) bool {
	p := s.Partition(r.Partition)
	return s.defects.Has(defect.TwoIncarnations) && r.Kind == ReportStanding && r.Standing.Sealed &&
		p != nil && !p.Deleted && p.Incarnation == r.Incarnation+1 && p.Incarnation > p.First &&
		r.Standing.Evidence.above(Evidence{Intact: true, Term: p.Source.Term, Last: p.Source.Last})
}
