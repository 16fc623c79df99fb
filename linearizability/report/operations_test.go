package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/model/op"
)

func TestOperationsOfAHistory(t *testing.T) {
	var r history.Recorder
	at := op.Position{Incarnation: 1, Generation: 3, Offset: 7}
	r.Invoke(0, 10, &op.Request{Kind: op.Append, Payloads: []op.Payload{"a", "b"}, Session: 4, Sequence: 1})
	r.Invoke(1, 12, &op.Request{Kind: op.Poll, Strategy: op.Next, Max: 5, AutoCommit: true})
	r.Answer(0, 20, &op.Reply{Position: at})
	r.Invoke(0, 21, &op.Request{Kind: op.StoreBookmark, At: at})
	r.Unknown(1, 30, 0, "timed out")
	r.Answer(0, 31, &op.Reply{})
	r.Invoke(0, 32, &op.Request{Kind: op.DeleteRecords, At: at})
	r.Answer(0, 33, &op.Reply{Code: op.NotReady})
	r.Invoke(0, 34, &op.Request{Kind: op.Purge, Intent: 4})
	r.Invoke(2, 50, &op.Request{Kind: op.Register})

	ops := Operations(r.Events())
	require.Len(t, ops, 6)
	require.Equal(t, Operation{
		Process: 0, Name: "append", Start: 10, End: 20, Outcome: "ok", Generation: 3,
		Detail: "2 payloads from \"a\", session 4, request 1\n→ ok i1:g3:7",
	}, ops[0])
	require.Equal(t, Operation{
		Process: 1, Name: "poll", Start: 12, End: 30, Outcome: "info", Generation: -1,
		Detail: "next, at most 5, as consumer-0, reset earliest, auto-commit\ntimed out",
	}, ops[1])
	require.Equal(t, 3, ops[2].Generation, "an answer without a position has the client's colour")
	require.Equal(t, "fail", ops[3].Outcome)
	require.Equal(t, -1, ops[3].Generation)
	require.Equal(t, "open", ops[4].Outcome)
	require.Equal(t, int64(50), ops[4].End, "no end: to the end of the history")
}
