package contract

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

// TestWhatNobodyNamesIsAlike: the order of messages that a purge removed and nobody got
// makes no difference, so that 16 clients are judged; and how many there were does.
func TestWhatNobodyNamesIsAlike(t *testing.T) {
	c, err := Find("rabbitmq")
	require.NoError(t, err)
	ops := live(&queueWorld{held: map[string][]op.Payload{}}, rand.New(rand.NewPCG(1, 1)), 16, 150, 0)
	judged := func(ops []foreign.Op) verdict.Result {
		rep, err := c.Judge(context.Background(), &History{Foreign: ops}, Options{})
		require.NoError(t, err)
		return rep.Total
	}
	require.Equal(t, verdict.Pass, judged(ops).Verdict)

	message := func(at int64, p op.Payload) foreign.Op {
		return foreign.Op{Process: int(at), F: foreign.Append, Ask: foreign.Ask{Payloads: []op.Payload{p}}, Outcome: history.Answered, Call: at, Return: 100 + at, Line: int(at)}
	}
	var many []foreign.Op
	for i := range int64(12) {
		many = append(many, message(i+1, op.Payload(rune('a'+i))))
	}
	purge := func(count int) foreign.Op {
		return foreign.Op{F: foreign.Purge, Outcome: history.Answered, Call: 200, Return: 201, Line: 90, Answer: foreign.Answer{Count: number(count)}}
	}
	require.Equal(t, verdict.Pass, judged(append(many, purge(12))).Verdict)
	require.Equal(t, verdict.Fail, judged(append(many, purge(11))).Verdict)
	many[3].Ask.Payloads[0] = anyone // a message with that very name
	require.Equal(t, verdict.Pass, judged(append(many, purge(12))).Verdict)
}
