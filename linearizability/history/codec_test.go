package history

import (
	"bytes"
	"strings"
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// fuzzer makes requests and replies with only those fields set that the
// operation uses, as the format writes no others.
func fuzzer(seed int64) *fuzz.Fuzzer {
	return fuzz.NewWithSeed(seed).NilChance(0.5).NumElements(1, 4).Funcs(
		func(k *op.Kind, c fuzz.Continue) { *k = op.Register + op.Kind(c.Intn(int(op.NewIncarnation))) },
		func(l *op.Losses, c fuzz.Continue) { *l = op.Losses(c.Intn(8)) },
		func(k *op.ConsumerKind, c fuzz.Continue) { *k = op.ConsumerKind(c.Intn(2)) },
		func(s *op.Strategy, c fuzz.Continue) { *s = op.Strategy(c.Intn(5)) },
		func(r *op.Reset, c fuzz.Continue) { *r = op.Reset(c.Intn(3)) },
		func(w *op.Which, c fuzz.Continue) { *w = op.Which(c.Intn(3)) },
		func(x *op.Code, c fuzz.Continue) { *x = op.Code(c.Intn(int(op.BadRequest) + 1)) },
		func(r *op.Request, c fuzz.Continue) {
			c.FuzzNoCustom(r)
			if r.Kind != op.Append {
				r.Payloads = nil
			}
			if r.Kind != op.Poll {
				r.Strategy, r.Reset, r.Max = 0, 0, 0
			}
			if r.Kind != op.ListOffsets {
				r.Which = 0
			}
			if r.Kind != op.NewIncarnation {
				r.MayLose = 0
			}
			if !usesAt(r) {
				r.At, r.Bare = op.Position{}, false
			}
			if r.Bare {
				r.At = op.Position{Offset: r.At.Offset}
			}
			if !usesKey(r) {
				r.Key = op.Key{}
			}
		},
		func(e *Event, c fuzz.Continue) {
			c.Fuzz(&e.Kind)
			c.Fuzz(&e.Partition)
			e.Process, e.Type = c.Intn(9), Type(c.Intn(4))
			switch e.Type {
			case Invoke:
				e.Request = fuzzKind(e.Kind, c)
				e.Request.Partition = e.Partition
			case Info:
				c.Fuzz(&e.Intent)
				c.Fuzz(&e.Again)
				c.Fuzz(&e.Note)
			default:
				e.Reply = &op.Reply{Code: op.NotReady}
				c.Fuzz(&e.Again)
				c.Fuzz(e.Reply)
				e.Reply.Count = uint32(len(e.Reply.Records))
				if e.Reply.Code == op.Gone {
					e.Reply.Records, e.Reply.Count = nil, 7
				}
				if e.Kind == op.NewIncarnation {
					e.Reply.Position.Incarnation |= 1
				} else if e.Reply.Agreed = (op.Position{}); e.Reply.Position.Incarnation == 0 {
					e.Reply.Position = op.Position{Offset: 3}
				}
				if e.Kind != op.GetBookmark && e.Kind != op.ListOffsets {
					e.Reply.Found = false
				}
				e.Accepted = e.Type == OK && e.Kind == op.Purge && e.Reply.Code == op.OK && c.RandBool()
			}
		},
	)
}

// fuzzKind draws a request until it has the kind asked for.
func fuzzKind(k op.Kind, c fuzz.Continue) *op.Request {
	for {
		var r op.Request
		c.Fuzz(&r)
		if r.Kind == k {
			return &r
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for seed := int64(1); seed <= 2000; seed++ {
		var e Event
		fuzzer(seed).Fuzz(&e)
		e.Time = seed
		var b bytes.Buffer
		require.NoError(t, Write(&b, []Event{e}))
		got, err := Parse("fuzz", bytes.NewReader(b.Bytes()))
		require.NoError(t, err, "seed %d: %s", seed, b.String())
		e.Line = 1
		require.Equal(t, []Event{e}, got, "seed %d: %s", seed, b.String())
		var again bytes.Buffer
		require.NoError(t, Write(&again, got))
		require.Equal(t, b.String(), again.String())
	}
}

// TestParseNeverPanics feeds damaged lines.
func TestParseNeverPanics(t *testing.T) {
	for seed := int64(1); seed <= 500; seed++ {
		f := fuzzer(seed)
		var e Event
		f.Fuzz(&e)
		var b bytes.Buffer
		require.NoError(t, Write(&b, []Event{e}))
		var at, to uint16
		f.Fuzz(&at)
		f.Fuzz(&to)
		line := b.Bytes()
		line[int(at)%len(line)] = byte(to)
		if _, err := Parse("fuzz", bytes.NewReader(line)); err != nil {
			var p *ParseError
			require.ErrorAs(t, err, &p)
		}
	}
}

const invoke = `{"process":1,"type":"invoke","f":"append","value":{"payloads":["a"]},"time":10,"partition":0}` + "\n"

// TestErrorsNameTheLine: every refusal names file, line, field, and the two
// values that disagree.
func TestErrorsNameTheLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"not JSON", "hello", "h.jsonl:1:1: invalid character 'h' looking for beginning of value"},
		{"two values", `{"process":1} {}`, "h.jsonl:1:15: want one JSON value, got more after it"},
		{"unknown field", `{"process":1,"tyype":"ok"}`, `h.jsonl:1:14: unknown field "tyype"`},
		{"wrong type", `{"process":"one"}`, "h.jsonl:1:16: process: want a whole number, got string"},
		{"negative", `{"process":1,"partition":-1}`, "h.jsonl:1:27: partition: want a whole number from 0 to 4294967295, got number -1"},
		{"wrong type in a value", strings.Replace(invoke, `["a"]`, `"a"`, 1), "h.jsonl:1:65: payloads: want an array, got string"},
		{"twice", invoke + `{"process":1,"process":2}`, `h.jsonl:2:14: field "process" is given twice`},
		{"no process", `{"type":"ok","f":"append","time":1}`, "h.jsonl:1:1: process: want a number, got none"},
		{"no time", `{"process":1,"type":"ok","f":"append"}`, "h.jsonl:1:1: time: want a number, got none"},
		{"type", `{"process":1,"type":"okay","f":"append","time":1}`, "h.jsonl:1:14: type: want one of invoke, ok, fail, info, got \"okay\""},
		{"f", `{"process":1,"type":"ok","f":"apend","time":1}`, `h.jsonl:1:26: f: operation "apend": want one of [register append poll store-bookmark delete-bookmark get-bookmark list-offsets delete-records purge new-incarnation]`},
		{"time stands still", invoke + "\n" + `{"process":1,"type":"ok","f":"append","time":10}`, "h.jsonl:3:39: time: want more than that of the event before, 10, got 10"},
		{"position", invoke + `{"process":1,"type":"ok","f":"append","value":{"position":"i1:3"},"time":11}`, `h.jsonl:2:66: position "i1:3": want i<incarnation>:g<generation>:<offset>`},
		{"fraction", invoke + `{"process":1,"type":"ok","f":"append","value":{"position":1.5},"time":11}`, `h.jsonl:2:63: position 1.5: want "i<incarnation>:g<generation>:<offset>" or an offset`},
		{"code", invoke + `{"process":1,"type":"ok","f":"append","value":{"code":"oops"},"time":11}`, `h.jsonl:2:48: code "oops": want one of [ok offset-out-of-range`},
		{"no max", `{"process":1,"type":"invoke","f":"poll","value":{"strategy":"first"},"time":1}`, "h.jsonl:1:1: max: want how many records the poll may return, got none"},
		{"no key", `{"process":1,"type":"invoke","f":"get-bookmark","time":1}`, "h.jsonl:1:1: key: want the owner of the bookmark, got none"},
		{"key", `{"process":1,"type":"invoke","f":"get-bookmark","value":{"key":"c1"},"time":1}`, `h.jsonl:1:69: key "c1": want consumer-<number> or group-<number>`},
		{"no at", `{"process":1,"type":"invoke","f":"delete-records","time":1}`, "h.jsonl:1:1: at: want the position of the delete-records, got none"},
		{"no which", `{"process":1,"type":"invoke","f":"list-offsets","time":1}`, "h.jsonl:1:1: which: want earliest, latest or timestamp, got none"},
		{"count", `{"process":1,"type":"invoke","f":"poll","value":{"strategy":"first","max":3},"time":1}` + "\n" + `{"process":1,"type":"ok","f":"poll","value":{"records":["a"],"count":2},"time":2}`, "h.jsonl:2:62: count: want the number of records, 1, got 2"},
		{"busy", invoke + strings.Replace(invoke, "10", "11", 1), "h.jsonl:2:1: process 1: want the end of its append of line 1 before it invokes again"},
		{"no invoke", `{"process":1,"type":"ok","f":"append","time":1}`, "h.jsonl:1:1: process 1: want an invoke before its ok of append"},
		{"other end", invoke + `{"process":1,"type":"ok","f":"poll","time":11}`, "h.jsonl:2:1: f: want append as invoked at line 1, got poll"},
		{"other partition", invoke + `{"process":1,"type":"ok","f":"append","time":11,"partition":2}`, "h.jsonl:2:1: partition: want 0 as invoked at line 1, got 2"},
		{"not judged", invoke + `{"process":1,"type":"ok","f":"append","value":{"code":"transient"},"time":11}`, "h.jsonl:2:1: code: want an answer that can be judged on an ok, got transient, which belongs to a fail"},
		{"accepted append", invoke + `{"process":1,"type":"ok","f":"append","value":{"accepted":true},"time":11}`, "h.jsonl:2:48: accepted: want it on the ok of a purge without a code, got it on the ok of a append"},
		{"loss", `{"process":-1,"type":"invoke","f":"new-incarnation","value":{"may_lose":["mail"]},"time":1}`, `h.jsonl:1:62: may_lose: loss "mail": want one of [messages bookmarks synced]`},
		{"loss of an append", `{"process":1,"type":"invoke","f":"append","value":{"may_lose":["messages"]},"time":1}`, "h.jsonl:1:52: may_lose: want it on a new-incarnation, got it on a append"},
		{"bare incarnation", `{"process":-1,"type":"ok","f":"new-incarnation","value":{"position":3},"time":1}`, "h.jsonl:1:58: position, agreed: want the era that began, and a position of the one before, got none"},
		{"info with an answer", invoke + `{"process":1,"type":"info","f":"append","value":{"timestamp":4},"time":11}`, "h.jsonl:2:41: value: want only intent, again and note on an info, which has no answer"},
	} {
		events, err := Parse("h.jsonl", strings.NewReader(c.text))
		if err == nil {
			_, err = Pair("h.jsonl", events)
		}
		require.Error(t, err, c.name)
		require.Contains(t, err.Error(), c.want, c.name)
	}
}

// TestOutcomes: what each end of an operation means.
func TestOutcomes(t *testing.T) {
	text := `
{"process":0,"type":"invoke","f":"append","value":{"payloads":["a","b"],"session":4,"sequence":1},"time":1}
{"process":0,"type":"ok","f":"append","value":{"position":"i1:g0:0","timestamp":5},"time":2}
{"process":0,"type":"invoke","f":"append","value":{"payloads":["c"]},"time":3}
{"process":0,"type":"fail","f":"append","value":{"code":"not-leader"},"time":4}
{"process":0,"type":"invoke","f":"append","value":{"payloads":["d"]},"time":5}
{"process":0,"type":"fail","f":"append","value":{"note":"connection refused"},"time":6}
{"process":0,"type":"invoke","f":"purge","time":7}
{"process":0,"type":"info","f":"purge","value":{"intent":3,"note":"time-out"},"time":8}
{"process":0,"type":"invoke","f":"delete-bookmark","value":{"key":"group-2"},"time":9}
{"process":0,"type":"fail","f":"delete-bookmark","value":{"code":"not-found"},"time":10}
{"process":0,"type":"invoke","f":"purge","time":11}
{"process":0,"type":"ok","f":"purge","value":{"position":"i1:g4:0","accepted":true,"intent":4},"time":12}
{"process":1,"type":"invoke","f":"poll","value":{"key":"group-2","max":2},"time":13}
`
	events, err := Parse("h", strings.NewReader(text))
	require.NoError(t, err)
	ops, err := Pair("h", events)
	require.NoError(t, err)
	require.Len(t, ops, 7)
	require.Equal(t, Op{
		Process: 0, Outcome: Answered, Call: 1, Return: 2, Line: 2,
		Request: &op.Request{Kind: op.Append, Payloads: []op.Payload{"a", "b"}, Session: 4, Sequence: 1},
		Reply:   &op.Reply{Position: op.Position{Incarnation: 1}, Timestamp: 5},
	}, ops[0])
	require.Equal(t, NoEffect, ops[1].Outcome)
	require.Equal(t, NoEffect, ops[2].Outcome)
	require.Equal(t, Unknown, ops[3].Outcome)
	require.Equal(t, op.Generation(3), ops[3].Request.Intent)
	require.EqualValues(t, Never, ops[3].Return)
	require.Equal(t, Answered, ops[4].Outcome, "an error of the contract is an answer")
	require.Equal(t, Accepted, ops[5].Outcome)
	require.Equal(t, op.Generation(4), ops[5].Request.Intent)
	require.Equal(t, &op.Reply{Position: op.Position{Incarnation: 1, Generation: 4}}, ops[5].Reply)
	require.Equal(t, Unknown, ops[6].Outcome, "no end at all")
	require.Equal(t, []op.Partition{0}, Partitions(ops))
}

func TestRecorderTimesAreUnique(t *testing.T) {
	var r Recorder
	req := &op.Request{Kind: op.GetBookmark}
	r.Invoke(0, 5, req)
	r.Invoke(1, 5, req)
	r.Answer(0, 5, &op.Reply{})
	r.Answer(1, 6, &op.Reply{Code: op.NotReady})
	r.Invoke(1, 7, req)
	r.Unknown(1, 7, 0, "gave up")
	var times []int64
	for _, e := range r.Events() {
		times = append(times, e.Time)
	}
	require.Equal(t, []int64{5000, 5001, 5002, 6000, 7000, 7001}, times)
	require.Equal(t, Fail, r.Events()[3].Type)
	require.Panics(t, func() { r.Answer(3, 8, &op.Reply{}) })
	r.Invoke(1, 8, req)
	require.Panics(t, func() { r.Invoke(1, 8, req) })
	ops, err := r.Ops()
	require.NoError(t, err)
	require.Len(t, ops, 4)
}
