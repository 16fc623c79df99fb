package node

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockFile keeps a second process, or a second node of this one, out of a
// folder. The operating system lets it go with the process.
const lockFile = "lock"

func lockFolder(root string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(root, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("in use by another replica: lock %s: %w", f.Name(), err)
	}
	return f, nil
}
