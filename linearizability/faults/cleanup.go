package faults

import (
	"math/rand/v2"

	"purgelab/impl/vfs/faultfs"
)

// Cleanup is disks that fail while the bookmarks of a purge are cleaned up or its
// completion is recorded, and that lose power right afterwards. It brings to light
// what passes over such failures.
const Cleanup Class = "cleanup"

var cleanupSteps = []string{"purge.bookmark.unlink", "purge.bookmark.dirsync", "purge.gen", "purge.gen.dirsync"}

func drawCleanups(n int, span int64, r *rand.Rand) (out []Fault) {
	for at := begin + r.Int64N(150); at < span; at += 300 + r.Int64N(300) {
		who := some(n, 1, r)
		rule := faultfs.New(faultfs.FailBefore)
		rule.Label, rule.Times = cleanupSteps[r.IntN(len(cleanupSteps))], 0
		last := 40 + r.Int64N(260)
		out = append(out,
			Fault{At: at, For: last, Kind: DiskFault, Replicas: who, Rule: rule.String()},
			Fault{At: at + last, For: 1 + r.Int64N(30), Kind: PowerLoss, Replicas: who})
		at += last
	}
	return out
}
