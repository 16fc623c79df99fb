package foreign

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/model/op"
)

func read(t *testing.T, format Format, text string) ([]Op, error) {
	t.Helper()
	return Read("f", format, bufio.NewReader(strings.NewReader(text)))
}

// TestDetect: the first bytes of a file tell its format.
func TestDetect(t *testing.T) {
	for _, x := range []struct {
		text string
		want Format
	}{
		{`{"process":1,"type":"invoke","f":"append","value":{"payloads":["a"]},"time":1}`, Purgelab},
		{"\n{\"process\":1}", Purgelab},
		{"", Purgelab},
		{`{:process 0, :type :ok}`, Jepsen},
		{"; made by hand\n{:process 0}", Jepsen},
		{`[{:process 0}]`, Jepsen},
		{`({:process 0})`, Jepsen},
		{`#jepsen.history.Op{:index 0}`, Jepsen},
		{`[{"process": 0}]`, Jepsen},
		{`{"index":0,"process":0}`, Jepsen},
		{`{"process":0,"type":"invoke","f":"poll","value":[["poll"]]}`, Jepsen},
		{`{"process":0,"type":"invoke","f":"crash","value":null}`, Jepsen},
		{"process,call,return,f\n", CSV},
		{"# what this is\nprocess,call,return,f\n", CSV},
	} {
		got, r := Detect(strings.NewReader(x.text))
		require.Equal(t, x.want, got, x.text)
		rest := make([]byte, len(x.text))
		_, _ = r.Read(rest)
		require.Equal(t, x.text, string(rest))
	}
}

// TestJepsen: what the micro-operations of one operation become.
func TestJepsen(t *testing.T) {
	ops, err := read(t, Jepsen, `
{:process 3, :type :invoke, :f :assign, :value [5]}
{:process 3, :type :ok, :f :assign, :value [5]}
{:process 3, :type :invoke, :f :txn, :value [[:send 5 1] [:poll] [:send 6 2]]}
{:process 4, :type :invoke, :f :send, :value [[:send 5 9]]}
{:process 5, :type :invoke, :f :send, :value [[:send 5 8]]}
{:process :nemesis, :type :info, :f :kill}
{:process 3, :type :ok, :f :txn, :value [[:send 5 [10 1]] [:poll {5 [[4 "x"] [6 :y]], 6 []}] [:send 6 [nil 2]]]}
{:process 3, :type :invoke, :f :poll, :value [[:poll]]}
{:process 3, :type :ok, :f :poll, :value [[:poll {5 [[10 1]]}]]}
{:process 5, :type :fail, :f :send, :value [[:send 5 8]]}`)
	require.NoError(t, err)
	require.Len(t, ops, 6)
	require.Equal(t, Op{
		Process: 3, F: Append, Partition: 5, Ask: Ask{Payloads: []op.Payload{"1"}}, Answer: Answer{Position: At(10)},
		Outcome: history.Answered, Call: 3, Return: 7, Line: 4, Column: 1,
	}, ops[0])
	two := uint32(2)
	require.Equal(t, Op{
		Process: 3, F: Poll, Partition: 5, Ask: Ask{Strategy: op.AtOffset, At: At(4), Max: &two},
		Answer:  Answer{Position: At(4), Records: []Record{{At: At(4), Payload: `"x"`}, {At: At(6), Payload: ":y"}}},
		Outcome: history.Answered, Call: 3, Return: 7, Line: 4, Column: 1,
	}, ops[1])
	require.Nil(t, ops[2].Answer.Position, "an offset that is not known")
	require.Equal(t, history.Unknown, ops[3].Outcome)
	require.EqualValues(t, history.Never, ops[3].Return)
	require.Equal(t, history.NoEffect, ops[4].Outcome)
	require.Equal(t, &Position{Ledger: noLedger, Offset: 6}, ops[5].Before)
}

// TestJepsenConsumer: only a consumer that kept its assignment, and whose operations
// all came out, is known to go on where it was.
func TestJepsenConsumer(t *testing.T) {
	assign := "{:process 3, :type :invoke, :f :assign, :value [5]}\n{:process 3, :type :ok, :f :assign, :value [5]}\n"
	poll := func(o int) string {
		return fmt.Sprintf("{:process 3, :type :invoke, :f :poll, :value [[:poll]]}\n{:process 3, :type :ok, :f :poll, :value [[:poll {5 [[%d %d]]}]]}\n", o, o)
	}
	for between, known := range map[string]bool{
		"": true,
		"{:process 3, :type :invoke, :f :debug-topic-partitions}\n{:process 3, :type :ok, :f :debug-topic-partitions}\n": true,
		assign: false,
		strings.ReplaceAll(assign, "assign", "subscribe"):                                                                          false,
		"{:process 3, :type :invoke, :f :poll, :value [[:poll]]}\n{:process 3, :type :info, :f :poll, :value [[:poll]]}\n":         false,
		"{:process 3, :type :invoke, :f :txn, :value [[:send 5 99]]}\n{:process 3, :type :fail, :f :txn, :value [[:send 5 99]]}\n": false,
	} {
		ops, err := read(t, Jepsen, assign+poll(0)+between+poll(1))
		require.NoError(t, err)
		require.Equal(t, known, ops[len(ops)-1].Before != nil, between)
	}
}

// TestCSV: ties of time overlap, and what is left out is nil.
func TestCSV(t *testing.T) {
	ops, err := read(t, CSV, `process,call,return,outcome,f,payloads,key,at,records,position
1,5,9,,append,a;b,,,,7:3
2,9,12,ok,poll,,c,,7:3=a;b,
3,9,,,store-bookmark,,c,7:4,,
`)
	require.NoError(t, err)
	require.Len(t, ops, 3)
	require.Equal(t, []op.Payload{"a", "b"}, ops[0].Ask.Payloads)
	require.Equal(t, "7:3", ops[0].Answer.Position.String())
	require.Less(t, ops[1].Call, ops[0].Return, "they are at the same time, so they overlap")
	require.Equal(t, []Record{{At: &Position{Ledger: 7, Offset: 3}, Payload: "a"}, {Payload: "b"}}, ops[1].Answer.Records)
	require.Nil(t, ops[1].Answer.Position)
	require.Equal(t, history.Unknown, ops[2].Outcome)
}

// TestErrors: every refusal names file, line and column, and what was wanted.
func TestErrors(t *testing.T) {
	csv := "process,call,return,f,payloads,max\n"
	line := `{"process":1,"type":"invoke","f":"append","value":{"payloads":["a"]},"time":1}` + "\n"
	send := "{:process 0, :type :invoke, :f :send, :value [[:send 1 7]]}\n"
	for _, x := range []struct {
		format     Format
		text, want string
	}{
		{CSV, "", "f:1:1: want a header"},
		{CSV, "process,call,return\n", "f:1:1: want the columns process, call, return and f, got no f"},
		{CSV, "process,call,return,f,f\n", `f:1:23: want every column once, got "f" twice`},
		{CSV, csv + "1,1,2,append,a\n", "f:2:1: wrong number of fields"},
		{CSV, csv + "1,1,2,apend,a,\n", `f:2:1: f: want one of [append`},
		{CSV, csv + "1,1,2,append,,\n", "f:2:1: payloads: want it on a append, got none"},
		{CSV, csv + "1,3,2,append,a,\n", "f:2:5: return: want no less than the call, 3, got 2"},
		{CSV, csv + "1,-3,2,append,a,\n", "f:2:3: call: want a time from 0"},
		{CSV, csv + "x,3,4,append,a,\n", "f:2:1: process: want a whole number, got x"},
		{CSV, csv + "1,3,4,poll,,\"5\n", "f:2:16: extraneous or missing"},
		{Purgelab, line + line, "f:2:77: time: want more than that of the event before, 1, got 1"},
		{Purgelab, `{"process":1,"type":"ok","f":"append","time":1}`, "f:1:1: process 1: want an invoke before its ok of append"},
		{Purgelab, `{"process":1,"type":"ok","f":"append","time":1,"tyme":2}`, `f:1:48: want process, type, f, value, time or partition, got "tyme"`},
		{Purgelab, `[1]`, "f:1:2: want an object, got a number"},
		{Purgelab, line + `{"process":1,"type":"ok","f":"append","value":{"max":1},"time":2}`, `f:2:48: want one of [code`},
		{Purgelab, line + `{"process":1,"type":"okay","f":"append","time":2}`, `f:2:21: type: want one of`},
		{Purgelab, line + `{"process":1,"type":"ok","f":"append","value":{"code":"transient"},"time":2}`, `f:2:21: code: want an answer that can be judged`},
		{Purgelab, line[:40], "f:1:34: want the end of the string that begins here"},
		{Jepsen, send + send, "f:2:1: process 0: want the end of its send of line 1 before it invokes again"},
		{Jepsen, "{:process 0, :type :ok, :f :send, :value []}", "f:1:1: process 0: want an invoke before its ok of send"},
		{Jepsen, "{:process 0, :type :invoke, :f :cas, :value []}", `f:1:32: f: want one of [send poll txn]`},
		{Jepsen, send + "{:process 0, :type :ok, :f :send, :value [[:send 1]]}", "f:2:43: want [:send k v] or [:poll], got [:send 1]"},
		{Jepsen, send + "{:process 0, :type :ok, :f :send, :value [[:send :a [1 7]]]}", "f:2:50: key: want the number of a partition, got :a"},
		{Jepsen, send + "{:process 0, :type :ok, :f :send, :value [[:send 1 [1.5 7]]]}", "f:2:53: want a whole number, got 1.5"},
		{Jepsen, send + "{:process 0, :type :ok, :f :send, :value [[:poll {1 5}]]}", "f:2:53: want [[offset value] ...], got 5"},
		{Jepsen, send + "{:process 0, :type :ok, :f :send, :value []}", "f:2:42: value: want 1 micro-operations as invoked at line 1, got 0"},
	} {
		_, err := read(t, x.format, x.text)
		require.Error(t, err, x.text)
		require.Contains(t, err.Error(), x.want, x.text)
		var e *Error
		require.ErrorAs(t, err, &e)
	}
}

// FuzzRead: whatever the text and the format, what is wrong has a place in it.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	formats := map[string]Format{".csv": CSV, ".edn": Jepsen, ".json": Jepsen, ".jsonl": Purgelab}
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(string(formats[filepath.Ext(name)]), text)
	}
	f.Fuzz(func(t *testing.T, format string, text []byte) {
		ops, err := Read("f", Format(format), bufio.NewReader(strings.NewReader(string(text))))
		if err != nil {
			var e *Error
			if format == string(CSV) || format == string(Jepsen) || format == string(Purgelab) {
				require.ErrorAs(t, err, &e)
				require.LessOrEqual(t, e.Line, 2+strings.Count(string(text), "\n"))
				require.Positive(t, e.Column)
			}
			return
		}
		for _, o := range ops {
			require.Less(t, o.Call, o.Return)
		}
	})
}
