package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"purgelab/impl/sim"
	"purgelab/impl/vfs/faultfs"
)

// Storage is disks that fail, lose what they should have synced, and rot, with
// crashes of both kinds that bring it to light.
const Storage Class = "storage"

// spoils tells whether a kind damages what a disk has said to be durable. It
// strikes no more than a minority of machines: see package sim.
func (k Kind) spoils() bool { return k == Rot || k == Misdirect || k == FlipRead || k == Lie }

// silent are the actions that tell their caller nothing.
var silent = []faultfs.Action{faultfs.DropWrite, faultfs.Misdirect, faultfs.BitFlip, faultfs.StaleRead}

// own is the folder of the partition whose files a lie may concern.
const own = "p0/"

func (f *Fault) checkRule() error {
	r, err := faultfs.Parse(f.Rule)
	switch {
	case err != nil:
		return fmt.Errorf("rule: %w", err)
	case f.Kind == Lie && (!slices.Contains(silent, r.Action) || !strings.HasPrefix(r.Path, own)):
		return fmt.Errorf("rule %q: want one of %v with a path that begins with %s", f.Rule, silent, own)
	}
	return nil
}

// breakDisks carries out a disk-fault; it took effect if a call broke.
func (in *Injection) breakDisks(f *Fault, ids []int) {
	rule := mustParse(f.Rule)
	once := in.once(DiskFault)
	var mend []func()
	for _, id := range ids {
		mend = append(mend, in.c.BreakDisk(id, rule, once))
	}
	in.later(f, func() {
		for _, m := range mend {
			m()
		}
	})
}

func mustParse(rule string) faultfs.Rule {
	r, err := faultfs.Parse(rule)
	if err != nil {
		panic(err) // Parse and Draw have seen it
	}
	return r
}

// once notes that a fault took effect, the first time that it is called.
func (in *Injection) once(k Kind) func() {
	hit := false
	return func() {
		if !hit {
			hit = true
			in.took(k)
		}
	}
}

// lie carries out a rule of which nobody is told.
func (in *Injection) lie(f *Fault, id int) {
	if mend := in.c.Deceive(id, 0, mustParse(f.Rule), in.once(Lie)); mend != nil {
		in.later(f, mend)
	}
}

// spoil damages bytes that a disk proves to have kept, or a record of those that
// are named, and restarts the process of the replica, unless it is to find out by
// itself.
func (in *Injection) spoil(f *Fault, id int) {
	r := rand.New(rand.NewPCG(f.Draw, 0))
	what := ""
	switch {
	case f.Kind == FlipRead:
		var mend func()
		if mend, what = in.c.FlipRead(id, 0, r, in.once(FlipRead)); what != "" {
			in.later(f, mend)
		}
	case f.Kind == Misdirect:
		what = in.c.Misplace(id, 0, r)
	case f.Record != "":
		what = in.c.Damage(id, in.c.Latest(0), f.Record, r)
	default:
		what = in.c.Rot(id, 0, r)
	}
	if what == "" {
		return
	}
	if f.Kind != FlipRead {
		in.took(f.Kind)
	}
	if !f.Live {
		in.c.Crash([]int{id}, false, f.For*sim.Millisecond/2)
	}
}

// diskLabels are the steps whose calls fail; those of a purge more often than they
// happen.
var diskLabels = []string{"purge", "purge", "purge.begin", "purge.switch", "purge.complete", "purge.reclaim", "checkpoint", "checkpoint.record", "segment", "bookmark", "journal", "journal.roll", ""}

// drawStorage draws what a disk does wrong: rules for a while, or damage.
func drawStorage(n int, at int64, r *rand.Rand) Fault {
	f := Fault{At: at, For: 100 + r.Int64N(900), Kind: DiskFault, Replicas: some(n, 1, r)}
	label := diskLabels[r.IntN(len(diskLabels))]
	rule := faultfs.New(faultfs.FailBefore)
	rule.Nth, rule.Times = 1+r.IntN(12), 1+r.IntN(4)
	switch r.IntN(14) {
	case 0, 1:
		rule.Label = label
	case 2, 3:
		rule.Action, rule.Label = faultfs.FailAfter, label
	case 4:
		rule.Action, rule.Label = faultfs.NoSpace, label
	case 5:
		rule = faultfs.New(faultfs.ShortWrite)
		rule.Label, rule.Arg, rule.Nth = label, r.IntN(80), 1+r.IntN(6)
	case 6, 7:
		rule.Action = []faultfs.Action{faultfs.SyncForget, faultfs.SyncEvict}[r.IntN(2)]
		rule.Label, rule.Times = label, 1
	case 8:
		rule.Action, rule.Op = []faultfs.Action{faultfs.FailBefore, faultfs.FailAfter}[r.IntN(2)], "syncdir"
	case 9:
		rule.Op, rule.Path = "read", []string{"seg-*.log", "bookmarks-*.log", "p0/journal/*.log", "marker", "checkpoint"}[r.IntN(5)]
	case 10:
		// For so long that a leader must let another one lead.
		rule.Label, rule.Nth, rule.Times = "purge", 1, 0
		f.Replicas, f.For = []int{0}, 2000+r.Int64N(2000)
	default:
		return drawSpoiled(n, at, r)
	}
	f.Rule = rule.String()
	return f
}

// dataFiles hold nothing that the journal does not hold as well, until a checkpoint
// says that it is durable: so a call that goes wrong there without a word is found
// out, whenever that is.
var dataFiles = []string{own + "gen-*/seg-*.log", own + "gen-*/seg-*.log", own + "gen-*/bookmarks-*.log", own + "segments/seg-*.log"}

// drawSpoiled draws damage of what a disk said to be durable.
func drawSpoiled(n int, at int64, r *rand.Rand) Fault {
	f := Fault{At: at, For: 10 + r.Int64N(200), Replicas: some(n, 1, r), Live: r.IntN(2) == 0}
	f.Kind = []Kind{Rot, Rot, Misdirect, FlipRead, Lie, Lie}[r.IntN(6)]
	if f.Kind != Lie {
		f.Draw = r.Uint64N(1 << 30)
		if f.Live {
			f.For = 1000 // so long it may stay unread
		}
		return f
	}
	f.For, f.Live = 200+r.Int64N(800), false
	rule := faultfs.New(silent[r.IntN(len(silent))])
	rule.Path, rule.Nth, rule.Times = dataFiles[r.IntN(len(dataFiles))], 1+r.IntN(4), 1+r.IntN(2)
	switch rule.Action {
	case faultfs.Misdirect:
		rule.Arg = []int{512, 4096, -512, 44, -44}[r.IntN(5)]
	case faultfs.BitFlip:
		rule.Op = []string{"read", "write"}[r.IntN(2)]
		rule.Arg, rule.Bit = r.IntN(400), r.IntN(8)
	}
	f.Rule = rule.String()
	return f
}
