package bookmark

import "purgelab/impl/corrupt"

// Proved lists the bytes that the checkpoint of o shows to be durable.
func Proved(o Options) []corrupt.Span {
	if o.Length == 0 {
		return nil
	}
	l := &Log{o: o}
	return []corrupt.Span{{File: l.name(o.Number), To: o.Length, Of: corrupt.Bookmarks}}
}
