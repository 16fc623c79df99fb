package tagged

import (
	"purgelab/impl/bookmark"
	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/purge"
	"purgelab/impl/record"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// Proved lists the bytes of the present generation whose damage Open must refuse, or Check:
// the marker and the checkpoint, which are there whole or not at all, and what the
// checkpoint covers.
func Proved(o engine.Options) ([]corrupt.Span, error) {
	m, err := purge.Read(o.FS, o.Dir, o.Identity)
	if err != nil {
		return nil, err
	}
	var out []corrupt.Span
	var present op.Generation
	if m.State != purge.None {
		out = append(out, record.Span(purge.File(o.Dir), m.Encode()))
		if present = m.Before; m.State == purge.Complete {
			present = m.Generation
		}
	}
	cp, found, err := readCheckpoint(o.FS, o.Dir, o.Identity, present)
	if err != nil || !found {
		return out, err
	}
	out = append(out, record.Span(checkpointFile(o.Dir, present), cp.encode()))
	messages, err := segment.Proved(segmentOptions(o, &cp))
	if err != nil {
		return nil, err
	}
	return append(append(out, messages...), bookmark.Proved(bookmarkOptions(o, &cp))...), nil
}
