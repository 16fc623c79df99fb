package durable

import (
	"fmt"

	"purgelab/impl/vfs"
)

// Fence is fs with every failed sync of a directory marked as vfs.ErrUnsure: the
// names that were to become durable may be lost although they can be seen, and with
// them those of other files in that directory, so whoever goes on trusts what a later
// sync does not cover.
func Fence(fs vfs.FS) vfs.FS { return fence{fs} }

type fence struct{ vfs.FS }

// SyncDir implements vfs.FS.
func (f fence) SyncDir(label vfs.Label, path string) error {
	if err := f.FS.SyncDir(label, path); err != nil {
		return fmt.Errorf("%w: %w", vfs.ErrUnsure, err)
	}
	return nil
}
