package node

import (
	"fmt"
	"os"

	"github.com/cespare/xxhash/v2"
)

// bootFile names the boot of this machine; it changes when the machine starts, and
// at no other time.
const bootFile = "/proc/sys/kernel/random/boot_id"

// thisBoot is a number of the machine's boot, never 0.
func thisBoot() (uint64, error) {
	b, err := os.ReadFile(bootFile)
	if err != nil {
		return 0, fmt.Errorf("the boot of this machine is not known: %w", err)
	}
	return xxhash.Sum64(b) | 1, nil
}
