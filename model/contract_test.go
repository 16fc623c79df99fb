package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// TestContract runs the scripts in testdata: one request, the answer, and the
// state if it changed. They are docs/contract.md by example.
func TestContract(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var sem Semantics
		s := Init()
		now := op.Timestamp(0)
		var log []*State // as of each mutation of this incarnation
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				sem, s, now, log = Semantics{}, Init(), 0, nil
				if d.HasArg("continue") {
					sem.Numbering = Continue
				}
				if d.HasArg("sessions") {
					d.ScanArgs(t, "sessions", &sem.Sessions)
				}
				return s.String()
			}
			now += 10
			if d.HasArg("keeps") {
				var n int
				d.ScanArgs(t, "keeps", &n)
				s, log = log[n-1], nil
			}
			r, c := parseRequest(t, d), Choice{Timestamp: now, Gone: d.HasArg("gone")}
			if d.HasArg("t") && r.Kind == op.Append {
				c.Timestamp = r.Timestamp
			}
			if d.HasArg("agreed") {
				var p string
				d.ScanArgs(t, "agreed", &p)
				var err error
				c.Agreed, err = op.ParsePosition(p)
				require.NoError(t, err)
			}
			before, hash := s.String(), s.Hash()
			next, reply := sem.Step(s, r, c)
			require.Equal(t, before, s.String(), "a state never changes")
			require.Equal(t, hash, s.Hash())
			out := DescribeReply(r, &reply)
			if next.String() != before {
				out += "\n" + next.String()
			}
			if len(next.sessions) != len(s.sessions) {
				out += fmt.Sprintf(" (%d sessions)", len(next.sessions))
			}
			if next != s && r.Mutates() && r.Kind != op.NewIncarnation {
				log = append(log, next)
			}
			s = next
			return out
		})
	})
}

func parseRequest(t *testing.T, d *datadriven.TestData) *op.Request {
	r := &op.Request{}
	for _, a := range d.CmdArgs {
		value := strings.Join(a.Vals, ",")
		var err error
		switch a.Key {
		case "p":
			for _, v := range a.Vals {
				r.Payloads = append(r.Payloads, op.Payload(v))
			}
		case "key":
			r.Key.Kind = map[byte]op.ConsumerKind{'c': op.Consumer, 'g': op.Group}[value[0]]
			_, err = fmt.Sscan(value[1:], &r.Key.ID)
		case "at":
			r.At, err = op.ParsePosition(value)
		case "bare":
			r.Bare = true
			_, err = fmt.Sscan(value, &r.At.Offset)
		case "max":
			_, err = fmt.Sscan(value, &r.Max)
		case "t":
			_, err = fmt.Sscan(value, &r.Timestamp)
		case "reset":
			r.Reset, err = op.ParseReset(value)
		case "auto":
			r.AutoCommit = true
		case "intent":
			_, err = fmt.Sscan(value, &r.Intent)
		case "if":
			r.Expected = new(op.Position)
			*r.Expected, err = op.ParsePosition(value)
		case "s":
			_, err = fmt.Sscan(a.Vals[0], &r.Session)
			if len(a.Vals) > 1 {
				_, err = fmt.Sscan(a.Vals[1], &r.Sequence)
			}
		case "in":
			_, err = fmt.Sscan(value, &r.Incarnation)
		case "gone", "keeps", "agreed":
		default:
			if d.Cmd == "list-offsets" {
				r.Which, err = op.ParseWhich(a.Key)
			} else {
				r.Strategy, err = op.ParseStrategy(a.Key)
			}
		}
		require.NoError(t, err, d.Pos)
	}
	var err error
	r.Kind, err = op.ParseKind(d.Cmd)
	require.NoError(t, err, d.Pos)
	return r
}
