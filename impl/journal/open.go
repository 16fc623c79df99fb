package journal

import (
	"bytes"
	"errors"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/framed"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/impl/vfs/durable"
)

// Report says what Open found and did.
type Report struct {
	Files   int
	Frames  uint64
	Entries int
	// Torn, if not nil, is why the tail was cut; its File and Offset say where.
	Torn *corrupt.Error
	// Cut is how many bytes were cut.
	Cut int64
}

// Open reads the journal in o.Dir, which it makes if need be, cuts a torn tail,
// and makes all that is left durable.
func Open(o Options) (*Journal, Report, error) {
	if o.FileBytes == 0 {
		o.FileBytes = DefaultFileBytes
	}
	var r Report
	if err := durable.Mkdir(o.FS, "journal.open", o.Dir); err != nil {
		return nil, r, fmt.Errorf("journal: open: %w", err)
	}
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return nil, r, fmt.Errorf("journal: open: %w", err)
	}
	from, _, err := readStart(o.FS, o.Dir, o.Identity)
	if err != nil {
		return nil, r, fmt.Errorf("journal: open: %w", err)
	}
	j := &Journal{
		o: o, sum: identitySum(o.Identity), state: from.state, base: from.op, baseTerm: from.term,
		index: make([]ref, from.last-from.op), seq: from.seq, syncedSeq: from.seq, syncedOp: from.op, number: from.number - 1,
	}
	var numbers []uint32
	for _, name := range names {
		var n uint32
		if _, err := fmt.Sscanf(name, "%08d.log", &n); err != nil || fmt.Sprintf("%08d.log", n) != name {
			continue
		}
		if n < from.number {
			j.below = append(j.below, n)
			continue
		}
		numbers = append(numbers, n)
	}
	if len(numbers) == 0 && from.seq > 0 {
		return nil, r, &corrupt.Error{File: j.name(from.number), What: "first journal file", Want: from.number, Got: "none"}
	}
	for i, n := range numbers {
		if want := from.number + uint32(i); n != want {
			return nil, r, &corrupt.Error{File: j.name(want), What: "journal file number", Want: want, Got: n}
		}
	}
	if err := j.open(numbers, &from, &r); err != nil {
		j.Close()
		return nil, r, err
	}
	return j, r, nil
}

// open reads the files of the log; what it opened before an error is still open then.
func (j *Journal) open(numbers []uint32, from *start, r *Report) error {
	for i, n := range numbers {
		// That of the first file was durable before the log was made to begin there.
		headed := i < len(numbers)-1 || i == 0 && from.seq > 0
		if err := j.load(n, i == len(numbers)-1, headed, r); err != nil {
			return err
		}
	}
	if len(j.index) > 0 && j.index[0].file == 0 {
		return &corrupt.Error{File: j.name(from.number), What: "entry after the start of the journal", Want: from.op + 1, Got: "none"}
	}
	r.Files, r.Frames, r.Entries = len(j.files), j.seq, len(j.index)
	return j.settle()
}

// load reads one file; headed: its header is known to have been durable.
func (j *Journal) load(number uint32, last, headed bool, r *Report) error {
	name := j.name(number)
	f, b, err := framed.ReadFile(j.o.FS, name)
	if err != nil {
		return fmt.Errorf("journal: open %s: %w", name, err)
	}
	head, err := decodeFileHeader(name, b)
	if err != nil && !headed && !j.proof(name, b, 0, 0) {
		// Made but not durable before a crash: no frame was ever in it.
		f.Close()
		errors.As(err, &r.Torn)
		r.Cut = int64(len(b))
		return j.removeFile(name)
	}
	if err == nil {
		err = j.follows(name, number, &head)
	}
	if err != nil {
		f.Close()
		return err
	}
	if j.file != nil {
		j.file.Close()
	}
	j.noteFile(number)
	j.file, j.number = f, number
	at := int64(fileHeader)
	for at < int64(len(b)) {
		fr, err := decodeFrame(name, at, b[at:], j.sum, j.o.Identity.Incarnation)
		if err == nil && fr.seq != j.seq+1 {
			err = &corrupt.Error{File: name, Offset: at + 16, What: "journal frame sequence", Want: j.seq + 1, Got: fr.seq}
		}
		if err != nil {
			if !last || j.proof(name, b, at+1, j.seq+1) {
				return err
			}
			if j.o.Room && len(bytes.TrimLeft(b[at:], "\x00")) == 0 {
				j.room = true
				break
			}
			errors.As(err, &r.Torn)
			r.Cut = int64(len(b)) - at
			break
		}
		if err := j.replay(name, at, &fr); err != nil {
			return err
		}
		at += fr.size
	}
	j.size = at
	if r.Torn != nil {
		if err := j.file.Truncate("journal.cut.truncate", at); err != nil {
			return fmt.Errorf("journal: cut %s: %w", name, err)
		}
	}
	return nil
}

// follows checks that a file is this journal's, and comes next.
func (j *Journal) follows(name string, number uint32, head *fileHead) error {
	if head.id != j.o.Identity {
		return &record.ForeignError{File: name, Want: j.o.Identity, Got: head.id}
	}
	if head.number != number {
		return &corrupt.Error{File: name, Offset: 24, What: "journal file number", Want: number, Got: head.number}
	}
	if head.firstSeq != j.seq+1 {
		// The file before lost whole frames from its end.
		return &corrupt.Error{File: name, Offset: 28, What: "journal first frame", Want: j.seq + 1, Got: head.firstSeq}
	}
	return nil
}

// proof tells whether an intact frame from at on says that frame seq was synced.
func (j *Journal) proof(name string, b []byte, at int64, seq uint64) bool {
	for ; at+frameHeader <= int64(len(b)); at++ {
		if b[at] != frameMagic&0xff {
			continue
		}
		f, err := decodeFrame(name, at, b[at:], j.sum, j.o.Identity.Incarnation)
		if err == nil && f.seq > seq && f.synced >= seq {
			return true
		}
	}
	return false
}

// replay takes one frame in.
func (j *Journal) replay(name string, at int64, f *frame) error {
	if f.count > 0 && (f.first < j.First() || f.first > j.Last()+1) {
		return &corrupt.Error{File: name, Offset: at + 32, What: "journal first op of a frame", Want: fmt.Sprintf("%d to %d", j.First(), j.Last()+1), Got: f.first}
	}
	f.entries(func(i int, e raftlog.Entry) {
		j.add(e.Op, ref{term: e.Term, at: uint32(at), file: j.number, inner: uint32(i)})
	})
	if f.hasState {
		j.state = f.state
	}
	j.seq = f.seq
	j.proved = f.count == 0 && !f.hasState && f.synced == f.seq-1
	return nil
}

// settle makes what was found, and the cut of a torn tail, durable, and known to
// be: the frame that says so is written after the sync that makes it true.
func (j *Journal) settle() error {
	if j.file == nil {
		return nil
	}
	// A process crash may have come between the sync of a new file and that of
	// its name; what is written to it from now on must not vanish with the name.
	if err := j.o.FS.SyncDir("journal.open.dirsync", j.o.Dir); err != nil {
		return fmt.Errorf("journal: open: %w", err)
	}
	if j.o.Defects.Has(defect.RecoveredNotSynced) {
		return j.noteSync(nil)
	}
	known := j.seq == 0 || j.proved
	if err := j.sync("journal.open.sync"); err != nil {
		return err
	}
	if known {
		return nil
	}
	j.buf = appendFrame(j.buf[:0], j.sum, j.o.Identity.Incarnation, j.seq+1, j.syncedSeq, nil, nil)
	if _, err := j.file.WriteAt("journal.open.prove", j.buf, j.size); err != nil {
		return fmt.Errorf("journal: open: %w", err)
	}
	j.seq++
	j.size += int64(len(j.buf))
	return j.sync("journal.open.prove-sync")
}

func (j *Journal) removeFile(name string) error {
	if err := j.o.FS.Remove("journal.cut.remove", name); err != nil {
		return fmt.Errorf("journal: remove %s: %w", name, err)
	}
	if err := j.o.FS.SyncDir("journal.cut.dirsync", j.o.Dir); err != nil {
		return fmt.Errorf("journal: remove %s: %w", name, err)
	}
	return nil
}
