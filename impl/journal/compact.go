package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"purgelab/impl/corrupt"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/durable"
	"purgelab/model/op"
)

// A journal that was compacted begins with a later file than the first. Which one,
// and what came before it, is a record, start:
//
//	decide   the newest file before which there are only ops that may go
//	record   written and durable: the log begins there
//	unlink   the files before it, one at a time; a crash leaves some, and an unlink
//	         may be undone: whatever lies below the record is removed after a boot
//
// Its value, little endian:
//
//	+0   number   u32   of the first file
//	+4   seq      u64   before its first frame
//	+12  op       u64   before the log: what Entries returns begins above it
//	+20  term     u64   of that op
//	+28  last     u64   op of the log as it was when the file was begun
//	+36  term, vote, commit   3 × u64, as of then
//
// If last is above op, all between the two was dropped by an entry that a later
// file has. Without a frame before it the file need not be there yet.

// startBytes is the size of the value.
const startBytes = 60

// start says what lies before a file.
type start struct {
	number uint32
	seq    uint64
	op     op.Number
	term   uint64
	last   op.Number
	state  raftlog.State
}

// firstStart is that of a journal from which nothing was dropped.
var firstStart = start{number: 1, op: Bootstrap, term: 1, last: Bootstrap, state: raftlog.State{Term: 1, Commit: Bootstrap}}

// startFile is where the record of a journal is.
func startFile(dir string) string { return dir + "/start" }

func (s *start) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, s.number)
	for _, v := range []uint64{s.seq, uint64(s.op), s.term, uint64(s.last), s.state.Term, s.state.Vote, uint64(s.state.Commit)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// readStart reads what lies before the log; found says that there is a record.
func readStart(fs vfs.FS, dir string, id record.Identity) (s start, found bool, err error) {
	b, answer, err := record.Read(fs, startFile(dir), id)
	if answer != record.Value {
		return firstStart, false, err
	}
	if len(b) != startBytes {
		return start{}, false, &corrupt.Error{File: startFile(dir), What: "bytes of the journal's start", Want: startBytes, Got: len(b)}
	}
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[4+8*i:]) }
	s = start{
		number: binary.LittleEndian.Uint32(b), seq: at(0), op: op.Number(at(1)), term: at(2), last: op.Number(at(3)),
		state: raftlog.State{Term: at(4), Vote: at(5), Commit: op.Number(at(6))},
	}
	if s.last < s.op {
		return start{}, false, &corrupt.Error{File: startFile(dir), What: "last op at the journal's start", Want: fmt.Sprintf("at least %d", s.op), Got: s.last}
	}
	return s, true, nil
}

// Begins is the op above which the journal in dir begins; nothing is opened.
func Begins(fs vfs.FS, dir string, id record.Identity) (op.Number, error) {
	s, _, err := readStart(fs, dir, id)
	return s.op, err
}

// begun is a file and what lies before it.
type begun struct {
	start
	bytes int64 // of the file, once it is full
}

// Bytes is how much of the disk the log takes.
func (j *Journal) Bytes() int64 {
	n := j.size
	for i := range j.files {
		n += j.files[i].bytes
	}
	return n
}

// Compact drops, of the ops up to n, those that older files hold whose other ops may
// go, too; the file that is being written stays. dropped tells whether it did
// anything. What it drops must be kept elsewhere, durably. After an error the log is
// as before. The files are removed by Reclaim.
func (j *Journal) Compact(n op.Number) (dropped bool, err error) {
	if j.failed != nil {
		return false, j.failed
	}
	k := 0 // of j.files; all before it goes
	for i := len(j.files) - 1; i > 0 && k == 0; i-- {
		s := &j.files[i].start
		if s.op = j.lastBefore(s.number); s.op > n {
			continue
		}
		// The entry that dropped what lay above may be torn as long as it is not synced.
		if s.last == s.op || j.syncedSeq == j.seq {
			k = i
		}
	}
	if k == 0 {
		return false, nil
	}
	s := &j.files[k].start
	if s.term, err = j.Term(s.op); err != nil {
		return false, err
	}
	if err := record.Write(j.o.FS, "journal.compact", startFile(j.o.Dir), j.o.Identity, s.encode()); err != nil {
		return false, fmt.Errorf("journal: compact up to op %d: %w", s.op, err)
	}
	for _, f := range j.files[:k] {
		j.below = append(j.below, f.number)
	}
	j.files = append([]begun(nil), j.files[k:]...)
	j.index = append([]ref(nil), j.index[s.op-j.base:]...)
	j.base, j.baseTerm = s.op, s.term
	if j.old != nil && j.oldNumber < s.number {
		j.old.Close()
		j.old, j.oldNumber = nil, 0
	}
	return true, nil
}

// Clear drops all ops, as Compact does some: what is left is a log that Begin made above
// the last one. What it drops must be kept elsewhere, durably. After an error the log is
// as before. Nothing of the files is read again, and Reclaim removes them.
func (j *Journal) Clear() error {
	if j.failed != nil {
		return j.failed
	}
	s := start{number: j.number + 1, op: j.Last(), last: j.Last(), state: j.state}
	var err error
	if s.term, err = j.Term(s.op); err != nil {
		return err
	}
	if err := record.Write(j.o.FS, "journal.clear", startFile(j.o.Dir), j.o.Identity, s.encode()); err != nil {
		return fmt.Errorf("journal: clear up to op %d: %w", s.op, err)
	}
	for _, f := range j.files {
		j.below = append(j.below, f.number)
	}
	err = j.Close()
	j.old, j.oldNumber, j.file, j.size, j.room = nil, 0, nil, 0, false
	j.files, j.index, j.tail, j.tailBytes = nil, nil, nil, 0
	j.base, j.baseTerm, j.seq, j.syncedSeq, j.syncedOp = s.op, s.term, 0, 0, s.op
	return err
}

// lastBefore is the last op that lies in a file before this one. Where an op lies
// never goes down along the log.
func (j *Journal) lastBefore(number uint32) op.Number {
	return j.base + op.Number(sort.Search(len(j.index), func(i int) bool { return j.index[i].file >= number }))
}

// Reclaimable tells whether there is anything for Reclaim.
func (j *Journal) Reclaimable() bool { return len(j.below) > 0 }

// Reclaim removes one file that the log does not need any more; more tells whether
// to call again. A crash at any point, and an unlink that comes back, change nothing.
func (j *Journal) Reclaim() (more bool, err error) {
	if len(j.below) == 0 {
		return false, nil
	}
	name := j.name(j.below[0])
	if err := j.o.FS.Remove("journal.reclaim", name); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return true, fmt.Errorf("journal: remove %s: %w", name, err)
	}
	j.below = j.below[1:]
	return len(j.below) > 0, nil
}

// Begin makes a journal in dir, durably, that goes on above op n of a term, with a
// state: what a replica has that got everything up to n in another way. There is none
// in dir, or one that Begin made before and that nothing was appended to.
func Begin(fs vfs.FS, dir string, id record.Identity, n op.Number, term uint64, state raftlog.State) error {
	if err := durable.Mkdir(fs, "journal.begin", dir); err != nil {
		return fmt.Errorf("journal: begin above op %d: %w", n, err)
	}
	s := start{number: 1, op: n, term: term, last: n, state: state}
	if err := record.Write(fs, "journal.begin", startFile(dir), id, s.encode()); err != nil {
		return fmt.Errorf("journal: begin above op %d: %w", n, err)
	}
	return nil
}
