package check

import _ "purgelab/linearizability/seeds" // accepts -seeds
