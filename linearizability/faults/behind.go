package faults

import "math/rand/v2"

// drawBehind leaves a replica so far behind that, with a log that is compacted
// early, only a transfer brings it up to date: it is cut off or down for long. Then
// mostly a step of that transfer is broken, on either side: a process dies, power
// fails, or the two lose sight of each other.
func drawBehind(n int, at int64, r *rand.Rand) []Fault {
	behind := Fault{At: at, For: 300 + r.Int64N(400), Kind: []Kind{Partition, ProcessCrash, PowerLoss}[r.IntN(3)], Replicas: []int{1 + r.IntN(n)}}
	amid := Fault{At: at + behind.For, For: 20 + r.Int64N(100), Replicas: behind.Replicas}
	switch r.IntN(6) {
	case 0:
		return []Fault{behind}
	case 1:
		amid.At += 5 + r.Int64N(40)
		amid.Kind, amid.For = Partition, 100+r.Int64N(200)
	case 2: // whoever serves, most likely
		amid.At += 5 + r.Int64N(40)
		amid.Kind, amid.Replicas = []Kind{ProcessCrash, PowerLoss}[r.IntN(2)], []int{0}
	default:
		amid.Kind, amid.Power, amid.After = CrashAt, r.IntN(2) == 0, r.IntN(2) == 0
		amid.Label, amid.Call, amid.Within = installs[r.IntN(len(installs))], 1+r.IntN(6), 150+r.Int64N(150)
	}
	return []Fault{behind, amid}
}

// installs are the steps of a transfer at which a receiver may stop, by their labels.
var installs = []string{"transfer", "transfer", "transfer.offer", "transfer.home", "member", "journal.begin", "segment", "checkpoint"}
