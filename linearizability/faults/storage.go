package faults

import (
	"math/rand/v2"

	"purgelab/impl/vfs/faultfs"
)

// Storage is disks that fail, lose what they should have synced, and rot, with
// crashes of both kinds that bring it to light.
const Storage Class = "storage"

// breakDisks carries out a disk-fault; it took effect if a call broke.
func (in *Injection) breakDisks(f *Fault, ids []int) {
	rule, err := faultfs.Parse(f.Rule)
	if err != nil {
		panic(err) // Parse and Draw have seen it
	}
	hit := false
	for _, id := range ids {
		in.c.BreakDisk(id, rule, func() {
			if !hit {
				hit = true
				in.took(DiskFault)
			}
		})
	}
	in.later(f, func() {
		for _, id := range ids {
			in.c.MendDisk(id)
		}
	})
}

// diskLabels are the steps whose calls fail; those of a purge more often than they
// happen.
var diskLabels = []string{"purge", "purge", "purge.begin", "purge.switch", "purge.complete", "purge.reclaim", "checkpoint", "checkpoint.record", "segment", "bookmark", "journal", "journal.roll", ""}

// drawStorage draws what a disk does wrong: rules for a while, or rot.
func drawStorage(n int, at int64, r *rand.Rand) Fault {
	f := Fault{At: at, For: 100 + r.Int64N(900), Kind: DiskFault, Replicas: some(n, 1, r)}
	label := diskLabels[r.IntN(len(diskLabels))]
	rule := faultfs.New(faultfs.FailBefore)
	rule.Nth, rule.Times = 1+r.IntN(12), 1+r.IntN(4)
	switch r.IntN(12) {
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
	case 11:
		return Fault{At: at, For: 5 + r.Int64N(100), Kind: Rot, Replicas: some(n, 1, r), Draw: r.Uint64N(1 << 30)}
	}
	f.Rule = rule.String()
	return f
}
