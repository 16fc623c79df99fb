package meta

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/model/op"
)

func shows(term uint64, last op.Number) Evidence {
	return Evidence{Intact: true, Term: term, Last: last}
}

// stand tells the plane how the member of a machine stands in partition 0.
func (p *plane) stand(machine int, i op.Incarnation, s Standing) {
	p.members[machine-1].Stands(Local{Partition: 0, Incarnation: i, Standing: s})
}

func (p *plane) partition() *Partition { return p.agree().Partition(0) }

// A minority that lost its memory is the partition's own affair.
func TestMinoritySuspect(t *testing.T) {
	p := newPlane(t, 3, 1)
	p.rounds(100)
	p.stand(2, 1, Standing{Suspect: true, Evidence: shows(3, 9)})
	p.rounds(300)
	require.False(t, p.partition().Sealed)
	require.True(t, p.partition().suspect(2))
	p.stand(2, 1, Standing{})
	p.stand(3, 1, Standing{Suspect: true})
	p.rounds(300)
	require.False(t, p.partition().Sealed, "they were suspect one after the other")
	require.EqualValues(t, 1, p.partition().Incarnation)
}

// A majority ends the incarnation. The next one begins when all have said what
// they hold, and from what is most.
func TestNewIncarnation(t *testing.T) {
	p := newPlane(t, 3, 1)
	p.rounds(100)
	c := p.caller()
	one(t, c.do(Request{Kind: PurgePartition, Partition: 0}))
	p.stand(1, 1, Standing{Suspect: true, Evidence: shows(3, 9)})
	p.stand(2, 1, Standing{Suspect: true, Evidence: shows(2, 30)})
	p.rounds(sealTicks / 2)
	require.False(t, p.partition().Sealed, "one of them may have joined again, and not be heard yet")
	p.rounds(2 * sealTicks)
	require.True(t, p.partition().Sealed)
	p.stand(1, 1, Standing{Suspect: true, Sealed: true, Evidence: shows(3, 9)})
	p.stand(2, 1, Standing{Suspect: true, Sealed: true, Evidence: shows(2, 30)})
	p.stand(3, 1, Standing{Evidence: shows(9, 9)})
	p.rounds(300)
	require.EqualValues(t, 1, p.partition().Incarnation, "one has not answered since")
	p.stand(3, 1, Standing{Sealed: true, Evidence: shows(3, 8)})
	p.rounds(100)
	got := p.partition()
	require.EqualValues(t, 2, got.Incarnation)
	require.EqualValues(t, 1, got.First)
	require.Equal(t, Source{From: 1, Machine: 1, Term: 3, Last: 9}, got.Source)
	require.Zero(t, got.Serial)
	require.Len(t, got.Intents, 1, "intents outlive it")
	require.False(t, got.Sealed)
	// What comes late is about an incarnation that has ended.
	p.stand(3, 1, Standing{Sealed: true, Evidence: shows(9, 99)})
	p.rounds(200)
	require.EqualValues(t, 2, p.partition().Incarnation)
	require.Equal(t, op.StaleIncarnation, one(t, c.do(Request{Kind: PurgePartition, Partition: 0, Incarnation: 1})).Code)
	for id := 1; id <= 3; id++ { // and it is remembered
		p.crash(id, true)
		p.boot(id)
	}
	p.rounds(100)
	require.Equal(t, *got, *p.partition())
	one(t, c.do(Request{Kind: RecreatePartition, Partition: 0}))
	again := p.partition()
	require.EqualValues(t, 3, again.First)
	require.Equal(t, Source{}, again.Source)
	require.Empty(t, again.Intents)
}

// Disks that show nothing are no majority: only an operator may go on without them.
func TestForceIncarnation(t *testing.T) {
	p := newPlane(t, 3, 1)
	p.rounds(100)
	for id := 1; id <= 3; id++ {
		p.stand(id, 1, Standing{Suspect: true})
	}
	p.rounds(3 * sealTicks)
	p.stand(1, 1, Standing{Suspect: true, Sealed: true})
	p.stand(2, 1, Standing{Suspect: true, Sealed: true})
	p.stand(3, 1, Standing{Sealed: true, Evidence: shows(4, 6)})
	p.rounds(300)
	require.EqualValues(t, 1, p.partition().Incarnation)
	c := p.caller()
	require.EqualValues(t, 2, one(t, c.do(Request{Kind: ForceIncarnation, Partition: 0, Incarnation: 1})).Incarnation)
	require.Equal(t, Source{From: 1, Machine: 3, Term: 4, Last: 6, Forced: true}, p.partition().Source)
	require.Equal(t, op.StaleIncarnation, one(t, c.do(Request{Kind: ForceIncarnation, Partition: 0, Incarnation: 1})).Code)
	require.Equal(t, op.PolicyViolation, c.do(Request{Kind: ForceIncarnation, Partition: 0}).Results[0].Code, "it goes on")
	require.EqualValues(t, 2, p.partition().Incarnation)
	p.suspects(2)
	require.True(t, p.partition().Sealed)
	require.Equal(t, op.PolicyViolation, c.do(Request{Kind: ForceIncarnation, Partition: 0}).Results[0].Code, "nobody has answered yet")
	p.stand(1, 2, Standing{Suspect: true, Sealed: true})
	p.rounds(100)
	one(t, c.do(Request{Kind: ForceIncarnation, Partition: 0}))
	require.Equal(t, Source{From: 2, Forced: true}, p.partition().Source, "one has, and has nothing")
}

// What an incarnation may begin from is a rule each: a defect that leaves it out lets another
// one begin, or none.
func TestBeginsWithDefects(t *testing.T) {
	for _, c := range []struct {
		on    defect.Set
		third Standing
		begin bool
	}{
		{0, Standing{Suspect: true}, false},
		{defect.FewShown, Standing{Suspect: true}, true},
		{0, Standing{Suspect: true, Evidence: shows(3, 7)}, true},
		{defect.SuspectsUnheard, Standing{Suspect: true, Evidence: shows(3, 7)}, false},
	} {
		p := newPlane(t, 3, 1)
		p.cfg.Defects = c.on
		for id := 1; id <= 3; id++ {
			p.crash(id, false)
			p.boot(id)
		}
		p.rounds(100)
		p.suspects(1)
		require.True(t, p.partition().Sealed)
		c.third.Sealed = true
		p.stand(1, 1, Standing{Sealed: true, Evidence: shows(3, 6)})
		p.stand(2, 1, Standing{Suspect: true, Sealed: true})
		p.stand(3, 1, c.third)
		p.rounds(300)
		require.Equal(t, c.begin, p.partition().Incarnation == 2, "%+v", c)
	}
}

// suspects makes all machines suspect in an incarnation.
func (p *plane) suspects(i op.Incarnation) {
	for id := 1; id <= 3; id++ {
		p.stand(id, i, Standing{Suspect: true})
	}
	p.rounds(3 * sealTicks)
}

// A copy that a new member has got from another one is no memory of what a majority
// held: it may be gone on from, but it does not count.
func TestCopyIsNoMemory(t *testing.T) {
	p := newPlane(t, 3, 1)
	p.rounds(100)
	p.suspects(1)
	p.stand(1, 1, Standing{Sealed: true, Evidence: shows(4, 6)})
	p.stand(2, 1, Standing{Suspect: true, Sealed: true, Copied: true, Evidence: shows(4, 7)})
	p.stand(3, 1, Standing{Suspect: true, Sealed: true})
	p.rounds(300)
	require.EqualValues(t, 1, p.partition().Incarnation)
	c := p.caller()
	one(t, c.do(Request{Kind: ForceIncarnation, Partition: 0}))
	require.Equal(t, Source{From: 1, Machine: 2, Term: 4, Last: 7, Forced: true}, p.partition().Source)
}

// One that is alone takes the same path.
func TestSingleIncarnation(t *testing.T) {
	p := newPlane(t, 1, 1)
	p.rounds(100)
	p.stand(1, 1, Standing{Suspect: true, Evidence: shows(3, 9)})
	p.rounds(3 * sealTicks)
	require.True(t, p.partition().Sealed)
	p.stand(1, 1, Standing{Suspect: true, Sealed: true, Evidence: shows(3, 9)})
	p.rounds(50)
	require.Equal(t, Source{From: 1, Machine: 1, Term: 3, Last: 9}, p.partition().Source)
}

// The machine that the incarnation goes on from has lost that log, and nobody has a
// copy: it ends, too, and the next best log is chosen. Whoever had a copy of the base
// goes before who shows what he had before it, whatever the terms: they began anew.
func TestBaselessIncarnation(t *testing.T) {
	for name, tc := range map[string]struct {
		last [3]Standing // words, by machine
		want Source
	}{
		"nobody has a copy": {
			[3]Standing{{}, {Of: 1, Evidence: shows(3, 8)}, {Of: 1, Evidence: shows(3, 7)}},
			Source{From: 1, Machine: 2, Term: 3, Last: 8},
		},
		"one has": {
			[3]Standing{{}, {Of: 1, Evidence: shows(3, 8)}, {Evidence: shows(1, 1)}},
			Source{From: 2, Machine: 3, Term: 1, Last: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlane(t, 3, 1)
			p.rounds(100)
			p.suspects(1)
			for id := 1; id <= 3; id++ {
				p.stand(id, 1, Standing{Suspect: true, Sealed: true, Evidence: shows(3, op.Number(10-id))})
			}
			p.rounds(100)
			require.Equal(t, Source{From: 1, Machine: 1, Term: 3, Last: 9}, p.partition().Source)
			p.stand(1, 2, Standing{Suspect: true})
			p.rounds(3 * sealTicks)
			require.False(t, p.partition().Sealed, "it may get a copy")
			p.stand(1, 2, Standing{Suspect: true, Baseless: true})
			p.rounds(3 * sealTicks)
			require.True(t, p.partition().Sealed)
			for i, s := range tc.last {
				require.EqualValues(t, 2, p.partition().Incarnation)
				s.Sealed = true
				p.stand(i+1, 2, s)
				p.rounds(100)
			}
			require.EqualValues(t, 3, p.partition().Incarnation)
			require.Equal(t, tc.want, p.partition().Source)
		})
	}
}

// A copy came after all: nothing ends.
func TestBaselessForAWhile(t *testing.T) {
	p := newPlane(t, 3, 1)
	p.rounds(100)
	p.stand(1, 1, Standing{Baseless: true})
	p.rounds(sealTicks / 2)
	p.stand(1, 1, Standing{})
	p.rounds(3 * sealTicks)
	require.False(t, p.partition().Sealed)
}

// The machine that an incarnation goes on from is gone for good, and says nothing: an
// operator ends it, and does not wait for that machine.
func TestOperatorEndsIncarnation(t *testing.T) {
	p := newPlane(t, 3, 1)
	p.rounds(100)
	p.suspects(1)
	for id := 1; id <= 3; id++ {
		p.stand(id, 1, Standing{Suspect: true, Sealed: true, Evidence: shows(3, op.Number(10-id))})
	}
	p.rounds(100)
	require.Equal(t, 1, p.partition().Source.Machine)
	c := p.caller()
	require.Equal(t, op.PolicyViolation, c.do(Request{Kind: ForceIncarnation, Partition: 0}).Results[0].Code)
	one(t, c.do(Request{Kind: SealPartition, Partition: 0, Incarnation: 2}))
	p.stand(2, 2, Standing{Sealed: true, Of: 1, Evidence: shows(3, 8)})
	p.stand(3, 2, Standing{Sealed: true, Of: 1, Evidence: shows(3, 7)})
	p.rounds(100)
	require.EqualValues(t, 2, p.partition().Incarnation)
	one(t, c.do(Request{Kind: ForceIncarnation, Partition: 0, Incarnation: 2}))
	require.Equal(t, Source{From: 1, Machine: 2, Term: 3, Last: 8, Forced: true}, p.partition().Source)
}

// What a sealed member said that it holds is its last word: a report that comes again, or
// of a disk that is another one since, changes nothing.
func TestLastWordStands(t *testing.T) {
	s, p := &State{machines: []int{1, 2, 3}}, &Partition{Incarnation: 1, Sealed: true}
	s.report(p, Standing{Machine: 1, Sealed: true, Evidence: shows(3, 10)})
	s.report(p, Standing{Machine: 1, Sealed: true, Suspect: true})
	s.report(p, Standing{Machine: 1, Evidence: shows(4, 11)})
	s.report(p, Standing{Machine: 2, Sealed: true, Evidence: shows(3, 9)})
	require.EqualValues(t, 1, p.Incarnation)
	s.report(p, Standing{Machine: 3, Sealed: true})
	require.Equal(t, Source{From: 1, Machine: 1, Term: 3, Last: 10}, p.Source)
}
