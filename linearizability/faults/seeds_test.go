package faults

import _ "purgelab/linearizability/seeds" // accepts -seeds
