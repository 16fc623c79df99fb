package history

import "purgelab/model/op"

// tellsPosition tells whether a position belongs to an answer that was granted.
func tellsPosition(kind op.Kind, p *op.Reply) bool {
	if p.Code != op.OK && p.Code != op.Gone {
		return false
	}
	switch kind {
	case op.Append, op.Poll, op.DeleteRecords, op.Purge:
		return true
	case op.GetBookmark, op.ListOffsets:
		return p.Found
	}
	return false
}

// partial tells whether an answer lacks its position, or a refusal its bounds. A start or
// an end that is left out beside a full position is 0.
func (v *reply) partial(kind op.Kind, p *op.Reply) bool {
	switch p.Code {
	case op.OffsetOutOfRange, op.InvalidOffset, op.StaleGeneration, op.StaleIncarnation, op.Mismatch:
		return v.Position == nil || v.Position.bare && v.Start == 0 && v.End == 0
	}
	if v.Position != nil {
		return false
	}
	asks := kind == op.GetBookmark || kind == op.ListOffsets
	return asks && p.Code == op.OK && v.Found == nil || tellsPosition(kind, p)
}
