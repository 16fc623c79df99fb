package workload

import _ "purgelab/linearizability/seeds" // accepts -seeds
