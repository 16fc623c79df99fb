package faults

import (
	"math/rand/v2"

	"purgelab/impl/sim"
)

// Swarm is a different class in each plan: each kind of fault is on in half of them. Where
// few are on they meet each other often, so pairs come about that drown where
// everything happens (Groce and others, Swarm Testing, 2012). Workloads leave out
// operations, too, in runs of this class.
const Swarm Class = "swarm"

// swarming are what is on or off together, each with what draws a fault of it.
var swarming = []draws{
	single(func(n int, at int64, r *rand.Rand) Fault { return draw(Partition, Swarm, n, at, r) }),
	single(func(n int, at int64, r *rand.Rand) Fault { return draw(Isolate, Swarm, n, at, r) }),
	single(func(n int, at int64, r *rand.Rand) Fault { return draw(Storm, Swarm, n, at, r) }),
	single(func(n int, at int64, r *rand.Rand) Fault { return draw(SlowDisk, Swarm, n, at, r) }),
	single(func(n int, at int64, r *rand.Rand) Fault { return draw(ProcessCrash, Swarm, n, at, r) }),
	single(func(n int, at int64, r *rand.Rand) Fault { return draw(PowerLoss, Swarm, n, at, r) }),
	single(func(n int, at int64, r *rand.Rand) Fault { return draw(CrashAt, PowerOff, n, at, r) }),
	single(func(n int, at int64, r *rand.Rand) Fault { return draw(CrashAt, Process, n, at, r) }),
	func(n int, at int64, r *rand.Rand) []Fault { return drawAmbush(Swarm, n, at, r) },
	single(drawStorage),
	single(drawSpoiled),
	single(drawDirSync),
	single(drawSyncError),
	single(drawRetry),
	drawLeaderChange,
	single(drawSecond),
	single(drawTopic),
}

func drawSwarm(n int, span int64, r *rand.Rand) *Plan {
	p := new(Plan)
	var on []draws
	for len(on) == 0 {
		for _, d := range swarming {
			if r.IntN(2) == 0 {
				on = append(on, d)
			}
		}
	}
	if r.IntN(2) == 0 {
		p.Network = sim.Network{Loss: pick(r, 0, 0.002, 0.02), Duplicate: pick(r, 0.01, 0.05), Slow: pick(r, 0, 0.01, 0.05)}
	}
	gap := pick(r, 150, 300, 700)
	for at := r.Int64N(int64(gap)); at < span; at += 1 + r.Int64N(2*int64(gap)) {
		p.Faults = append(p.Faults, on[r.IntN(len(on))](n, at, r)...)
	}
	return p
}
