package form

import _ "purgelab/linearizability/seeds" // accepts -seeds
