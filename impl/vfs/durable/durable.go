// Package durable holds the steps about directories that several stores need: a
// directory whose name will outlive a power loss, and a fence that tells when nobody
// knows which names will.
package durable

import (
	"fmt"
	"path"

	"purgelab/impl/vfs"
)

// Mkdir makes dir and every directory above it, and syncs the directory that
// holds each, also when it was there: a name that is seen may be unsynced.
// Labels are label+".mkdir" and label+".mkdir-sync".
func Mkdir(fs vfs.FS, label vfs.Label, dir string) error {
	if dir == "." {
		return nil
	}
	up := path.Dir(dir)
	if err := Mkdir(fs, label, up); err != nil {
		return err
	}
	if _, err := fs.List(dir); err != nil {
		if err := fs.Mkdir(label+".mkdir", dir); err != nil {
			return fmt.Errorf("durable: make %s: %w", dir, err)
		}
	}
	if err := fs.SyncDir(label+".mkdir-sync", up); err != nil {
		return fmt.Errorf("durable: sync %s: %w", up, err)
	}
	return nil
}
