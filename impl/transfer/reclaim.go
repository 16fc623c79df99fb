package transfer

import (
	"errors"
	"strings"

	"purgelab/impl/vfs"
)

// ReclaimOne removes a file, or of a folder, whose name ends in a slash, the first
// thing in it, or the folder when it is empty.
func ReclaimOne(fs vfs.FS, path string) error {
	plain, folder := strings.CutSuffix(path, "/")
	if folder {
		names, err := fs.List(plain)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return ReclaimOne(fs, plain+"/"+names[0])
		}
	}
	if err := fs.Remove("transfer.reclaim", plain); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return err
	}
	return nil
}
