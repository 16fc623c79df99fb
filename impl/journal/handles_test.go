package journal

import "purgelab/impl/vfs"

// handles is a disk that knows how many files are open.
type handles struct {
	vfs.FS
	open int
}

type handle struct {
	vfs.File
	of *handles
}

func (h *handles) Open(path string) (vfs.File, error) { return h.opening(h.FS.Open(path)) }

func (h *handles) Create(label vfs.Label, path string) (vfs.File, error) {
	return h.opening(h.FS.Create(label, path))
}

func (h *handles) opening(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	h.open++
	return handle{f, h}, nil
}

func (f handle) Close() error {
	f.of.open--
	return f.File.Close()
}
