package faults

import (
	"fmt"
	"math/rand/v2"

	"purgelab/impl/sim"
)

// Class selects the kinds that Draw uses.
type Class string

const (
	None     Class = "none"
	Network  Class = "network"
	Process  Class = "process"
	PowerOff Class = "power"
	All      Class = "all"
	// Elections is nothing but deposed leaders, overlapping candidates and
	// voters that lose power at the sync of their vote.
	Elections Class = "elections"
)

// Classes lists the classes that can be drawn.
var Classes = append([]Class{None, Network, Process, PowerOff, All, Elections, Storage, Cleanup, Memory, Swarm}, Matrix[1:]...)

// labels are the steps at which a crash is worth aiming; those of a purge are
// named more often than they happen.
var labels = []string{
	"", "", "purge", "purge", "purge.begin", "purge.switch", "purge.complete", "purge.reclaim", "checkpoint",
	"bookmark", "bookmark.rewrite", "segment", "segment.roll", "journal", "journal.sync", "journal.roll",
}

// ambush stands for several faults that meet at an election.
const ambush Kind = "ambush"

// Draw plans faults over a span of milliseconds for a cluster of n replicas.
func Draw(class Class, n int, span int64, r *rand.Rand) (*Plan, error) {
	p := new(Plan)
	var kinds []Kind
	switch class {
	case None:
		return p, nil
	case Network:
		kinds = []Kind{Partition, Partition, Partition, Isolate, Storm}
	case Process:
		kinds = []Kind{ProcessCrash, ProcessCrash, CrashAt, CrashAt, SlowDisk}
	case PowerOff:
		kinds = []Kind{PowerLoss, PowerLoss, CrashAt, CrashAt, SlowDisk, ambush}
	case All:
		kinds = []Kind{Partition, Partition, Isolate, Storm, SlowDisk, ProcessCrash, ProcessCrash, PowerLoss, PowerLoss, CrashAt, CrashAt, CrashAt, ambush, DiskFault, DiskFault}
	case Storage:
		kinds = []Kind{DiskFault, DiskFault, DiskFault, DiskFault, DiskFault, DiskFault, ProcessCrash, PowerLoss, CrashAt, SlowDisk}
	case Elections:
		kinds = []Kind{ambush}
	case Memory:
		kinds = []Kind{loss, loss, loss, Partition, ProcessCrash, PowerLoss, CrashAt}
	case Swarm:
		return drawSwarm(n, span, r), nil
	case Cleanup:
		p.Faults = drawCleanups(n, span, r)
		return p, nil
	default:
		if draw := exact[class]; draw != nil {
			draw.plan(p, n, span, r)
			return p, nil
		}
		return nil, fmt.Errorf("faults %q: want one of %v", class, Classes)
	}
	if class == Network || class == All {
		p.Network = sim.Network{Loss: pick(r, 0, 0.002, 0.02), Duplicate: pick(r, 0, 0.01, 0.05), Slow: pick(r, 0, 0.01, 0.05)}
	}
	// Runs differ in how dense their faults are: dense ones interrupt
	// recoveries, sparse ones let the cluster get far in between.
	gap := []int64{150, 300, 700}[r.IntN(3)]
	if class == Elections {
		gap = 500
	}
	for at := r.Int64N(gap); at < span; at += 1 + r.Int64N(2*gap) {
		switch k := kinds[r.IntN(len(kinds))]; k {
		case ambush:
			p.Faults = append(p.Faults, drawAmbush(class, n, at, r)...)
		case loss:
			p.Faults = append(p.Faults, drawLoss(n, at, r))
		default:
			p.Faults = append(p.Faults, draw(k, class, n, at, r))
		}
	}
	return p, nil
}

// drawAmbush deposes the leader for a moment, so that all replicas take part in
// the election that follows, makes its messages slow, so that candidates
// overlap, and takes the power from a voter at the sync of its vote.
func drawAmbush(class Class, n int, at int64, r *rand.Rand) []Fault {
	out := []Fault{{At: at, For: 1 + r.Int64N(10), Kind: PowerLoss, Replicas: []int{0}}}
	if class != PowerOff {
		out = append(out, Fault{At: at, For: 700, Kind: Storm, Network: &sim.Network{Slow: 0.7, SlowDelay: 100_000, Duplicate: 0.1}})
	}
	return append(out, Fault{
		At: at + 30 + r.Int64N(100), For: 1 + r.Int64N(3), Kind: CrashAt, Replicas: []int{1 + r.IntN(n)},
		Label: "journal.sync", Call: 1 + r.IntN(4)/3, Power: true,
	})
}

func draw(k Kind, class Class, n int, at int64, r *rand.Rand) Fault {
	f := Fault{At: at, For: 20 + r.Int64N(500), Kind: k}
	switch k {
	case DiskFault:
		return drawStorage(n, at, r)
	case Partition:
		f.Replicas = some(n, 1+r.IntN(max(1, n/2)), r)
		f.OneWay = []string{"", "", "in", "out"}[r.IntN(4)]
		f.For += r.Int64N(700)
	case Isolate:
		f.Replicas = some(n, 1, r)
	case Storm:
		f.Network = &sim.Network{Loss: pick(r, 0.05, 0.2, 0.4), Duplicate: pick(r, 0, 0.2, 0.4), Slow: pick(r, 0, 0.2, 0.5)}
	case SlowDisk:
	case ProcessCrash:
		f.Replicas = some(n, howMany(n, r), r)
	case PowerLoss:
		f.Replicas = some(n, howMany(n, r), r)
	case CrashAt:
		f.Replicas = some(n, 1, r)
		f.Label = labels[r.IntN(len(labels))]
		f.Call = 1 + r.IntN(6)
		if f.Label == "" || f.Label == "journal" {
			f.Call = 1 + r.IntN(60)
		}
		f.After = r.IntN(2) == 0
		f.Power = class == PowerOff || (class == All || class == Memory) && r.IntN(2) == 0
		if r.IntN(2) == 0 {
			f.Again = 1 + r.IntN(12)
		}
		f.For = 5 + r.Int64N(200)
	}
	return f
}

// howMany machines go down together: mostly one, sometimes all.
func howMany(n int, r *rand.Rand) int {
	switch v := r.IntN(8); {
	case v < 5:
		return 1
	case v < 6:
		return n
	default:
		return 1 + r.IntN(n)
	}
}

// some draws k different replicas; a single one is the leader half of the time.
func some(n, k int, r *rand.Rand) []int {
	if k == 1 && r.IntN(2) == 0 {
		return []int{0}
	}
	all := r.Perm(n)[:k]
	for i := range all {
		all[i]++
	}
	return all
}

func pick(r *rand.Rand, of ...float64) float64 { return of[r.IntN(len(of))] }
