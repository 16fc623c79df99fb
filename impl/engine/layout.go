package engine

import (
	"errors"
	"fmt"

	"purgelab/impl/vfs"
)

// LayoutError is the error of an Open that finds the record of a purge in another
// layout. What such a record means here nobody can say, and without it nobody knows
// what was purged: the log would be materialized from its beginning. So it is
// refused, and nothing is changed.
type LayoutError struct {
	File, Layout string
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("engine: %s is the record of a purge in another layout: want none of %s", e.File, e.Layout)
}

// RefuseLayout is a *LayoutError if one of the files, which are those of a layout,
// is there.
func RefuseLayout(fs vfs.FS, layout string, files ...string) error {
	for _, name := range files {
		f, err := fs.Open(name)
		if errors.Is(err, vfs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		return &LayoutError{name, layout}
	}
	return nil
}
