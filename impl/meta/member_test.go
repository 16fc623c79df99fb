package meta

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/consensus"
	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// emptied gives a replica that is down an empty disk.
func (p *plane) emptied(id int) {
	p.members[id-1] = nil
	d := crashfs.New()
	require.NoError(p.t, d.FS().Mkdir("test", "meta"))
	require.NoError(p.t, d.FS().SyncDir("test", "."))
	p.disks[id-1] = d
}

// rot changes a byte of a replica's journal that the disk proves to have kept.
func (p *plane) rot(id int, r *rand.Rand) {
	cfg := p.cfg
	cfg.ID, cfg.FS = id, p.disks[id-1].Clone().FS()
	spans, err := Proved(cfg)
	require.NoError(p.t, err)
	require.NotEmpty(p.t, spans)
	s := spans[r.IntN(len(spans))]
	require.NoError(p.t, p.disks[id-1].Rot(s.File, s.From+r.Int64N(s.To-s.From), 1<<r.IntN(8)))
}

// joins lets time pass until nobody joins any more.
func (p *plane) joins() {
	for range 400 {
		p.rounds(1)
		joining := p.leader() == 0
		for _, m := range p.members {
			joining = joining || m != nil && m.Joining()
		}
		if !joining {
			return
		}
	}
	require.Fail(p.t, "somebody still joins")
}

// A replica whose disk was replaced, or is damaged at a boot or under way, joins again
// as another member, one after the other, until nobody is who he was; the quorum goes
// on meanwhile, and no intent that was answered is lost.
func TestLostMemory(t *testing.T) {
	for name, lose := range map[string]func(p *plane, id int, r *rand.Rand){
		"replaced": func(p *plane, id int, _ *rand.Rand) { p.emptied(id) },
		"damaged":  func(p *plane, id int, r *rand.Rand) { p.crash(id, true); p.rot(id, r) },
	} {
		for seed := uint64(1); seed <= 6; seed++ {
			r := rand.New(rand.NewPCG(seed, 3))
			p := newPlane(t, 3, seed)
			c := p.caller()
			answered := op.Generation(0)
			for round := range 6 {
				for range 3 {
					answered = one(t, c.do(Request{Kind: PurgePartition, Partition: 2})).Generation
				}
				id := 1 + (int(seed)+round)%3
				lose(p, id, r)
				first := one(t, c.do(Request{Kind: PurgePartition, Partition: 2})) // without it
				require.Greater(t, first.Generation, answered)
				answered = first.Generation
				p.boot(id)
				m := p.members[id-1]
				require.True(t, m.Joining(), name)
				var lost *LostError
				require.Equal(t, name == "replaced", errors.As(m.Suspect(), &lost))
				require.Equal(t, name == "damaged", errors.Is(m.Suspect(), corrupt.ErrCorrupt))
				if round%2 == 0 { // a crash in the middle of it
					p.rounds(r.IntN(40))
					p.crash(id, round == 0)
					p.boot(id)
				}
				p.joins()
				p.crash(id, true)
				p.boot(id)
				require.False(t, p.members[id-1].Joining())
				require.NoError(t, p.members[id-1].Suspect())
				require.GreaterOrEqual(t, p.members[id-1].State().Partition(2).Highest(), first.Generation, "what was committed when it joined")
			}
			require.Equal(t, answered, p.agree().Partition(2).Highest())
			for id, m := range p.members {
				names, err := p.disks[id].FS().List("meta")
				require.NoError(t, err)
				require.ElementsMatch(t, []string{"member", m.cfg.member.Home + "/"}, names, "files of members before are gone")
			}
		}
	}
}

// A Join of a member that its replica gave up comes late, and takes the place of the one
// that it is now. That one is told, and becomes yet another member.
func TestLateJoin(t *testing.T) {
	p := newPlane(t, 3, 1)
	c := p.caller()
	one(t, c.do(Request{Kind: PurgePartition, Partition: 2}))
	lead := p.leader()
	id := lead%3 + 1
	again := func() uint64 {
		p.emptied(id)
		p.boot(id)
		return p.members[id-1].cfg.member.ID
	}
	members := func() consensus.Membership { return p.members[lead-1].node.Members() }
	first, second := again(), again()
	for range 100 {
		if p.rounds(1); slices.Contains(members().Learners, second) {
			break
		}
	}
	require.Contains(t, members().Learners, second)
	p.step(lead, Input{Message: &Message{From: id, To: lead, Join: first}})
	for range 20 {
		p.rounds(1)
	}
	require.Contains(t, members().Gone, second)
	p.step(id, Input{Message: &Message{From: lead, To: id, Join: first}}) // an older one that comes back means nothing
	p.joins()
	require.Len(t, members().Voters, 3)
	for _, v := range members().Voters {
		require.NotContains(t, members().Gone, v)
	}
	var removed *RemovedError
	require.ErrorAs(t, p.members[id-1].Suspect(), &removed)
	require.Equal(t, second, removed.Member)
	one(t, c.do(Request{Kind: PurgePartition, Partition: 2}))
	p.agree()
}

// Damage that is met under way stops the replica; it is opened with the reason.
func TestDamageUnderWay(t *testing.T) {
	p := newPlane(t, 3, 1)
	c := p.caller()
	for range 5 {
		c.do(Request{Kind: PurgePartition, Partition: 1})
	}
	cfg := p.cfg
	cfg.ID, cfg.FS, cfg.Rand = 3, p.disks[2].FS(), rand.New(rand.NewPCG(1, 1))
	cfg.Damaged = &corrupt.Error{File: "meta/journal/00000001.log", What: "checksum", Want: 1, Got: 2}
	m, err := Open(cfg)
	require.NoError(t, err)
	require.ErrorIs(t, m.Suspect(), corrupt.ErrCorrupt)
	require.True(t, m.Joining())
}

// A replica that is alone, or on the disk of another one, does not start, and says why.
func TestRefusedDisks(t *testing.T) {
	open := func(p *plane, id int) error {
		cfg := p.cfg
		cfg.ID, cfg.FS, cfg.Rand = id, p.disks[id-1].FS(), rand.New(rand.NewPCG(1, 1))
		_, err := Open(cfg)
		return err
	}
	p := newPlane(t, 1, 1)
	p.caller()
	p.crash(1, true)
	p.rot(1, rand.New(rand.NewPCG(1, 2)))
	require.ErrorIs(t, open(p, 1), corrupt.ErrCorrupt)
	p.emptied(1)
	var lost *LostError
	require.ErrorAs(t, open(p, 1), &lost)
	require.ErrorContains(t, lost, "the disk of replica 1 is not the one that it had")

	p = newPlane(t, 3, 1)
	p.caller()
	p.members[0], p.members[1] = nil, nil
	p.disks[0] = p.disks[1].Clone()
	var foreign *record.ForeignError
	require.ErrorAs(t, open(p, 1), &foreign)
	require.EqualValues(t, 2, foreign.Got.Replica)
	cfg := p.cfg
	cfg.ID, cfg.FS, cfg.Cluster, cfg.Rand = 2, p.disks[1].FS(), 2, rand.New(rand.NewPCG(1, 1))
	_, err := Open(cfg)
	require.ErrorAs(t, err, &foreign)
}

// One of three lost its disk, another one is away, and the third has not heard of the
// intent that those two acknowledged: nothing can be decided until the one that holds
// it is back. With the defect it is forgotten.
func TestForgettingPlane(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		p := newPlane(t, 3, 4)
		if forgets {
			p.cfg.Defects = defect.PlaneForgets
		}
		c := p.caller()
		p.rounds(20)
		lead := p.leader()
		behind := lead%3 + 1
		lost := behind%3 + 1
		p.cut[behind-1] = true
		g := one(t, c.do(Request{Kind: PurgePartition, Partition: 1})).Generation
		p.emptied(lost)
		p.boot(lost)
		p.cut[lead-1], p.cut[behind-1] = true, false
		p.rounds(300)
		require.Equal(t, forgets, p.leader() != 0)
		if forgets {
			require.Less(t, p.members[p.leader()-1].State().Partition(1).Highest(), g)
			continue
		}
		p.cut[lead-1] = false
		p.joins()
		require.Equal(t, g, p.agree().Partition(1).Highest())
	}
}

// Every call of a boot that gives up an identity, and of the end of joining, may be the
// last before a crash, and a disk may fail there.
func TestCrashesWhileJoining(t *testing.T) {
	crashes := 0
	for power := range 2 {
		for nth := 1; ; nth++ {
			p := newPlane(t, 3, uint64(nth))
			c := p.caller()
			g := one(t, c.do(Request{Kind: PurgePartition, Partition: 1})).Generation
			p.emptied(2)
			left, hit := nth, false
			p.disks[1].Arm(func(label vfs.Label, _ string) crashfs.Action {
				if left--; left != 0 {
					return crashfs.Continue
				}
				hit = true
				return crashfs.CrashBefore
			})
			cfg := p.cfg
			cfg.ID, cfg.FS, cfg.Rand = 2, p.disks[1].FS(), rand.New(rand.NewPCG(2, uint64(nth)))
			m, err := Open(cfg)
			if err == nil {
				p.members[1] = m
				p.rounds(200)
			} else {
				require.ErrorIs(t, err, vfs.ErrCrashed)
			}
			p.disks[1].Arm(nil)
			if !hit {
				break
			}
			crashes++
			p.crash(2, power == 1)
			p.boot(2)
			p.joins()
			require.Equal(t, g, p.agree().Partition(1).Highest())
		}
	}
	require.Greater(t, crashes, 20)
}
