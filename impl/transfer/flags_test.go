package transfer

import "flag"

// every takes one in so many second faults of the crash-point matrix; 1 takes all.
var every = flag.Int("every", 211, "one in so many second faults of the crash-point matrix")
