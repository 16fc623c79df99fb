package osfs

import (
	"errors"
	"os"
	"syscall"
)

// syncData makes durable what a file holds and how long it is. The times of a file
// are not synced with it, as fsync would: nobody reads them.
func syncData(h *os.File) error {
	c, err := h.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		for {
			if failed = syscall.Fdatasync(int(fd)); !errors.Is(failed, syscall.EINTR) {
				return
			}
		}
	})
	if err == nil && failed != nil {
		err = os.NewSyscallError("fdatasync", failed)
	}
	return err
}
