package model

import (
	"cmp"
	"slices"

	"purgelab/model/op"
)

// withheld says what the answers of a whole history leave out: bare, all positions
// are without a generation; untimed, no answer carries a timestamp.
func withheld(ops []Operation) (bare, untimed bool) {
	untimed = true
	positioned, tagged := false, false
	for i := 0; i < len(ops) && (untimed || !tagged); i++ {
		r, a := ops[i].Request, ops[i].Reply
		if a == nil {
			continue
		}
		positions := hasBounds(a.Code) || r.Kind == op.NewIncarnation
		if !positions {
			untimed = untimed && a.Timestamp == 0 && !slices.ContainsFunc(a.Records, func(m op.Record) bool { return m.Timestamp != 0 })
			if a.Code == op.OK || a.Code == op.Gone {
				switch r.Kind {
				case op.Append, op.Poll, op.DeleteRecords, op.Purge:
					positions = true
				case op.GetBookmark, op.ListOffsets:
					positions = a.Found
				}
			}
		}
		positioned = positioned || positions
		tagged = tagged || positions && a.Position.Incarnation != 0
	}
	return positioned && !tagged, untimed
}

// differs compares answers as far as the history is written out.
func differs(sem Semantics, bare, untimed bool, r *op.Request, want, got *op.Reply) string {
	if !bare && !untimed {
		return Differs(r, want, got)
	}
	w := *want
	if bare && got.Position.Incarnation == 0 {
		w.Position = op.Position{Offset: want.Position.Offset}
		if hasBounds(want.Code) || r.Kind == op.Purge && sem.Numbering == Restart {
			w.Position = got.Position // nothing to compare
		}
	}
	if untimed {
		w.Timestamp = got.Timestamp
		w.Records = slices.Clone(want.Records)
		for i := range w.Records {
			w.Records[i].Timestamp = 0
		}
	}
	return Differs(r, &w, got)
}

// notRemoved is what is wrong with an answer gone that nothing explains.
const notRemoved = "gone, but no purge and no delete-records can have removed the range"

// removals are the operations that may have removed messages, by their calls; until
// is the latest return of any up to there.
type removals struct{ calls, until []int64 }

func removalsOf(ops []Operation) removals {
	var r removals
	removes := func(o *Operation) bool {
		k := o.Request.Kind
		return (k == op.Purge || k == op.DeleteRecords || k == op.NewIncarnation) && (o.Reply == nil || o.Reply.Code == op.OK)
	}
	for _, i := range byCall(ops, removes) {
		o := &ops[i]
		until := o.Return
		if o.Reply == nil {
			until = forever
		}
		if n := len(r.until); n > 0 {
			until = max(until, r.until[n-1])
		}
		r.calls, r.until = append(r.calls, o.Call), append(r.until, until)
	}
	return r
}

// within tells whether one may have taken effect within an interval.
func (r removals) within(call, ret int64) bool {
	n, _ := slices.BinarySearchFunc(r.calls, ret, cmp.Compare[int64])
	return n > 0 && r.until[n-1] > call
}
