package invariant

import _ "purgelab/linearizability/seeds" // accepts -seeds
