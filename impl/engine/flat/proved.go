package flat

import (
	"strconv"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/record"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// Proved lists the bytes whose damage Open must refuse: the records and the files
// of bookmarks, which are there whole or not at all, and the messages that the
// checkpoint covers. While a cleanup is pending no bookmark is read.
func Proved(o Options) ([]corrupt.Span, error) {
	cp, err := readCheckpoint(&o)
	if err != nil {
		return nil, err
	}
	reset, err := readReset(&o)
	if err != nil {
		return nil, err
	}
	done, err := readGen(&o)
	if err != nil {
		return nil, err
	}
	out, err := segment.Proved(o.segmentOptions(cp))
	if err != nil {
		return nil, err
	}
	for _, file := range []string{o.checkpointFile(), o.resetFile(), o.genFile()} {
		if b, a, _ := record.Read(o.FS, file, o.Identity); a == record.Value {
			out = append(out, record.Span(file, b))
		}
	}
	if reset.generation > done {
		return out, nil
	}
	f := engine.Facts{Incarnation: o.Identity.Incarnation, Generation: reset.generation}
	for _, kind := range []op.ConsumerKind{op.Consumer, op.Group} {
		names, err := o.FS.List(o.bookmarks(kind))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			id, err := strconv.ParseUint(name, 10, 32)
			if err != nil {
				continue
			}
			k := op.Key{Kind: kind, ID: uint32(id)}
			h, list, err := readMark(&o, k, &f)
			if err != nil {
				return nil, err
			}
			h.Close()
			if len(list) > 0 {
				out = append(out, corrupt.Span{File: o.bookmarkFile(k), To: markBytes, Of: corrupt.Bookmarks})
			}
		}
	}
	return out, nil
}
