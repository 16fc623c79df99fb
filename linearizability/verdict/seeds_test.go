package verdict

import _ "purgelab/linearizability/seeds" // accepts -seeds
