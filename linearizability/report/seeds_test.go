package report

import _ "purgelab/linearizability/seeds" // accepts -seeds
