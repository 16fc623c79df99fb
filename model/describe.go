package model

import (
	"fmt"
	"strings"

	"purgelab/model/op"
)

// Describe prints an operation in one line: what was asked, and the answer,
// or "unknown".
func Describe(r *op.Request, a *op.Reply) string {
	s := DescribeRequest(r)
	if a == nil {
		return s + " → unknown"
	}
	return s + " → " + DescribeReply(r, a)
}

// DescribeRequest prints what was asked.
func DescribeRequest(r *op.Request) string {
	var b strings.Builder
	b.WriteString(r.Kind.String())
	at := r.At.String()
	if r.Bare {
		at = fmt.Sprint(r.At.Offset)
	}
	switch r.Kind {
	case op.Append:
		for _, p := range r.Payloads {
			b.WriteString(" " + string(p))
		}
	case op.Poll:
		switch r.Strategy {
		case op.Next:
			fmt.Fprintf(&b, " %s next", r.Key)
			if r.Reset != op.Earliest {
				fmt.Fprintf(&b, " reset %s", r.Reset)
			}
		case op.AtOffset:
			b.WriteString(" " + at)
		case op.AtTimestamp:
			fmt.Fprintf(&b, " from timestamp %d", r.Timestamp)
		default:
			b.WriteString(" " + r.Strategy.String())
		}
		fmt.Fprintf(&b, " max %d", r.Max)
		if r.AutoCommit {
			fmt.Fprintf(&b, " auto-commit %s", r.Key)
		}
	case op.StoreBookmark:
		fmt.Fprintf(&b, " %s %s", r.Key, at)
	case op.DeleteBookmark, op.GetBookmark:
		fmt.Fprintf(&b, " %s", r.Key)
	case op.ListOffsets:
		b.WriteString(" " + r.Which.String())
		if r.Which == op.OffsetForTimestamp {
			fmt.Fprintf(&b, " %d", r.Timestamp)
		}
	case op.DeleteRecords:
		b.WriteString(" " + at)
	case op.Purge:
		if r.Intent != 0 {
			fmt.Fprintf(&b, " of intent %d", r.Intent)
		}
	}
	if r.Incarnation != 0 {
		fmt.Fprintf(&b, " in i%d", r.Incarnation)
	}
	if r.MayLose != 0 {
		b.WriteString(" that may lose " + strings.Join(r.MayLose.Names(), ", "))
	}
	if r.Expected != nil {
		fmt.Fprintf(&b, " if at %s", r.Expected)
	}
	if r.Session != 0 && r.Kind != op.Register {
		fmt.Fprintf(&b, " (session %d, %d)", r.Session, r.Sequence)
	}
	return b.String()
}

// DescribeReply prints an answer.
func DescribeReply(r *op.Request, a *op.Reply) string {
	position := a.Position.String()
	if a.Position.Incarnation == 0 {
		position = fmt.Sprint(a.Position.Offset)
	}
	switch {
	case hasBounds(a.Code):
		return fmt.Sprintf("%s, i%d:g%d [%d, %d)", a.Code, a.Position.Incarnation, a.Position.Generation, a.Start, a.End)
	case a.Code == op.Gone:
		return fmt.Sprintf("gone, %d records at %s", a.Count, position)
	case a.Code != op.OK:
		return a.Code.String()
	}
	switch r.Kind {
	case op.NewIncarnation:
		return fmt.Sprintf("i%d:g%d [%d, %d), agreed %s", a.Position.Incarnation, a.Position.Generation, a.Start, a.End, a.Agreed)
	case op.Register:
		return fmt.Sprintf("session %d", a.Session)
	case op.Append:
		return fmt.Sprintf("%s at %d", position, a.Timestamp)
	case op.Poll:
		if len(a.Records) == 0 {
			return "nothing at " + position
		}
		s := position
		for i, m := range a.Records {
			if i == 8 {
				return s + fmt.Sprintf(" … %d in all", len(a.Records))
			}
			s += " " + string(m.Payload)
		}
		return s
	case op.GetBookmark, op.ListOffsets:
		if !a.Found {
			return "none"
		}
		return position
	case op.DeleteRecords, op.Purge:
		return position
	}
	return "ok"
}
