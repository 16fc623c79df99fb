package replica

import (
	"purgelab/impl/engine"
	"purgelab/model/op"
)

// This file decides, from the materialized state, what a request answers and
// what it changes: docs/contract.md in code. It changes nothing itself.

// bounded completes a refusal with the start and the end of the current era.
func bounded(f engine.Facts, code op.Code) op.Reply {
	return op.Reply{Code: code, Position: position(f, -1), Start: f.Start, End: f.End}
}

// inEra checks that a position names the current era; nil if it does.
func inEra(e state, req *op.Request, p op.Position) *op.Reply {
	f := e.Facts()
	if req.Bare {
		return nil
	}
	var r op.Reply
	if l, ok := e.(*lined); ok && l.lives(p) {
		return nil
	}
	switch {
	case p.Incarnation != f.Incarnation:
		r = bounded(f, op.StaleIncarnation)
	case p.Generation != f.Generation:
		r = bounded(f, op.StaleGeneration)
	default:
		return nil
	}
	return &r
}

func position(f engine.Facts, o op.Offset) op.Position {
	return op.Position{Incarnation: f.Incarnation, Generation: f.Generation, Offset: o}
}

// asExpected checks a conditional request; nil if it may go on.
func asExpected(f engine.Facts, req *op.Request) *op.Reply {
	if req.Expected == nil || *req.Expected == position(f, f.End) {
		return nil
	}
	r := bounded(f, op.Mismatch)
	return &r
}

// state is what a decision is made from.
type state interface {
	Facts() engine.Facts
	Bookmark(op.Key) (op.Position, bool)
	FirstAt(op.Timestamp) (op.Offset, op.Timestamp, bool, error)
}

// plan finds the range that a poll reads: from and count, or a refusal.
func plan(e state, req *op.Request) (from op.Offset, count uint32, refusal *op.Reply, err error) {
	f := e.Facts()
	from = f.Start
	switch req.Strategy {
	case op.Next:
		if b, ok := e.Bookmark(req.Key); ok {
			from = b.Offset + 1
		}
		if from < f.Start {
			switch req.Reset {
			case op.Earliest:
				from = f.Start
			case op.Latest:
				from = f.End
			case op.Fail:
				r := bounded(f, op.OffsetOutOfRange)
				return 0, 0, &r, nil
			}
		}
	case op.AtOffset:
		if r := inEra(e, req, req.At); r != nil {
			return 0, 0, r, nil
		}
		if from = req.At.Offset; from < f.Start || from > f.End {
			r := bounded(f, op.OffsetOutOfRange)
			return 0, 0, &r, nil
		}
	case op.Last:
		from = max(f.Start, f.End-op.Offset(req.Max))
	case op.AtTimestamp:
		o, _, found, err := e.FirstAt(req.Timestamp)
		if err != nil {
			return 0, 0, nil, err
		}
		if from = o; !found {
			from = f.End
		}
	}
	// A bookmark at or above the end reads nothing; it must not be there at all.
	return from, uint32(max(0, min(op.Offset(req.Max), f.End-from))), nil, nil
}

// raise is the effect of an auto-commit on the bookmark: never down.
func raise(e state, key op.Key, from op.Offset, count uint32) engine.Effect {
	if count == 0 {
		return engine.Effect{}
	}
	last := from + op.Offset(count) - 1
	if b, ok := e.Bookmark(key); ok && b.Offset >= last {
		return engine.Effect{}
	}
	return engine.Effect{Kind: engine.Store, Key: key, Position: position(e.Facts(), last)}
}

// mutate decides a mutation other than a registration or a purge by intent.
func mutate(e state, req *op.Request, stamp op.Timestamp) (op.Reply, engine.Effect, error) {
	f := e.Facts()
	switch req.Kind {
	case op.Append:
		stamp = max(stamp, f.LastTimestamp)
		return op.Reply{Position: position(f, f.End), Timestamp: stamp},
			engine.Effect{Kind: engine.Append, Payloads: req.Payloads, Timestamp: stamp}, nil

	case op.Poll:
		from, count, refusal, err := plan(e, req)
		if err != nil {
			return op.Reply{}, engine.Effect{}, err
		}
		if refusal != nil {
			return *refusal, engine.Effect{}, nil
		}
		return op.Reply{Position: position(f, from), Count: count}, raise(e, req.Key, from, count), nil

	case op.StoreBookmark:
		if r := inEra(e, req, req.At); r != nil {
			return *r, engine.Effect{}, nil
		}
		if req.At.Offset < 0 || req.At.Offset >= f.End {
			return bounded(f, op.InvalidOffset), engine.Effect{}, nil
		}
		return op.Reply{}, engine.Effect{Kind: engine.Store, Key: req.Key, Position: position(f, req.At.Offset)}, nil

	case op.DeleteBookmark:
		if _, ok := e.Bookmark(req.Key); !ok {
			return op.Reply{Code: op.NotFound}, engine.Effect{}, nil
		}
		return op.Reply{}, engine.Effect{Kind: engine.Delete, Key: req.Key}, nil

	case op.DeleteRecords:
		if r := inEra(e, req, req.At); r != nil {
			return *r, engine.Effect{}, nil
		}
		return deleteRecords(f, req, req.At.Offset)

	case op.Purge: // of the design in which numbering goes on
		return deleteRecords(f, req, -1)
	}
	return op.Reply{Code: op.PolicyViolation}, engine.Effect{}, nil
}

// deleteRecords moves the start up. A cutoff of -1 is the end.
func deleteRecords(f engine.Facts, req *op.Request, cutoff op.Offset) (op.Reply, engine.Effect, error) {
	if r := asExpected(f, req); r != nil {
		return *r, engine.Effect{}, nil
	}
	start, err := engine.Cut(f, cutoff)
	if err != nil {
		return bounded(f, op.OffsetOutOfRange), engine.Effect{}, nil
	}
	if start == f.Start {
		return op.Reply{Position: position(f, start)}, engine.Effect{}, nil
	}
	return op.Reply{Position: position(f, start)}, engine.Effect{Kind: engine.Advance, Start: start}, nil
}

// lookUp answers a read that needs no records: GetBookmark and ListOffsets.
func lookUp(e state, req *op.Request) (op.Reply, error) {
	f := e.Facts()
	if req.Kind == op.GetBookmark {
		b, ok := e.Bookmark(req.Key)
		return op.Reply{Position: b, Found: ok}, nil
	}
	switch req.Which {
	case op.EarliestOffset:
		return op.Reply{Position: position(f, f.Start), Found: true}, nil
	case op.LatestOffset:
		return op.Reply{Position: position(f, f.End), Found: true}, nil
	}
	o, ts, found, err := e.FirstAt(req.Timestamp)
	if err != nil || !found {
		return op.Reply{}, err
	}
	return op.Reply{Position: position(f, o), Timestamp: ts, Found: true}, nil
}
