package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// TestReplayOfNewIncarnations: an order may go back, before a new incarnation, to what
// that may have kept, and may go on from there with what may be in another log; and with
// nothing else.
func TestReplayOfNewIncarnations(t *testing.T) {
	at := func(i op.Incarnation, o op.Offset) op.Position { return op.Position{Incarnation: i, Offset: o} }
	now := int64(0)
	operation := func(in op.Incarnation, r op.Request, a *op.Reply) Operation {
		now += 2
		if r.Kind != op.NewIncarnation {
			r.Incarnation = in
		}
		return Operation{Request: &r, Reply: a, Call: now, Return: now + 1, Line: int(now)}
	}
	appended := func(in op.Incarnation, o op.Offset, m op.Payload) Operation {
		return operation(in, op.Request{Kind: op.Append, Payloads: []op.Payload{m}}, &op.Reply{Position: at(in, o)})
	}
	lost := func(in op.Incarnation, m op.Payload) Operation {
		return operation(in, op.Request{Kind: op.Append, Payloads: []op.Payload{m}}, nil)
	}
	began := func(end, agreed op.Offset, l op.Losses) Operation {
		return operation(0, op.Request{Kind: op.NewIncarnation, MayLose: l}, &op.Reply{Position: at(2, -1), End: end, Agreed: at(1, agreed)})
	}
	purged := func(g op.Generation) Operation {
		return operation(1, op.Request{Kind: op.Purge, Intent: g}, &op.Reply{Position: op.Position{Incarnation: 1, Generation: g}})
	}
	again := func(o Operation) Operation { o.Again = true; return o }
	across := func(o Operation, ret int64) Operation { o.Return = ret; o.Reply.Position.Incarnation = 2; return o }
	cut := func(i int32, keep int64) Placed { return Placed{Index: i, As: Cut, Open: keep} }
	copied := func(i int32) Placed { return Placed{Index: i, As: Again} }
	type places = []Placed
	const m, all = op.LosesMessages, op.LosesMessages | op.LosesBookmarks
	for name, c := range map[string]struct {
		ops   []Operation
		order []Placed
		want  string
	}{
		"all is kept":    {[]Operation{appended(1, 0, "a"), began(1, 1, 0), appended(2, 1, "c")}, places{{}, {Index: 1}, {Index: 2}}, ""},
		"one is lost":    {[]Operation{appended(1, 0, "a"), appended(1, 1, "b"), began(1, 1, m), appended(2, 1, "c")}, places{{}, {Index: 1}, cut(2, 1), {Index: 2}, {Index: 3}}, ""},
		"without a cut":  {[]Operation{appended(1, 0, "a"), appended(1, 1, "b"), began(1, 1, m)}, places{{}, {Index: 1}, {Index: 2}}, "end: want 2, got 1"},
		"too much":       {[]Operation{appended(1, 0, "a"), appended(1, 1, "b"), began(1, 0, m)}, places{{}, {Index: 1}, cut(2, 0), {Index: 2}}, "end: want 0, got 1"},
		"persisted ones": {[]Operation{appended(1, 0, "a"), appended(1, 1, "b"), began(1, 1, op.LosesBookmarks)}, places{{}, {Index: 1}, cut(2, 1), {Index: 2}}, "a cut keeps 2 to 2 places here, not 1"},
		"of another":     {[]Operation{appended(1, 0, "a"), began(1, 1, m)}, places{{}, cut(0, 1)}, "it does not begin the incarnation that follows 1"},
		"twice":          {[]Operation{appended(1, 0, "a"), began(1, 1, m)}, places{{}, cut(1, 1), cut(1, 1)}, "a cut follows a cut"},
		"of an earlier incarnation": {[]Operation{appended(1, 0, "a"), began(1, 1, m), operation(0, op.Request{Kind: op.NewIncarnation, MayLose: m}, &op.Reply{Position: at(3, -1), Agreed: at(2, 0)})},
			places{{}, {Index: 1}, cut(2, 0), {Index: 2}}, "a cut keeps 2 to 2 places here, not 0"},
		"an unknown one follows":      {[]Operation{appended(1, 0, "a"), lost(1, "x"), appended(1, 1, "b"), began(2, 1, m)}, places{{}, {Index: 2}, cut(3, 1), {Index: 1}, {Index: 3}}, ""},
		"though another was agreed":   {[]Operation{appended(1, 0, "a"), lost(1, "x"), appended(1, 1, "b"), began(2, 2, m)}, places{{}, {Index: 2}, cut(3, 1), {Index: 1}, {Index: 3}}, "another message is at offset 1"},
		"and that was agreed":         {[]Operation{appended(1, 0, "a"), lost(1, "x"), began(2, 2, m)}, places{{}, cut(2, 1), {Index: 1}, {Index: 2}}, ""},
		"an answered one follows":     {[]Operation{appended(1, 0, "a"), appended(1, 1, "b"), began(1, 0, m)}, places{{}, cut(2, 1), {Index: 1}, {Index: 2}}, "it has an answer, and follows a cut"},
		"a single copy again":         {[]Operation{appended(1, 0, "a"), appended(1, 1, "b"), began(1, 0, m)}, places{{}, {Index: 1}, cut(2, 0), copied(1), {Index: 2}}, "a single copy was sent"},
		"one of several copies again": {[]Operation{appended(1, 0, "a"), again(appended(1, 1, "b")), began(1, 0, m)}, places{{}, {Index: 1}, cut(2, 0), copied(1), {Index: 2}}, ""},
		"one that is kept again":      {[]Operation{again(appended(1, 0, "a")), began(2, 1, m)}, places{{}, copied(0), {Index: 1}}, "it does not take effect again"},
		"without a new incarnation":   {[]Operation{again(appended(1, 0, "a"))}, places{{}, copied(0)}, "nothing takes effect twice"},
		"the intent of a lost purge": {[]Operation{appended(1, 0, "a"), purged(1), began(1, 1, all), operation(2, op.Request{Kind: op.Poll, Max: 9, Strategy: op.First}, &op.Reply{Position: op.Position{Incarnation: 2, Generation: 1}})},
			places{{}, {Index: 1}, cut(2, 1), {Index: 2}, copied(1), {Index: 3}}, ""},
		"the intent of one that is kept": {[]Operation{appended(1, 0, "a"), purged(1)}, places{{}, {Index: 1}, copied(1)}, "nothing takes effect twice"},
		"an intent before its answer": {[]Operation{across(purged(1), 1<<20), operation(1, op.Request{Kind: op.Poll, Max: 9, Strategy: op.First}, &op.Reply{Position: op.Position{Incarnation: 1, Generation: 1}}),
			operation(0, op.Request{Kind: op.NewIncarnation}, &op.Reply{Position: op.Position{Incarnation: 2, Generation: 1, Offset: -1}, Agreed: op.Position{Incarnation: 1, Generation: 1}})},
			places{copied(0), {Index: 1}, {Index: 2}, {}}, ""},
	} {
		err := Replay(Semantics{}, c.ops, c.order)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.want, name)
	}
}
