package faults

import (
	"math/rand/v2"

	"purgelab/impl/sim"
	"purgelab/impl/vfs/faultfs"
)

// This file draws the classes of the guarantee matrix. Faults come one after
// another: the next begins when the machines of the last one are up again and had
// a moment to recover, so that a class of one power loss never has two at a time.

// draws draws one fault of a class for a cluster of n replicas.
type draws func(n int, at int64, r *rand.Rand) Fault

var exact = map[Class]draws{
	Retry: drawRetry, LeaderChange: drawLeaderChange,
	OneProcess: crash(one, false), PowerOne: crash(one, true), PowerMinority: crash(minority, true),
	PowerMajority: crash(majority, true), PowerAll: crash(everyone, true),
	DirSync: drawDirSync, SyncError: drawSyncError, Damaged: drawDamage, Second: drawSecond, Topic: drawTopic,
}

const (
	// begin is when a cluster has a leader and clients have begun.
	begin = 350
	// calm is how long it has between two faults, at least.
	calm = 100
)

func (draw draws) plan(p *Plan, n int, span int64, r *rand.Rand) {
	for at := begin + r.Int64N(150); at < span; at += calm + r.Int64N(150) {
		f := draw(n, at, r)
		p.Faults = append(p.Faults, f)
		at += f.Within + f.For
	}
}

func one(int) int        { return 1 }
func minority(n int) int { return max(1, (n-1)/2) }
func majority(n int) int { return n/2 + 1 }
func everyone(n int) int { return n }

// steps of a purge, of each design.
var steps = []string{
	"purge", "purge", "purge", "purge.begin", "purge.switch", "purge.complete", "purge.reclaim",
	"purge.frontier", "purge.segment", "purge.reset", "purge.bookmark", "purge.gen", "checkpoint", "segment", "",
}

// crash takes some machines down, most often at a step of a purge.
func crash(howMany func(n int) int, power bool) draws {
	return func(n int, at int64, r *rand.Rand) Fault {
		f := Fault{At: at, For: 20 + r.Int64N(150), Kind: ProcessCrash, Replicas: some(n, howMany(n), r)}
		if power {
			f.Kind = PowerLoss
		}
		if r.IntN(4) > 0 {
			f.Kind, f.Power, f.After = CrashAt, power, r.IntN(2) == 0
			f.Label, f.Call, f.Within = steps[r.IntN(len(steps))], 1+r.IntN(6), 150+r.Int64N(150)
		}
		return f
	}
}

func drawSecond(n int, at int64, r *rand.Rand) Fault {
	f := crash(one, r.IntN(2) == 0)(n, at, r)
	if f.Kind != CrashAt {
		f.Power = f.Kind == PowerLoss
		f.Kind, f.Label, f.Call, f.Within = CrashAt, "purge", 1+r.IntN(12), 150+r.Int64N(150)
	}
	f.Again = 1 + r.IntN(2)*r.IntN(3)
	return f
}

func drawTopic(n int, at int64, r *rand.Rand) Fault {
	return Fault{At: at, For: 20 + r.Int64N(100), Kind: CrashAmid, Replicas: some(n, 1, r), Power: r.IntN(2) == 0, Within: 400}
}

// drawRetry loses all answers for a moment, or doubles and delays what is sent.
func drawRetry(n int, at int64, r *rand.Rand) Fault {
	if r.IntN(3) == 0 {
		return Fault{At: at, For: 100 + r.Int64N(200), Kind: Storm, Network: &sim.Network{Duplicate: 0.3, Loss: 0.02, Slow: pick(r, 0, 0.1)}}
	}
	return Fault{At: at, For: 150 + r.Int64N(200), Kind: Isolate, OneWay: "out", Replicas: some(n, n, r)}
}

func drawLeaderChange(_ int, at int64, r *rand.Rand) Fault {
	return Fault{At: at, For: 500 + r.Int64N(600), Kind: Partition, Replicas: []int{0}, OneWay: []string{"", "", "in", "out"}[r.IntN(4)]}
}

func drawDirSync(n int, at int64, r *rand.Rand) Fault {
	rule := faultfs.New([]faultfs.Action{faultfs.FailBefore, faultfs.FailAfter}[r.IntN(2)])
	rule.Op = "syncdir"
	return onDisk(n, at, rule, r)
}

func drawSyncError(n int, at int64, r *rand.Rand) Fault {
	rule := faultfs.New([]faultfs.Action{faultfs.SyncForget, faultfs.SyncEvict}[r.IntN(2)])
	return onDisk(n, at, rule, r)
}

// onDisk breaks a call or two of one disk, in a purge half of the time.
func onDisk(n int, at int64, rule faultfs.Rule, r *rand.Rand) Fault {
	if r.IntN(2) == 0 {
		rule.Label = "purge"
	}
	rule.Nth, rule.Times = 1+r.IntN(3), 1+r.IntN(2)
	return Fault{At: at, For: 250 + r.Int64N(250), Kind: DiskFault, Replicas: some(n, 1, r), Rule: rule.String()}
}

// drawDamage takes any record, or of those of a purge.
func drawDamage(n int, at int64, r *rand.Rand) Fault {
	return Fault{At: at, For: 20 + r.Int64N(150), Kind: Rot, Replicas: some(n, 1, r), Record: []string{"*", "*", "*", "purge.*", "marker"}[r.IntN(5)], Draw: r.Uint64N(1 << 30)}
}
