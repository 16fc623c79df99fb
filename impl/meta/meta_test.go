package meta

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/journal"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

func TestIntentsRiseAndNameTheOneBefore(t *testing.T) {
	p := newPlane(t, 3, 1)
	c := p.caller()
	at := &op.Position{Incarnation: 1, Offset: 4}
	gaps := 0
	var last op.Generation
	for i := range 20 {
		r := Request{Kind: PurgePartition, Partition: 0}
		if i%3 == 0 {
			r.Expected = at
		}
		got := one(t, c.do(r))
		require.Equal(t, Result{Partition: 0, Incarnation: 1, Serial: 0, Generation: got.Generation}, got)
		require.Greater(t, got.Generation, last)
		if got.Generation > last+1 {
			gaps++
		}
		last = got.Generation
	}
	require.Positive(t, gaps)
	s := p.agree()
	intents := s.Partition(0).Intents
	require.Len(t, intents, 20)
	before := op.Generation(0)
	for i, in := range intents {
		require.Equal(t, before, in.Previous)
		require.Equal(t, i%3 == 0, in.Expected != nil)
		before = in.Generation
	}
	require.Equal(t, last, s.Partition(0).Highest())
	require.Empty(t, s.Partition(1).Intents)
}

func TestTopicPurgeFailsNoSibling(t *testing.T) {
	p := newPlane(t, 1, 1)
	c := p.caller()
	one(t, c.do(Request{Kind: CreatePartition, Topic: 0, Partition: 5}))
	one(t, c.do(Request{Kind: DeletePartition, Partition: 1}))
	one(t, c.do(Request{Kind: PurgePartition, Partition: 5}))
	reply := c.do(Request{Kind: PurgeTopic, Topic: 0})
	require.Len(t, reply.Results, 3)
	require.Equal(t, op.OK, reply.Results[0].Code)
	require.Equal(t, Result{Partition: 1, Code: op.UnknownPartition}, reply.Results[1])
	require.Equal(t, op.OK, reply.Results[2].Code)
	require.Greater(t, reply.Results[2].Generation, reply.Results[0].Generation)
	s := p.agree()
	require.Len(t, s.Partition(0).Intents, 1)
	require.Len(t, s.Partition(5).Intents, 2)
	require.Empty(t, s.Partition(2).Intents, "another topic")
	require.Empty(t, c.do(Request{Kind: PurgeTopic, Topic: 99}).Results)
	one(t, c.do(Request{Kind: RecreatePartition, Partition: 5}))
	reply = c.do(Request{Kind: PurgeTopic, Topic: 0, Believed: []Belief{{0, 1}, {5, 1}}})
	require.Equal(t, op.OK, reply.Results[0].Code)
	require.Equal(t, op.StaleIncarnation, reply.Results[2].Code, "its caller means the namesake")
}

func TestCreateDeleteRecreate(t *testing.T) {
	p := newPlane(t, 1, 1)
	c := p.caller()
	do := func(k Kind, topic Topic, id op.Partition) Result {
		return one(t, c.do(Request{Kind: k, Topic: topic, Partition: id}))
	}
	require.Equal(t, op.PolicyViolation, do(CreatePartition, 0, 0).Code, "exists")
	require.Equal(t, Result{Partition: 9, Incarnation: 1, Serial: 3}, do(CreatePartition, 0, 9))
	for range 3 {
		do(PurgePartition, 0, 9)
	}
	require.Equal(t, Result{Partition: 9, Incarnation: 2, Serial: 4}, do(RecreatePartition, 0, 9))
	require.LessOrEqual(t, do(PurgePartition, 0, 9).Generation, op.Generation(2), "nothing of the namesake counts")
	require.Equal(t, op.OK, do(DeletePartition, 0, 9).Code)
	for _, k := range []Kind{DeletePartition, PurgePartition, RecreatePartition} {
		require.Equal(t, op.UnknownPartition, do(k, 0, 9).Code)
	}
	require.Equal(t, op.PolicyViolation, do(CreatePartition, 1, 9).Code, "its number belongs to another topic")
	require.Equal(t, Result{Partition: 9, Incarnation: 3, Serial: 5}, do(CreatePartition, 0, 9))
	stale := one(t, c.do(Request{Kind: PurgePartition, Partition: 9, Incarnation: 2}))
	require.Equal(t, Result{Partition: 9, Code: op.StaleIncarnation, Incarnation: 3, Serial: 5}, stale)
	var seen []string
	p.agree().Each(func(p *Partition) { seen = append(seen, fmt.Sprint(p.Topic, p.ID, p.Incarnation, p.Serial)) })
	require.Equal(t, []string{"0 0 1 0", "0 1 1 1", "0 9 3 5", "7 2 1 2"}, seen)
}

func TestRepeatsAreAnsweredNotExecuted(t *testing.T) {
	p := newPlane(t, 3, 1)
	c := p.caller()
	r := c.next(Request{Kind: PurgePartition, Partition: 0})
	first := p.do(r)
	p.crash(p.leader(), true)
	require.Equal(t, first, p.do(r), "after a leader change")
	older := r
	c.do(Request{Kind: PurgePartition, Partition: 0})
	require.Equal(t, op.StaleSequence, p.do(older).Code)
	for range 8 {
		p.caller()
	}
	require.Equal(t, op.SessionExpired, p.do(c.next(Request{Kind: PurgePartition, Partition: 0})).Code)
	require.Len(t, p.agree().Partition(0).Intents, 2)
	require.Equal(t, op.BadRequest, p.do(Request{Kind: PurgePartition}).Code, "no session")
	require.Equal(t, op.BadRequest, p.do(Request{Kind: 77, Session: 1, Sequence: 1}).Code)
}

func TestFollowersRefuse(t *testing.T) {
	p := newPlane(t, 3, 1)
	p.caller()
	leader := p.leader()
	other := leader%3 + 1
	p.step(other, Input{Call: &Call{Token: 77, Request: &Request{Kind: Register}}})
	require.Equal(t, Reply{Code: op.NotLeader}, p.answers[77])
	out, err := p.members[other-1].Step(Input{Call: &Call{Token: 78, Request: &Request{Kind: Register}}})
	require.NoError(t, err)
	require.Equal(t, leader, out.Answers[0].Leader)
}

// Whatever crashes, what was answered is there, once, on every replica.
func TestAcceptedSurvivesCrashes(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		p := newPlane(t, 3, seed)
		r := p.rand
		callers := []*caller{p.caller(), p.caller()}
		type done struct {
			r     Request
			reply Reply
		}
		var all []done
		for i := range 30 {
			c := callers[i%2]
			q := c.next(Request{Kind: []Kind{PurgePartition, PurgePartition, PurgeTopic}[r.IntN(3)], Partition: op.Partition(r.IntN(3))})
			p.send(&q) // a copy whose answer nobody waits for
			p.rounds(r.IntN(3))
			switch id := 1 + r.IntN(3); r.IntN(5) {
			case 0:
				p.crash(id, r.IntN(2) == 0)
				p.rounds(r.IntN(30))
				p.boot(id)
			case 1:
				p.cut[id-1] = true
				p.rounds(r.IntN(60))
				p.cut[id-1] = false
			case 2:
				for id := range p.members {
					p.crash(id+1, true)
				}
				for id := range p.members {
					p.boot(id + 1)
				}
			case 3:
				p.disks[id-1].Arm(func(vfs.Label, string) crashfs.Action {
					return []crashfs.Action{crashfs.Continue, crashfs.CrashBefore, crashfs.CrashAfter}[r.IntN(3)]
				})
				p.rounds(3)
				p.disks[id-1].Arm(nil)
				p.crash(id, r.IntN(2) == 0)
				p.boot(id)
			}
			all = append(all, done{q, p.do(q)})
		}
		s := p.agree()
		count := map[op.Partition]int{}
		for _, d := range all {
			require.Equal(t, op.OK, d.reply.Code)
			for _, x := range d.reply.Results {
				count[x.Partition]++
				require.Contains(t, generations(s.Partition(x.Partition)), x.Generation, "seed %d: %v", seed, d.r)
			}
		}
		for id, n := range count {
			require.Len(t, s.Partition(id).Intents, n, "seed %d: every command is executed once", seed)
		}
	}
}

func generations(p *Partition) []op.Generation {
	var out []op.Generation
	for _, in := range p.Intents {
		out = append(out, in.Generation)
	}
	return out
}

func TestSameInputsSameBytes(t *testing.T) {
	run := func() (string, []uint64) {
		p := newPlane(t, 3, 5)
		c := p.caller()
		var b strings.Builder
		for i := range 12 {
			if i%4 == 3 {
				p.crash(p.leader(), true)
			}
			fmt.Fprintln(&b, c.do(Request{Kind: PurgeTopic, Topic: 0}))
			for id := range p.members {
				if p.members[id] == nil {
					p.boot(id + 1)
				}
			}
		}
		var digests []uint64
		for _, d := range p.disks {
			digests = append(digests, d.Digest())
		}
		return b.String(), digests
	}
	textA, disksA := run()
	textB, disksB := run()
	require.Equal(t, textA, textB)
	require.Equal(t, disksA, disksB)
}

// A boot shows everything that the disk knows to be committed, and damage of what
// was synced is refused.
func TestBootReplaysTheJournal(t *testing.T) {
	p := newPlane(t, 1, 1)
	c := p.caller()
	for range 5 {
		c.do(Request{Kind: PurgePartition, Partition: 2})
	}
	p.crash(1, true)
	p.boot(1)
	require.NotEmpty(t, p.members[0].State().Partition(2).Intents)
	require.Len(t, p.agree().Partition(2).Intents, 5)
	p.crash(1, false)
	f, err := p.disks[0].FS().Open("meta/journal/00000001.log")
	require.NoError(t, err)
	_, err = f.WriteAt("test", []byte{0xff}, 100)
	require.NoError(t, err)
	cfg := p.cfg
	cfg.ID, cfg.FS, cfg.Rand = 1, p.disks[0].FS(), rand.New(rand.NewPCG(1, 1))
	_, err = Open(cfg)
	require.ErrorIs(t, err, journal.ErrCorrupt)
}

func TestForeignCommandStops(t *testing.T) {
	_, err := decode(3, []byte{0xff})
	require.ErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, "op 3")
}
