package transfer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purgelab/impl/corrupt"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Home is where the state of a replica lies.
type Home struct {
	_ struct{} `cbor:",toarray"`
	// Name of the folder; empty: the folder of the partition itself.
	Name string
	// Op is where the state was installed, of term Term: the log begins after it.
	// 0 for the first home.
	Op   op.Number
	Term uint64
}

// In is the path of the home of a partition in dir.
func (h Home) In(dir string) string {
	if h.Name == "" {
		return dir
	}
	return dir + "/" + h.Name
}

func presentFile(dir string) string { return dir + "/present" }

// Present is the home that counts.
func Present(fs vfs.FS, dir string, id record.Identity) (Home, error) {
	b, answer, err := record.Read(fs, presentFile(dir), id)
	if answer != record.Value {
		return Home{}, err
	}
	var h Home
	if err := decMode.Unmarshal(b, &h); err != nil {
		return Home{}, &corrupt.Error{File: presentFile(dir), What: "home", Want: "an encoded home", Got: err.Error()}
	}
	if _, ok := number(h.Name); !ok {
		return Home{}, &corrupt.Error{File: presentFile(dir), What: "name of a home", Want: "h and a number", Got: h.Name}
	}
	return h, nil
}

// Commit makes a home, in which everything is durable, the present one. This is the
// instant of an install: after an error that is record.ErrNotSynced, or a crash, a
// boot finds the one home or the other.
func Commit(fs vfs.FS, dir string, id record.Identity, h Home) error {
	b, err := encMode.Marshal(&h)
	if err != nil {
		panic(fmt.Sprintf("transfer: encode a home: %v", err))
	}
	return record.Write(fs, "transfer.commit", presentFile(dir), id, b)
}

// number of a home's name.
func number(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, "h")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && strconv.FormatUint(n, 10) == digits
}

// homes lists the homes beside the first, by number.
func homes(fs vfs.FS, dir string) (out []uint64, err error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("transfer: homes: %w", err)
	}
	for _, name := range names {
		if n, ok := number(strings.TrimSuffix(name, "/")); ok && strings.HasSuffix(name, "/") {
			out = append(out, n)
		}
	}
	return out, nil
}

// Next is a name for a home that was never used.
func Next(fs vfs.FS, dir string, present Home) (string, error) {
	last, _ := number(present.Name)
	all, err := homes(fs, dir)
	for _, n := range all {
		last = max(last, n)
	}
	return fmt.Sprintf("h%d", last+1), err
}

// Staged is a pull that was interrupted: the home that it goes into, and what was
// pulled; nil if there is none. Of several the last one counts.
func Staged(fs vfs.FS, dir string, id record.Identity, present Home) (name string, m *Manifest, err error) {
	was, _ := number(present.Name)
	all, err := homes(fs, dir)
	if err != nil {
		return "", nil, err
	}
	last := was
	for _, n := range all {
		last = max(last, n)
	}
	if last == was {
		return "", nil, nil
	}
	name = fmt.Sprintf("h%d", last)
	m, err = readOffer(fs, dir+"/"+name, id)
	if err != nil && errors.Is(err, corrupt.ErrCorrupt) {
		return "", nil, nil // nothing depends on it
	}
	return name, m, err
}

// readOffer is the manifest that is pulled into a home, nil without one.
func readOffer(fs vfs.FS, home string, id record.Identity) (*Manifest, error) {
	b, answer, err := record.Read(fs, offerFile(home), id)
	if answer != record.Value {
		return nil, err
	}
	return DecodeManifest(offerFile(home), b)
}

// Reclaim removes one thing of a home that is neither the present one nor keep, the
// name of one that is being filled; false when there is none. Of the first home only
// the names for which mine is true are its own. A crash, and an unlink that comes
// back, do no harm.
func Reclaim(fs vfs.FS, dir string, present Home, keep string, mine func(name string) bool) (bool, error) {
	names, err := fs.List(dir)
	if err != nil {
		return false, fmt.Errorf("transfer: reclaim: %w", err)
	}
	for _, name := range names {
		plain := strings.TrimSuffix(name, "/")
		_, home := number(plain)
		home = home && strings.HasSuffix(name, "/")
		old := home && plain != present.Name && plain != keep || !home && present.Name != "" && plain != "present" && mine(plain)
		if !old {
			continue
		}
		if err := removeOne(fs, dir+"/"+name); err != nil {
			return false, fmt.Errorf("transfer: reclaim: %w", err)
		}
		return true, nil
	}
	return false, nil
}

// removeOne removes a file, or of a folder, which ends in a slash, the first thing in
// it, or the folder when it is empty.
func removeOne(fs vfs.FS, path string) error {
	plain, folder := strings.CutSuffix(path, "/")
	if folder {
		names, err := fs.List(plain)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return removeOne(fs, plain+"/"+names[0])
		}
	}
	if err := fs.Remove("transfer.reclaim", plain); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return err
	}
	return nil
}
