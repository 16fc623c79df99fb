package faults

import (
	"math/rand/v2"

	"purgelab/impl/sim"
	"purgelab/impl/vfs/faultfs"
)

// This file draws the classes of the guarantee matrix. Faults come one after
// another: the next begins when the machines of the last one are up again, so that a
// class of one power loss never has two at a time. Mostly they had a moment to
// recover; now and then the leader goes just when another one is back.

// draws draws the next fault of a class for a cluster of n replicas, or two of them.
type draws func(n int, at int64, r *rand.Rand) []Fault

var exact = map[Class]draws{
	Retry: single(drawRetry), LeaderChange: drawLeaderChange,
	OneProcess: crash(one, false), PowerOne: crash(one, true), PowerMinority: crash(minority, true),
	PowerMajority: crash(majority, true), PowerAll: crash(everyone, true),
	DirSync: single(drawDirSync), SyncError: single(drawSyncError), Damaged: single(drawDamage), Second: single(drawSecond), Topic: single(drawTopic), Transfer: drawBehind,
}

const (
	// begin is when a cluster has a leader and clients have begun.
	begin = 350
	// calm is how long it has between two draws, at least.
	calm = 100
)

// single makes draws of a function that draws one fault.
func single(draw func(n int, at int64, r *rand.Rand) Fault) draws {
	return func(n int, at int64, r *rand.Rand) []Fault { return []Fault{draw(n, at, r)} }
}

func (draw draws) plan(p *Plan, n int, span int64, r *rand.Rand) {
	for at := begin + r.Int64N(150); at < span; at += calm + r.Int64N(150) {
		for _, f := range draw(n, at, r) {
			p.Faults = append(p.Faults, f)
			at = f.At + f.Within + f.For
		}
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

// crash takes some machines down, most often at a step of a purge; or at any time, and
// others, the leader among them, as soon as those are up again.
func crash(howMany func(n int) int, power bool) draws {
	return func(n int, at int64, r *rand.Rand) []Fault {
		k := howMany(n)
		f := Fault{At: at, For: 20 + r.Int64N(150), Kind: ProcessCrash, Replicas: some(n, k, r)}
		if power {
			f.Kind = PowerLoss
		}
		switch v := r.IntN(8); {
		case v < 2:
			next := f
			next.At, next.Replicas = at+f.For+2+r.Int64N(40), withLeader(n, k, r)
			return []Fault{f, next}
		case v < 7:
			f = aimed(f, power, r)
		}
		return []Fault{f}
	}
}

// aimed makes a crash wait for a step of a purge.
func aimed(f Fault, power bool, r *rand.Rand) Fault {
	f.Kind, f.Power, f.After = CrashAt, power, r.IntN(2) == 0
	f.Label, f.Call, f.Within = steps[r.IntN(len(steps))], 1+r.IntN(6), 150+r.Int64N(150)
	return f
}

// withLeader draws k replicas, the leader first; one of the others may be the leader,
// too, for who that is turns out when the fault begins.
func withLeader(n, k int, r *rand.Rand) []int {
	if k == n {
		return some(n, n, r)
	}
	return append([]int{0}, some(n, n, r)[:k-1]...)
}

func drawSecond(n int, at int64, r *rand.Rand) Fault {
	f := Fault{At: at, For: 20 + r.Int64N(150), Replicas: some(n, 1, r)}
	f = aimed(f, r.IntN(2) == 0, r)
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

// drawLeaderChange cuts the leader off, half of the time when another replica that was
// cut off is just back.
func drawLeaderChange(n int, at int64, r *rand.Rand) []Fault {
	var out []Fault
	if r.IntN(2) == 0 && n > 1 {
		f := Fault{At: at, For: 50 + r.Int64N(200), Kind: Partition, Replicas: []int{1 + r.IntN(n)}}
		out = append(out, f)
		at += f.For
	}
	return append(out, Fault{At: at, For: 500 + r.Int64N(600), Kind: Partition, Replicas: []int{0}, OneWay: []string{"", "", "in", "out"}[r.IntN(4)]})
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
