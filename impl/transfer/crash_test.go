package transfer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
)

// The crash-point matrix of an install: a receiver is broken at every disk call that
// it makes, in every way, and once more at calls of its recovery. Every boot must
// find exactly the old state or exactly the new one.
//
// Of two crashes each is before a call, or after the last one: what the disk holds after
// a call is what it holds before the next. Of pairs with calls that fail, or syncs that
// lie, there are many more, and of these one in fewer is tried.

type kind string

// The kinds: as of package faultfs, or a crash before or after the call.
const (
	failBefore    kind = "fail-before"
	failAfter     kind = "fail-after"
	syncForget    kind = "sync-forget"
	syncEvict     kind = "sync-evict"
	processBefore kind = "process-crash-before"
	processAfter  kind = "process-crash-after"
	powerBefore   kind = "power-loss-before"
	powerAfter    kind = "power-loss-after"
)

var kinds = []kind{failBefore, failAfter, syncForget, syncEvict, processBefore, processAfter, powerBefore, powerAfter}

func (k kind) crash() bool { return strings.Contains(string(k), "-crash-") || k.power() }
func (k kind) power() bool { return k == powerBefore || k == powerAfter }
func (k kind) sync() bool  { return k == syncForget || k == syncEvict }

func (k kind) fits(c crashfs.Call) bool { return !k.sync() || c.Op == "sync" }

// machine is a receiver on one disk.
type machine struct {
	l       layout
	disk    *crashfs.Disk
	set     *faultfs.Set
	defects defect.Set
	sender  *Sender
	offer   *Manifest

	old, new string
	begun    bool // the record of the install was being written
	sure     bool // Commit returned
	news     bool // a boot found the new state
}

// before is what a receiver has.
type before string

const (
	nothing before = "nothing"
	older   before = "an older state"
	purging before = "a purge that is begun"
	sameEra before = "an older state of the same generation"
)

func newMachine(t require.TestingT, l layout, b before, s *Sender, m *Manifest, result string, defects defect.Set) *machine {
	x := &machine{l: l, disk: newDisk(t), set: faultfs.NewSet(), defects: defects, sender: s, offer: m, new: result}
	o := on(x.disk.FS(), other, dir, 0)
	switch b {
	case older:
		applied(t, l, o, lives(), olderOp).Close()
	case purging:
		e := applied(t, l, o, lives(), 16)
		_, _, err := e.Purge(17, 3, nil).Step()
		require.NoError(t, err)
		e.Close()
	case sameEra:
		applied(t, l, o, lives(), 25).Close()
	}
	e, err := l.open(on(x.disk.FS(), other, dir, 0))
	require.NoError(t, err)
	x.old = shown(t, e)
	e.Close()
	x.disk.PowerLossAs(nil)
	e, err = l.open(on(x.disk.FS(), other, dir, 0)) // names of folders that a boot makes
	require.NoError(t, err)
	e.Close()
	return x
}

// life boots, judges what it finds, and goes on to the end of the install, if that
// is still to be made.
func (x *machine) life(t require.TestingT) error {
	fs := x.set.Wrap(x.disk.FS())
	id := on(fs, other, dir, 0).Identity
	now, err := present(fs, id)
	if err != nil {
		return err
	}
	e, err := x.l.open(on(fs, other, now.path(), x.defects))
	if err != nil {
		return err
	}
	defer func() { e.Close() }()
	got := shown(t, e)
	switch {
	case got == x.new:
		x.news = true
		require.True(t, x.begun, "the new state is there before its record was written")
	case got == x.old:
		require.False(t, x.sure, "the old state is back after the install was committed")
		require.False(t, x.news, "the old state is back after the new one was seen")
	default:
		require.Contains(t, []string{x.old, x.new}, got, "neither the old state nor the new one")
	}
	if !x.news {
		if now, err = stagingFor(fs, id, x.offer); err != nil {
			return err
		}
		p, err := Begin(PullOptions{Engine: on(fs, other, now.path(), x.defects), Import: x.l.imp, Window: 3}, x.offer, Own{
			Incarnation: 1, Committed: e.Facts().Applied, Facts: e.Facts(), Agrees: true, Defects: x.defects,
		})
		if err != nil {
			return err
		}
		defer p.Close()
		if _, err := move(x.sender, p, 1<<20); err != nil {
			return err
		}
		for done := false; !done; {
			if done, _, err = p.Step(); err != nil {
				return err
			}
		}
		x.begun = true
		if err := commit(fs, id, now); err != nil {
			return err
		}
		x.sure = true
	}
	for more := true; more; {
		if more, err = reclaim(fs, now); err != nil {
			return err
		}
	}
	return nil
}

// point is one fault at one call.
type point struct {
	kind kind
	call int
	at   crashfs.Call
	same int
}

func (p point) String() string { return fmt.Sprintf("%s at call %d: %s", p.kind, p.call+1, p.at) }

// repeats tells whether a point leaves a disk as another one does: after a call, before the
// next.
func (p point) repeats(calls []crashfs.Call) bool {
	return (p.kind == processAfter || p.kind == powerAfter) && p.call+1 < len(calls)
}

// points are all faults at calls.
func points(calls []crashfs.Call) (out []point) {
	for i, c := range calls {
		for _, k := range kinds {
			if !k.fits(c) {
				continue
			}
			p := point{kind: k, call: i, at: c}
			for _, d := range calls[:i] {
				if d.Op == c.Op && strings.HasPrefix(string(d.Label), string(c.Label)) {
					p.same++
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// broken lives with one fault. The machine stops at it, and is started again: after a
// failed sync without what its cache held.
func (x *machine) broken(t require.TestingT, p point, image crashfs.Image, r *rand.Rand) (images []crashfs.Image) {
	if p.kind.crash() {
		left, action := p.call+1, crashfs.CrashBefore
		if p.kind == processAfter || p.kind == powerAfter {
			action = crashfs.CrashAfter
		}
		x.disk.Arm(func(vfs.Label, string) crashfs.Action {
			if left--; left == 0 {
				return action
			}
			return crashfs.Continue
		})
	} else {
		x.set.Add(faultfs.Rule{Action: faultfs.Action(p.kind), Op: p.at.Op, Label: string(p.at.Label), Nth: p.same + 1, Times: 1})
	}
	err := x.life(t)
	x.disk.Arm(nil)
	x.set.Clear()
	require.Error(t, err)
	require.True(t, errors.Is(err, vfs.ErrCrashed) || errors.Is(err, faultfs.ErrInjected), "%v", err)
	switch {
	case p.kind.power():
		if image == nil {
			images, _ = x.disk.Images(6, r)
			image = images[0]
		}
		x.disk.PowerLossAs(image)
	case p.kind.sync() || p.at.Op == "sync" || p.at.Op == "syncdir" && !p.kind.crash():
		x.disk.PowerLoss(r)
	default:
		x.disk.ProcessCrash()
	}
	return images
}

// rest lives to the end, loses power without warning, and looks what is left.
func (x *machine) rest(t require.TestingT) {
	require.NoError(t, x.life(t))
	x.disk.PowerLossAs(nil)
	require.NoError(t, x.life(t))
	require.True(t, x.news)
	names, err := x.disk.FS().List(dir)
	require.NoError(t, err)
	require.Len(t, names, 2, "the record and one home are left: %v", names)
}

// matrix counts its cases.
type matrix struct {
	calls          int
	first, second  map[kind]int
	pairs          int // of crashes
	reds           []string
	every, crashes int
	limit          int
	before         before
	l              layout
	defects        defect.Set
	sender         *Sender
	offer          *Manifest
	result         string
}

// red runs one case; a failed demand is its reason.
func (m *matrix) red(name string, run func(t require.TestingT)) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(failed); !ok {
				panic(r)
			}
			m.reds = append(m.reds, fmt.Sprintf("%s: %v", name, r))
		}
	}()
	run(thrower{})
}

type failed string

// thrower makes a failed demand a panic that red catches.
type thrower struct{}

func (thrower) Errorf(format string, args ...any) { panic(failed(fmt.Sprintf(format, args...))) }
func (thrower) FailNow()                          { panic(failed("stopped")) }

func (m *matrix) machine(t require.TestingT) *machine {
	return newMachine(t, m.l, m.before, m.sender, m.offer, m.result, m.defects)
}

func (m *matrix) run(t *testing.T) {
	m.first, m.second = map[kind]int{}, map[kind]int{}
	e := source(t, m.l, 0)
	m.sender, m.offer = offered(t, e, SenderOptions{ChunkBytes: 150})
	m.result = shown(t, e)
	base := m.machine(t)
	base.disk.LogCalls(true)
	require.NoError(t, base.life(t))
	calls := slices.Clone(base.disk.Calls())
	m.calls = len(calls)
	n, pairs := 0, 0
	for _, p := range points(calls) {
		images := []crashfs.Image{nil}
		for i := 0; i < len(images); i++ {
			if m.limit > 0 && len(m.reds) >= m.limit {
				return
			}
			image := images[i]
			name := p.String()
			once := func(t require.TestingT) *machine {
				x := m.machine(t)
				more := x.broken(t, p, image, rand.New(rand.NewPCG(uint64(p.call), 1)))
				if image == nil && more != nil {
					images = more
				}
				return x
			}
			m.first[p.kind]++
			var again []crashfs.Call
			m.red(name, func(t require.TestingT) {
				x := once(t)
				x.disk.LogCalls(true)
				require.NoError(t, x.life(t))
				again = slices.Clone(x.disk.Calls())
				x.disk.LogCalls(false)
				x.rest(t)
			})
			for _, q := range points(again) {
				if crashes := p.kind.crash() && q.kind.crash(); crashes && (p.repeats(calls) || q.repeats(again)) {
					continue
				} else if crashes {
					if pairs++; pairs%m.crashes != 0 {
						continue
					}
					m.pairs++
				} else if n++; n%m.every != 0 {
					continue
				}
				m.second[q.kind]++
				m.red(name+", then "+q.String(), func(t require.TestingT) {
					x := once(t)
					x.broken(t, q, nil, rand.New(rand.NewPCG(uint64(q.call), uint64(p.call))))
					x.rest(t)
				})
			}
		}
	}
}

func total(m map[kind]int) (n int) {
	for _, k := range kinds {
		n += m[k]
	}
	return n
}

func TestEveryCrashPoint(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for _, b := range []before{nothing, older, purging, sameEra} {
			t.Run(string(b), func(t *testing.T) { t.Parallel(); everyCrashPoint(t, l, b) })
		}
	})
}

func everyCrashPoint(t *testing.T, l layout, b before) {
	m := &matrix{l: l, before: b, every: *every, crashes: *crashes}
	m.run(t)
	t.Logf("onto %s: %d disk calls; %d cases of one fault, %d of two; of these two crashes %d, one in %d; red %d", b, m.calls, total(m.first), total(m.second), m.pairs, m.crashes, len(m.reds))
	for _, k := range kinds {
		t.Logf("  %-22s first %5d, second %6d", k, m.first[k], m.second[k])
		require.Positive(t, m.first[k])
		require.Positive(t, m.second[k])
	}
	for _, r := range m.reds {
		t.Error(r)
	}
	require.Greater(t, m.calls, 40)
}
