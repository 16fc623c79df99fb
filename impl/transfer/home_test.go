package transfer

import (
	"fmt"
	"strconv"
	"strings"

	"purgelab/impl/record"
	"purgelab/impl/vfs"
)

// What a replica does around a pull, as small as it can be: its files lie in a home,
// which is the folder of the partition, h0 if you will, or h<n> in it. The record
// present names it. Whatever lies in another one is a pull to go on with, or rubbish.

const presentFile = dir + "/present"

type home string // empty: the first one

func (h home) path() string {
	if h == "" {
		return dir
	}
	return dir + "/" + string(h)
}

// present reads which home counts.
func present(fs vfs.FS, id record.Identity) (home, error) {
	b, _, err := record.Read(fs, presentFile, id)
	return home(b), err
}

// commit makes a home the present one: the instant of an install.
func commit(fs vfs.FS, id record.Identity, h home) error {
	return record.Write(fs, "transfer.commit", presentFile, id, []byte(h))
}

// latest is the home with the highest number, the first one without any.
func latest(fs vfs.FS) (n uint64, err error) {
	names, err := fs.List(dir)
	for _, name := range names {
		if k, e := strconv.ParseUint(strings.Trim(name, "h/"), 10, 64); e == nil && isHome(name) {
			n = max(n, k)
		}
	}
	return n, err
}

func isHome(name string) bool { return name[0] == 'h' && name[len(name)-1] == '/' }

// stagingFor is the home that an offer goes into: one in which it was begun, or a new
// one.
func stagingFor(fs vfs.FS, id record.Identity, m *Manifest) (home, error) {
	n, err := latest(fs)
	if err != nil {
		return "", err
	}
	last := home(fmt.Sprintf("h%d", n))
	was, err := Staged(fs, last.path(), id)
	if err != nil || was != nil && was.ID() == m.ID() {
		return last, err
	}
	return home(fmt.Sprintf("h%d", n+1)), nil
}

// reclaim removes one thing that is not of the present home.
func reclaim(fs vfs.FS, now home) (bool, error) {
	names, err := fs.List(dir)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if dir+"/"+name == presentFile || home(strings.TrimSuffix(name, "/")) == now || !isHome(name) && now == "" {
			continue
		}
		return true, ReclaimOne(fs, dir+"/"+name)
	}
	return false, nil
}
