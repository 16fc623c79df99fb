package history

import _ "purgelab/linearizability/seeds" // accepts -seeds
