package segment

import (
	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
)

// Proved lists the bytes that the checkpoint of o shows to be durable and whose damage
// Open refuses, or Check after it: the headers and batches below its end, of the file
// that holds the start and of those after it.
func Proved(o Options) ([]corrupt.Span, error) {
	if o.Start == o.End {
		return nil, nil
	}
	own := owner{o.Identity, o.Generation}
	l := &Log{o: o, owner: own, sum: own.sum()}
	bases, err := l.list()
	if err != nil {
		return nil, err
	}
	var out []corrupt.Span
	for i, base := range bases {
		if base >= o.End || i+1 < len(bases) && bases[i+1] <= o.Start {
			continue
		}
		name := l.name(base)
		h, b, err := framed.ReadFile(o.FS, name)
		if err != nil {
			return nil, err
		}
		h.Close()
		at := int64(fileHeader)
		for at < int64(len(b)) {
			x, err := decodeBatch(name, at, b[at:], l.sum)
			if err != nil || x.base >= o.End {
				break
			}
			at += x.size
		}
		out = append(out, corrupt.Span{File: name, To: at, Of: corrupt.Messages})
	}
	return out, nil
}
