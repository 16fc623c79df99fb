package journal

import (
	"errors"
	"io"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
)

// Proved lists the record of where the journal in dir begins, and the entries,
// without term and vote, whose loss can be told from a torn tail: their frame is in a file that has a
// successor, or a later frame says that it was synced. Damage to any of these
// bytes must be refused by Open, whatever else happens; damage above them cannot
// be told from a write that a power loss tore.
func Proved(fs vfs.FS, dir string, id record.Identity) ([]corrupt.Span, error) {
	j := &Journal{o: Options{FS: fs, Dir: dir, Identity: id}, sum: identitySum(id)}
	var out []corrupt.Span
	from, found, err := readStart(fs, dir, id)
	if err != nil {
		return nil, err
	}
	if found {
		out = append(out, record.Span(startFile(dir), from.encode()))
	}
	for n := from.number; ; n++ {
		name := j.name(n)
		h, b, err := framed.ReadFile(fs, name)
		if errors.Is(err, vfs.ErrNotExist) {
			return out, nil
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		h.Close()
		next, err := fs.Open(j.name(n + 1))
		followed := err == nil
		if followed {
			next.Close()
		}
		var spans []corrupt.Span
		var seqs []uint64
		synced := uint64(0)
		for at := int64(fileHeader); at < int64(len(b)); {
			f, err := decodeFrame(name, at, b[at:], j.sum, id.Incarnation)
			if err != nil {
				break
			}
			synced = max(synced, f.synced)
			if body := int64(len(f.body)); body > 0 {
				spans, seqs = append(spans, corrupt.Span{File: name, From: at + f.size - body, To: at + f.size, Of: corrupt.Journal}), append(seqs, f.seq)
			}
			at += f.size
		}
		for i, s := range spans {
			if followed || seqs[i] <= synced {
				out = append(out, s)
			}
		}
	}
}
