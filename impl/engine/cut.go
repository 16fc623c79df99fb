package engine

import "purgelab/model/op"

// Cut says where the start stands after a deletion of the records below cutoff:
// -1 is the end, a cutoff at or below the start changes nothing, and any other
// one outside of the partition is a *RangeError. It is the one place that decides
// this, and does so before anything is changed.
func Cut(f Facts, cutoff op.Offset) (op.Offset, error) {
	if cutoff == -1 {
		cutoff = f.End
	}
	if cutoff < 0 || cutoff > f.End {
		return f.Start, &RangeError{From: cutoff, Start: f.Start, End: f.End}
	}
	return max(f.Start, cutoff), nil
}
