package crashpoints

import _ "purgelab/linearizability/seeds" // accepts -seeds
