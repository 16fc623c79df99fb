// Package seeds holds the one flag of the tests below linearizability/: over how
// many seeds a random test goes. go test gives a flag to every package that it
// tests, so each of them imports this one, and
//
//	go test ./linearizability/... -seeds 500
//
// works on all together. Only tests import it.
package seeds

import "flag"

var count = flag.Int("seeds", 16, "number of seeds of each random test")

// Count is how many seeds to run: 1 to Count.
func Count() uint64 { return uint64(max(1, *count)) }
