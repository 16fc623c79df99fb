package vfs

import (
	"errors"
	"io/fs"
)

// ErrFailed is what the errors of a disk that did not do what it was asked match,
// so that they can be told from what it did do and found to be wrong.
var ErrFailed = errors.New("vfs: the disk failed")

// ErrUnsure marks an error after which nobody knows what is durable: a failed
// sync may have dropped what it should have written, and another one may succeed
// all the same. Nothing may be trusted until it was read again from the disk
// itself, not from a cache.
var ErrUnsure = errors.New("vfs: not known what is durable")

// Failed tells whether err is a failure of the disk: not a crash of the machine,
// not a file that is absent or there, and not damage that was read.
func Failed(err error) bool {
	if errors.Is(err, ErrCrashed) || errors.Is(err, ErrNotExist) || errors.Is(err, ErrExist) {
		return false
	}
	var path *fs.PathError
	return errors.Is(err, ErrFailed) || errors.Is(err, ErrNoSpace) || errors.As(err, &path)
}
