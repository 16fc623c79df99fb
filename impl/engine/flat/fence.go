package flat

import (
	"fmt"

	"purgelab/impl/vfs"
)

// fence marks failed syncs: nobody knows what is durable after one, so the caller
// must stop, and boot on a disk whose cache is gone.
type fence struct{ vfs.FS }

func (o *Options) fenced() *Options {
	f := *o
	f.FS = fence{o.FS}
	return &f
}

type fencedFile struct{ vfs.File }

// SyncDir implements vfs.FS.
func (f fence) SyncDir(label vfs.Label, path string) error { return unsure(f.FS.SyncDir(label, path)) }

// Create implements vfs.FS.
func (f fence) Create(label vfs.Label, path string) (vfs.File, error) {
	h, err := f.FS.Create(label, path)
	if err != nil {
		return nil, err
	}
	return fencedFile{h}, nil
}

// Sync implements vfs.File.
func (f fencedFile) Sync(label vfs.Label) error { return unsure(f.File.Sync(label)) }

func unsure(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errFailed, err)
}
