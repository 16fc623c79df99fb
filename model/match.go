package model

import (
	"fmt"

	"purgelab/model/op"
)

// ChoiceOf takes from an answer what the contract leaves open.
func ChoiceOf(r *op.Request, got *op.Reply) Choice {
	c := Choice{Timestamp: got.Timestamp, Session: got.Session, Gone: got.Code == op.Gone, Refused: got.Code == op.StaleIncarnation}
	if r.Kind == op.NewIncarnation {
		c.Incarnation, c.Agreed = got.Position.Incarnation, got.Agreed
	}
	if r.Kind == op.Purge && got.Code == op.OK {
		c.Generation = got.Position.Generation
	}
	return c
}

// hasBounds tells whether a code comes with era, start and end.
func hasBounds(c op.Code) bool {
	switch c {
	case op.OffsetOutOfRange, op.InvalidOffset, op.StaleGeneration, op.StaleIncarnation, op.Mismatch:
		return true
	}
	return false
}

// Differs names the first field in which an answer is not what the model
// wants, and is empty when it is. Fields without a meaning for the operation
// and the code are ignored.
func Differs(r *op.Request, want, got *op.Reply) string {
	if want.Code != got.Code {
		return fmt.Sprintf("code: want %s, got %s", want.Code, got.Code)
	}
	position := false
	switch {
	case want.Code == op.Mismatch && r.Kind == op.Purge:
		// Settled by whoever proposed the intent, answered later: the bounds are
		// those of the answer, and a history does not show both instants.
	case r.Kind == op.NewIncarnation && want.Agreed != got.Agreed:
		return fmt.Sprintf("agreed: want %s or less, got %s", want.Agreed, got.Agreed)
	case hasBounds(want.Code) || r.Kind == op.NewIncarnation:
		position = true
		if want.Start != got.Start {
			return fmt.Sprintf("start: want %d, got %d", want.Start, got.Start)
		}
		if want.End != got.End {
			return fmt.Sprintf("end: want %d, got %d", want.End, got.End)
		}
	case want.Code == op.OK || want.Code == op.Gone:
		switch r.Kind {
		case op.Append, op.Poll, op.DeleteRecords, op.Purge:
			position = true
		case op.GetBookmark, op.ListOffsets:
			if want.Found != got.Found {
				return fmt.Sprintf("want %s, got %s", DescribeReply(r, want), DescribeReply(r, got))
			}
			position = want.Found
		case op.Register:
			if want.Session != got.Session {
				return fmt.Sprintf("session: want %d, got %d", want.Session, got.Session)
			}
		}
	case r.Kind == op.DeleteRecords && want.Position.Offset != got.Position.Offset:
		return fmt.Sprintf("low: want %d, got %d", want.Position.Offset, got.Position.Offset)
	}
	if position && want.Position != got.Position {
		return fmt.Sprintf("position: want %s, got %s", want.Position, got.Position)
	}
	switch {
	case want.Timestamp != got.Timestamp && want.Code == op.OK && (r.Kind == op.Append || r.Kind == op.ListOffsets && want.Found):
		return fmt.Sprintf("timestamp: want %d, got %d", want.Timestamp, got.Timestamp)
	case r.Kind == op.Poll && (want.Code == op.OK || want.Code == op.Gone):
		return differRecords(want, got)
	}
	return ""
}

func differRecords(want, got *op.Reply) string {
	if want.Count != got.Count {
		return fmt.Sprintf("count: want %d, got %d", want.Count, got.Count)
	}
	if len(want.Records) != len(got.Records) {
		return fmt.Sprintf("records: want %d, got %d", len(want.Records), len(got.Records))
	}
	for i := range want.Records {
		if want.Records[i] != got.Records[i] {
			p := want.Position
			p.Offset += op.Offset(i)
			return fmt.Sprintf("record %s: want %s at %d, got %s at %d", p,
				want.Records[i].Payload, want.Records[i].Timestamp, got.Records[i].Payload, got.Records[i].Timestamp)
		}
	}
	return ""
}

// sameReply compares two replies that hold no records.
func sameReply(a, b *op.Reply) bool {
	return a.Code == b.Code && a.Position == b.Position && a.Found == b.Found && a.Timestamp == b.Timestamp &&
		a.Count == b.Count && a.Start == b.Start && a.End == b.End && a.Session == b.Session
}
