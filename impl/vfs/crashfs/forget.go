package crashfs

import "purgelab/impl/vfs"

// A Sync that fails says nothing about what is durable; on real systems the
// dirty data is then often marked clean, so that a second Sync succeeds and
// proves nothing. Forget and Evict make such a failure: the changes since the
// last Sync will never be stable, whatever Sync answers from then on. What is
// written later becomes stable as usual.
//
//	Forget   the cache goes on showing the changes; a power loss takes them
//	Evict    the cache shows the stable bytes at once
//
// ForgetNames does to a directory what Forget does to a file.
//
// The rest of the file model is as before, so a process that starts anew on the
// same cache reads, after Forget, what the disk does not have.

// fate is what is already decided about one change.
type fate uint8

const (
	undecided fate = iota // stable after the next Sync; until then drawn
	lost                  // never stable
	kept                  // stable, but kept in the list because an earlier one is lost
)

// or gives the decision about a change, asking draw if it is open.
func (f fate) or(draw func(i int) bool) func(i int) bool {
	switch f {
	case lost:
		return func(int) bool { return false }
	case kept:
		return func(int) bool { return true }
	}
	return draw
}

// syncRest is sync of a file or a directory that has lost changes: those stay in
// the list.
func (n *node) syncRest() {
	for i := range n.pending {
		if n.pending[i].fate == undecided {
			n.pending[i].fate = kept
		}
	}
	for i := range n.undo {
		if n.undo[i].fate == undecided {
			n.undo[i].fate = kept
		}
	}
}

// Forgetter is a vfs.File whose unsynced changes can be made to be lost.
type Forgetter interface {
	vfs.File
	// Forget loses them at the next power loss, Evict at once.
	Forget() error
	Evict() error
}

// Forget implements Forgetter.
func (f *file) Forget() error {
	if err := f.check("forget"); err != nil {
		return err
	}
	for i := range f.n.undo {
		if f.n.undo[i].fate == undecided {
			f.n.undo[i].fate = lost
			f.n.lost = true
		}
	}
	return nil
}

// Evict implements Forgetter.
func (f *file) Evict() error {
	if err := f.check("evict"); err != nil {
		return err
	}
	if len(f.n.undo) > 0 {
		f.n.keepBytes(func(int) bool { return false })
	}
	return nil
}

// ForgetNames loses the changes of names in a directory since its last SyncDir at
// the next power loss. A rename from or to another directory is not lost.
func (f *files) ForgetNames(path string) error {
	n := f.d.find(path)
	if f.dead() || n == nil || !n.dir {
		return f.d.fail(Call{Op: "forget", Path: path}, vfs.ErrNotExist)
	}
	for i := range n.pending {
		if p := &n.pending[i]; p.fate == undecided && p.both == nil {
			p.fate, n.lost = lost, true
		}
	}
	return nil
}
