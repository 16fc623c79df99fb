package foreign

import _ "purgelab/linearizability/seeds" // accepts -seeds
