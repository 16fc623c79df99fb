package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

func sent(line int, call int64, p op.Payload, at *foreign.Position, o history.Outcome) foreign.Op {
	return foreign.Op{F: foreign.Append, Line: line, Call: call, Return: call + 1, Outcome: o, Ask: foreign.Ask{Payloads: []op.Payload{p}}, Answer: foreign.Answer{Position: at}}
}

func got(line int, call int64, p op.Payload, at *foreign.Position) foreign.Op {
	return foreign.Op{F: foreign.Poll, Line: line, Call: call, Return: call + 1, Outcome: history.Answered, Answer: foreign.Answer{Records: []foreign.Record{{At: at, Payload: p}}}}
}

// TestLearn: what no order can explain is found without a search, and what one
// can is not.
func TestLearn(t *testing.T) {
	const ok, fail, info = history.Answered, history.NoEffect, history.Unknown
	at := foreign.At
	for _, x := range []struct {
		ops  []foreign.Op
		want string
	}{
		{[]foreign.Op{sent(1, 1, "a", at(0), ok), got(2, 3, "a", at(0))}, ""},
		{[]foreign.Op{sent(1, 1, "a", nil, info), got(2, 3, "a", at(0))}, ""},
		{[]foreign.Op{sent(1, 1, "a", nil, fail), sent(2, 3, "a", at(0), ok), got(3, 5, "a", at(0))}, ""},
		{[]foreign.Op{sent(1, 1, "a", at(0), ok), sent(2, 3, "a", at(1), ok)}, ""}, // sent twice: both may be there
		{[]foreign.Op{sent(1, 1, "a", at(0), ok), got(2, 3, "a", at(1))}, "line 2: a is at 1, but was at 0"},
		{[]foreign.Op{sent(1, 1, "a", at(0), ok), sent(2, 3, "b", at(0), ok)}, "line 2: position 0 holds b, but held a: it is used twice"},
		{[]foreign.Op{got(1, 1, "a", at(0))}, "line 1: a was read, but nobody appended it"},
		{[]foreign.Op{sent(1, 1, "a", nil, fail), got(2, 3, "a", at(0))}, "line 2: a was read, but its append of line 1 failed"},
		{[]foreign.Op{got(1, 1, "a", at(0)), sent(2, 3, "a", at(0), ok)}, "line 1: a was read before its append of line 2 began"},
	} {
		_, w := learn(x.ops, false)
		if x.want == "" {
			require.Nil(t, w)
			continue
		}
		require.NotNil(t, w, x.want)
		require.Equal(t, x.want, w.reason)
	}
	_, w := learn([]foreign.Op{sent(1, 1, "a", at(0), ok), sent(2, 3, "b", at(0), ok)}, true)
	require.Nil(t, w, "where numbering restarts, a number is used again")
}

// TestMissing: what is left out of a history is said not to be judged.
func TestMissing(t *testing.T) {
	for _, x := range []struct {
		name string
		want []string
	}{
		{"nats", []string{"positions", "complete polls", "count of a purge"}},
		{"continue", []string{"positions", "complete polls", "timestamps"}},
		{"rabbitmq", []string{"complete polls", "count of a purge"}},
	} {
		c, err := Find(x.name)
		require.NoError(t, err)
		ops := []foreign.Op{sent(1, 1, "a", nil, history.Answered), got(2, 3, "a", nil), {F: foreign.Purge, Line: 3, Call: 5, Return: 6, Outcome: history.Answered}}
		var names []string
		for _, n := range c.missing(ops) {
			names = append(names, n.Promise)
		}
		require.Equal(t, x.want, names, x.name)
	}
}

// TestPlacesMatter: states that differ in nothing but a position are two.
func TestPlacesMatter(t *testing.T) {
	with := func(at *foreign.Position) *streamState {
		return &streamState{log: messages{}.append(message{payload: "a", at: at}), next: 1}
	}
	require.True(t, with(foreign.At(3)).equal(with(foreign.At(3))))
	require.False(t, with(foreign.At(3)).equal(with(nil)))
	require.False(t, with(foreign.At(3)).equal(with(foreign.At(4))))
}
