//go:build !linux

package osfs

import "os"

func syncData(h *os.File) error { return h.Sync() }
