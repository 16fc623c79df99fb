package transfer

import "flag"

// Of the crash-point matrix one in so many pairs of crashes is tried, and of all other
// pairs of faults one in so many; 1 is all.
var (
	crashes = flag.Int("crashes", 211, "one in so many pairs of crashes of the crash-point matrix")
	every   = flag.Int("every", 211, "one in so many other pairs of faults of the crash-point matrix")
)
