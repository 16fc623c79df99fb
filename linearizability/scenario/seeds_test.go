package scenario

import _ "purgelab/linearizability/seeds" // accepts -seeds
