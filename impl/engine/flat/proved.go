package flat

import (
	"purgelab/impl/corrupt"
	"purgelab/impl/record"
	"purgelab/impl/segment"
)

// Proved lists the bytes whose damage Open must refuse, or Check: the records, which are
// there whole or not at all, and the messages that the checkpoint covers. A
// bookmark has two copies, so damage of one byte does no harm to it.
func Proved(o Options) ([]corrupt.Span, error) {
	cp, err := readCheckpoint(&o)
	if err != nil {
		return nil, err
	}
	if _, err := readReset(&o); err != nil {
		return nil, err
	}
	if _, err := readGen(&o); err != nil {
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
	return out, nil
}
