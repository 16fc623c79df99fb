package minimize

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/foreign/contract"
	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

// TestWrongSamples: every wrong sample of another system, in whatever format, becomes a
// history as JSON lines that is wrong for the same reason, from which nothing can go, and
// which is the same however many candidates are tried at a time.
func TestWrongSamples(t *testing.T) {
	text, err := os.ReadFile("../../docs/foreign.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\w+)/([\w.-]+) \| ([\w-]*) ?\| fail \|`).FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(rows), 20)
	less := 0
	for _, row := range rows {
		name := filepath.Join("../foreign/testdata", row[1], row[2])
		c, err := contract.Find(row[1])
		require.NoError(t, err)
		c, err = c.Weaken(strings.Fields(row[3]))
		require.NoError(t, err)
		h, write, err := Record(&c, name, foreign.Auto)
		require.NoError(t, err)
		r := smaller(t, h, HistoryOptions{Jobs: 3})
		require.NotEmpty(t, r.Ops, name)
		if len(r.Ops) < r.Before {
			less++
		}

		again := smaller(t, h, HistoryOptions{Jobs: 1})
		require.Equal(t, r, again, name)

		small := filepath.Join(t.TempDir(), "small.jsonl")
		var b bytes.Buffer
		require.NoError(t, write(&b, r))
		require.NoError(t, os.WriteFile(small, b.Bytes(), 0o644))
		read, _, err := Record(&c, small, foreign.Purgelab)
		require.NoError(t, err, "%s\n%s", name, b.String())
		require.Len(t, read.Calls, len(r.Ops), name)
		all, err := read.Judge(context.Background(), everything(read), 1<<62)
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, verdict.Fail, all[0].Verdict, "%s\n%s", name, b.String())
		if all[0].Class == "" || r.Result.Class != "" { // else the judge has a name for it, which reads it as ours
			require.Equal(t, like(r.Result), like(all[0]), "%s\n%s", name, b.String())
		}
		for k := range r.Ops {
			part := slices.Delete(slices.Clone(r.Ops), k, k+1)
			all, err := h.Judge(context.Background(), part, r.Until)
			require.NoError(t, err)
			if r.Result.Class != "" && len(all) > 0 && all[0].Verdict == verdict.Fail {
				require.NotEqual(t, r.Result.Quoted, all[0].Quoted, "%s: operation %d of %d can go", name, k, len(r.Ops))
			}
		}
	}
	require.Greater(t, less, 8, "most are small as they are")
}

func everything(r *Recorded) (out []int) {
	for i := range r.Calls {
		out = append(out, i)
	}
	return out
}

var lineNumbers = regexp.MustCompile(`(line|process) [0-9]+`)

// like is what a verdict says but for the lines.
func like(r check.Result) [2]string {
	return [2]string{string(r.Class), lineNumbers.ReplaceAllString(wanted(r.Reason), "")}
}

// TestOnlyTheLastAnswerIsWrong: where there is no reason but that of the search, what is
// left is right but for the last answer, and what it reads was appended.
func TestOnlyTheLastAnswerIsWrong(t *testing.T) {
	h := &Recorded{Name: "made", Calls: []Call{
		{Line: 1, Call: 1, Return: 2, Appends: []op.Payload{"x"}},
		{Line: 3, Call: 3, Return: 4, Appends: []op.Payload{"y"}},
		{Line: 5, Call: 5, Return: 6, Appends: []op.Payload{"z"}},
		{Line: 7, Call: 7, Return: 8, Reads: []op.Payload{"x"}},
	}}
	h.Judge = func(_ context.Context, ops []int, until int64) ([]check.Result, error) {
		var r check.Result
		switch {
		case until >= 8 && slices.Contains(ops, 3):
			r.Verdict, r.Reason = verdict.Fail, "line 7; want y (in the state 0)"
		case slices.Contains(ops, 1):
			r.Verdict = verdict.Pass
		default:
			r.Verdict, r.Reason = verdict.Fail, "a gap"
		}
		return []check.Result{r}, nil
	}
	r := smaller(t, h, HistoryOptions{})
	require.Equal(t, []int{0, 1, 3}, r.Ops)
	require.EqualValues(t, 8, r.Until)
}

// TestCut: what is not over at an instant is of unknown outcome.
func TestCut(t *testing.T) {
	ops := []foreign.Op{
		{Call: 1, Return: 2, Outcome: history.Answered, Answer: foreign.Answer{Position: foreign.At(0)}},
		{Call: 3, Return: 6, Outcome: history.Answered, Answer: foreign.Answer{Position: foreign.At(1)}},
		{Call: 4, Return: 5, Outcome: history.Answered},
		{Call: 7, Return: 8, Outcome: history.Answered},
	}
	got := cut(ops, []int{0, 1, 3}, 5)
	require.Equal(t, []foreign.Op{ops[0], {Call: 3, Return: history.Never}}, got)
	require.Len(t, cut(ops, []int{0, 1, 3}, 9), 3)
}
