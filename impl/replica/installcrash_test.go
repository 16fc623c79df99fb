package replica

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// The crash-point matrix of an install as a replica makes it: a member that is behind
// boots, pulls the state of its leader, installs it, and removes what is old. It crashes
// at every disk call of that, in every way, and once more at every call of its recovery.
// Of two crashes each is before a call, or after the last one: what the disk holds after a
// call is what it holds before the next.
// Whatever a boot finds must be the state as of an op as everybody had it: of the old
// home while nobody was told of the new one, and of the new home from then on.
// Where not all is synced, a loss of power makes the member a suspect, which says so and
// serves nothing; what is kept of it is of the old home or of the new one. Only between
// the record of the new home and its first boot it does not: all that is there is synced,
// and it has promised nothing since.

var every = flag.Int("every", 2003, "one in so many second crashes of the matrix of installs")

// strike is a crash at the nth disk call from now on.
type strike struct {
	nth          int
	after, power bool
}

func (s strike) String() string {
	return map[bool]string{false: "process crash", true: "power loss"}[s.power] + map[bool]string{false: " before", true: " after"}[s.after]
}

var strikes = []strike{{}, {after: true}, {power: true}, {after: true, power: true}}

// behind is a cluster, all of it down, of which one member needs a transfer.
type behind struct {
	*cluster
	id    int
	was   op.Number              // the member's last op
	last  op.Number              // of all; what comes after it are elections, which show nothing
	shown map[op.Number][]string // what a replica shows that has applied so much

	suspects int // boots of a member that had lost its memory
}

// shows is what a replica shows, but for a floor of its own, and for the members where
// they change because one of them lost its memory.
func (c *cluster) shows(r *Replica) string {
	f := r.eng.Facts()
	records, err := r.eng.Read(f.Start, 1<<20)
	require.NoError(c.t, err)
	if r.cfg.Design == ResetRecord {
		f.Boundary = 0
	}
	s := fmt.Sprint(f.Generation, f.Boundary, f.Start, f.End, f.LastTimestamp, f.Settled, records, r.eng.Bookmarks(), string(r.sessions.encode()))
	if !c.cfg.Policy.forgetful() {
		s += fmt.Sprint(r.members)
	}
	return s
}

func newBehind(t *testing.T, d Design, p Policy) *behind {
	c := newClusterOf(t, 3, func(cfg *Config) { moving(cfg); cfg.Design, cfg.Policy = d, p })
	b := &behind{cluster: c, shown: map[op.Number][]string{engine.Bootstrap: {c.shows(c.replicas[0])}}}
	b.elect()
	lead := b.leader()
	b.id = lead%3 + 1
	// Every op is a step of its own, and looked at.
	note := func() {
		r := b.replicas[lead-1]
		if s := b.shows(r); !slices.Contains(b.shown[r.applied], s) {
			b.shown[r.applied] = append(b.shown[r.applied], s)
		}
	}
	note()
	grow := func(n int, purge op.Generation) {
		for k := range n {
			if k == n/2 && d == ResetRecord {
				b.learn(purge)
			} else if k == n/2 {
				b.purge(purge)
			}
			note()
			b.append(fmt.Sprintf("%d of %d", k, n), "and another one")
			note()
			if k%3 == 0 {
				at := op.Position{Incarnation: 1, Generation: b.replicas[lead-1].eng.Facts().Generation}
				require.Equal(t, op.OK, b.do(&op.Request{Kind: op.StoreBookmark, Key: op.Key{Kind: op.Group, ID: uint32(k % 2)}, At: at}).Code)
				note()
			}
		}
	}
	s := b.do(&op.Request{Kind: op.Register}).Session
	note()
	grow(4, 2)
	b.was = b.replicas[b.id-1].lastOp()
	b.crash(b.id, false)
	b.do(&op.Request{Kind: op.Append, Session: s, Sequence: 1, Payloads: []op.Payload{"once"}})
	note()
	grow(24, 9)
	b.last = b.replicas[lead-1].applied
	for id := range b.replicas {
		if id+1 != b.id {
			b.crash(id+1, false)
		}
	}
	return b
}

// life of the member that is behind, on copies of the disks.
type life struct {
	*cluster
	of    *behind
	sure  bool // it told that the install is made
	news  bool // a boot found the new home
	calls []crashfs.Call
	lost  bool // it lost power since the last boot that came to its end
	other bool // it did before, and that made it a suspect
}

func (b *behind) life() *life {
	c := &cluster{t: b.t, cfg: b.cfg, boots: b.boots, now: b.now, token: b.token, losses: map[int]uint64{}, answers: map[uint64]op.Reply{}, stopped: map[int]error{}}
	c.cfg.Sink, c.faults = c, make([]*faultfs.Set, len(b.disks))
	for _, d := range b.disks {
		c.disks = append(c.disks, d.Clone())
		c.replicas = append(c.replicas, nil)
	}
	for id := range c.disks {
		if id+1 != b.id {
			require.NoError(c.t, c.boot(id+1))
		}
	}
	c.elect()
	return &life{cluster: c, of: b}
}

// lives boots and goes on until all is there and nothing is left over, or until it is
// struck; it tells whether it was, and at which call.
func (l *life) lives(name string, s *strike) (at vfs.Label, struck bool) {
	id := l.of.id
	disk := l.disks[id-1]
	if s != nil {
		left, action := s.nth, crashfs.CrashBefore
		if s.after {
			action = crashfs.CrashAfter
		}
		disk.Arm(func(label vfs.Label, _ string) crashfs.Action {
			if left--; left == 0 {
				at = label
				return action
			}
			return crashfs.Continue
		})
	}
	disk.LogCalls(true)
	seen := len(l.events)
	if err := l.boot(id); err == nil {
		l.judge(name)
		l.reach(name, func() bool { return l.replicas[id-1] == nil || l.whole() && !l.replicas[id-1].homes })
	} else {
		require.ErrorIs(l.t, err, vfs.ErrCrashed, name)
	}
	disk.Arm(nil)
	l.calls = slices.Clone(disk.Calls())
	for _, e := range l.events[seen:] {
		l.sure = l.sure || e.Replica == id && e.Action == "CommitInstall"
	}
	if at == "" {
		return "", false
	}
	l.lost = l.lost || s.power
	l.crash(id, s.power)
	return at, true
}

// judge demands the old state or the new one of a member that was just opened.
func (l *life) judge(name string) {
	r := l.replicas[l.of.id-1]
	require.Contains(l.t, l.of.shown[min(r.applied, l.of.last)], l.shows(r), "%s: as of op %d", name, r.applied)
	forgot := l.lost && l.cfg.Policy.forgetful()
	if l.other || forgot && r.View().Joining {
		l.judgeOther(name, r)
		return
	}
	_, moved := homeNumber(r.View().Home)
	// All of the new home is synced, and nothing was promised from there yet.
	require.True(l.t, !forgot || moved && r.Report().Journal.Frames == 0, "%s: no suspect", name)
	l.lost = false
	if moved {
		require.Greater(l.t, r.applied, l.of.was, name)
		require.Greater(l.t, r.jr.First(), l.of.was, name)
		l.news = true
		return
	}
	require.LessOrEqual(l.t, r.applied, l.of.was, name)
	require.False(l.t, l.sure, "%s: the old state is back after the install was told of", name)
	require.False(l.t, l.news, "%s: the old state is back after the new one was seen", name)
}

// judgeOther demands that a member that lost power joins as another one, until it belongs,
// and serves nothing; and that what is kept of the member that it was first is of one of its
// two homes, and of the new one if the install was told of.
func (l *life) judgeOther(name string, r *Replica) {
	if l.lost {
		require.True(l.t, r.View().Joining, name)
	}
	if r.View().Joining {
		reason, _ := transfer.Refused(r.standing().Check())
		require.Equal(l.t, transfer.Suspect, reason, name)
		require.False(l.t, r.leading, name)
		l.of.suspects++
	}
	if !l.other {
		require.Positive(l.t, l.count(l.of.id, "Rejoin", ""), name)
		require.EqualValues(l.t, engine.Bootstrap, r.applied, name)
		kept := r.cfg.member
		_, moved := homeNumber(kept.Kept)
		require.Equal(l.t, moved, kept.Evidence.Last > l.of.was, "%s: %q holds op %d", name, kept.Kept, kept.Evidence.Last)
		require.True(l.t, kept.Evidence.Intact, name)
		require.True(l.t, moved || !l.sure && !l.news, "%s: what is kept is from before the install", name)
	}
	l.lost, l.other = false, true
}

// rest lives to the end, loses power with all that was not synced, and looks what is left.
func (l *life) rest(name string) {
	l.lives(name, nil)
	l.replicas[l.of.id-1] = nil
	l.losses[l.of.id]++
	l.disks[l.of.id-1].PowerLossAs(nil)
	l.lost = true
	l.lives(name, nil)
	require.True(l.t, l.news || l.other, name)
	if l.cfg.Design == ResetRecord {
		l.alike()
	} else {
		l.same()
	}
	names, err := l.disks[l.of.id-1].FS().List("p0")
	require.NoError(l.t, err)
	require.Len(l.t, names, 2, "%s: the record and one home are left: %v", name, names)
}

func TestInstallCrashPoints(t *testing.T) {
	for _, x := range []struct {
		Design
		Policy
	}{{Ordered, Policy{}}, {ResetRecord, Policy{}}, {Advance, Policy{}}, {Ordered, allReplicated}, {Advance, allReplicated}} {
		t.Run(fmt.Sprintf("%s %s", x.Design, x.Messages), func(t *testing.T) {
			t.Parallel()
			b := newBehind(t, x.Design, x.Policy)
			base := b.life()
			base.lives("nothing breaks", nil)
			require.Equal(t, 1, base.count(b.id, "CommitInstall", ""))
			calls := base.calls
			base.rest("nothing breaks")
			first, second, n := map[string]int{}, map[string]int{}, 0 // by kind, and by step
			for nth := range calls {
				for _, s := range strikes {
					s.nth = nth + 1
					name := fmt.Sprintf("%s call %d, %s", s, s.nth, calls[nth])
					l := b.life()
					at, struck := l.lives(name, &s)
					require.True(t, struck, name)
					require.Equal(t, calls[nth].Label, at)
					first[s.String()]++
					first[step(at)]++
					l.rest(name)
					if s.after && nth+1 < len(calls) {
						continue
					}
					again := b.life() // the same once more, to see what the recovery does
					again.lives(name, &s)
					again.lives(name, nil)
					for k := range again.calls {
						for _, z := range strikes {
							if z.after && k+1 < len(again.calls) {
								continue
							}
							if n++; n%*every != 0 {
								continue
							}
							z.nth = k + 1
							x := b.life()
							x.lives(name, &s)
							then := fmt.Sprintf("%s, then %s call %d, %s", name, z, z.nth, again.calls[k])
							at, struck := x.lives(then, &z)
							require.True(t, struck, then)
							second[z.String()]++
							second[step(at)]++
							x.rest(then)
						}
					}
				}
			}
			t.Logf("%d disk calls; crashes in recovery: one in %d of %d; boots of suspects: %d", len(calls), *every, n, b.suspects)
			require.Equal(t, x.forgetful(), b.suspects > 0)
			for _, of := range slices.Sorted(maps.Keys(first)) {
				t.Logf("  %-22s first %5d, second %6d", of, first[of], second[of])
			}
			for _, s := range strikes {
				require.Positive(t, first[s.String()])
				require.True(t, s.after || second[s.String()] > 0)
			}
			for _, want := range []string{"transfer.offer", "transfer.chunk", "transfer.checkpoint", "journal.begin", "replica.member", "transfer.reclaim"} {
				require.Positive(t, first[want], want)
			}
		})
	}
}

// step of a transfer that a disk call is of.
func step(l vfs.Label) string {
	parts := strings.SplitN(string(l), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
