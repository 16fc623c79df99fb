package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

func TestGeneratedHistoriesPass(t *testing.T) {
	for _, s := range []shape{
		{clients: 4, ops: 300, keys: 2},
		{clients: 4, ops: 300, unknown: 0.05, keys: 3},
		{clients: 4, ops: 300, unknown: 0.1, keys: 2, sessions: true},
		{clients: 3, ops: 200, unknown: 0.05, keys: 2, semantics: model.Semantics{Numbering: model.Continue}},
		{clients: 3, ops: 200, keys: 2, sessions: true, semantics: model.Semantics{Sessions: 2}},
		{clients: 4, ops: 300, unknown: 0.05, keys: 2, begins: 3, loses: op.LosesMessages | op.LosesBookmarks},
		{clients: 4, ops: 300, unknown: 0.05, keys: 2, begins: 3, loses: op.LosesMessages},
		{clients: 4, ops: 300, unknown: 0.1, keys: 2, begins: 3},
	} {
		for seed := uint64(1); seed <= seeds.Count(); seed++ {
			rec, _ := generate(seed, s)
			ops, err := rec.Ops()
			require.NoError(t, err)
			v, _, err := Check(context.Background(), ops, Options{Semantics: s.semantics})
			require.NoError(t, err)
			require.Equal(t, verdict.Pass, v.Verdict, fmt.Sprintf("seed %d of %+v: %s", seed, s, v))
		}
	}
}

// broken is a history that takes a while and is wrong at its end.
func broken(t *testing.T) []history.Op {
	rec, _, fired := generateWith(3, shape{clients: 4, ops: 300, unknown: 0.05, keys: 2, bug: lostAppend})
	require.True(t, fired)
	ops, err := rec.Ops()
	require.NoError(t, err)
	return ops
}

// TestLimitsAreUndecided: a search that did not end says nothing about the
// history.
func TestLimitsAreUndecided(t *testing.T) {
	list := Operations(broken(t), 0)
	v, err := search(context.Background(), 0, list, nil, Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Fail, v.Verdict)

	v, err = search(context.Background(), 0, list, errors.New("line 7: no place for it"), Options{MaxSteps: 50})
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, v.Verdict)
	require.Equal(t, "no verdict after 50 steps of the model; no order found by the judge, which gave up at line 7: no place for it", v.Reason)
	require.Less(t, v.Steps, int64(1000))

	v, err = search(context.Background(), 0, list, nil, Options{Timeout: time.Nanosecond})
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, v.Verdict)
	require.Equal(t, "context deadline exceeded", v.Reason)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v, err = search(ctx, 0, list, nil, Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, v.Verdict)
}

// TestSameHistorySameResult: reasons go into reports that are compared.
func TestSameHistorySameResult(t *testing.T) {
	ops := broken(t)
	first, all, err := Check(context.Background(), ops, Options{})
	require.NoError(t, err)
	for range 5 {
		again, same, err := Check(context.Background(), ops, Options{})
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Equal(t, all, same)
	}
}

type page struct{ bytes.Buffer }

func (p *page) Close() error { return nil }

func TestPageOfAFailure(t *testing.T) {
	ops := broken(t)
	var pages []op.Partition
	var got page
	_, all, err := Check(context.Background(), ops, Options{HTML: func(p op.Partition) (io.WriteCloser, error) {
		pages = append(pages, p)
		return &got, nil
	}})
	require.NoError(t, err)
	require.Equal(t, []op.Partition{0}, pages)
	require.True(t, strings.Contains(got.String(), "<!doctype html>"))
	require.True(t, strings.Contains(got.String(), fmt.Sprintf("line %d", all[0].Line)))
	var lines, shown []string
	for _, m := range regexp.MustCompile(`"line ([0-9]+)"`).FindAllStringSubmatch(got.String(), -1) {
		lines = append(lines, m[1])
	}
	for _, s := range all[0].Shown {
		shown = append(shown, fmt.Sprint(s.Line))
	}
	require.NotEmpty(t, shown)
	require.Subset(t, shown, lines, "the page is of the operations that are wrong together")
	require.Subset(t, lines, shown)

	_, _, err = Check(context.Background(), ops, Options{HTML: func(op.Partition) (io.WriteCloser, error) { return nil, errors.New("no space") }})
	require.EqualError(t, err, "check: page of partition 0: no space")
}

func parse(t *testing.T, text string) []history.Op {
	events, err := history.Parse("test", strings.NewReader(text))
	require.NoError(t, err)
	ops, err := history.Pair("test", events)
	require.NoError(t, err)
	return ops
}

// TestPartitionsAreApart: the same offsets, a fault in one of them.
func TestPartitionsAreApart(t *testing.T) {
	ops := parse(t, `
{"process":0,"type":"invoke","f":"append","value":{"payloads":["a"]},"time":1,"partition":1}
{"process":1,"type":"invoke","f":"append","value":{"payloads":["b"]},"time":2,"partition":0}
{"process":0,"type":"ok","f":"append","value":{"position":"i1:g0:0"},"time":3,"partition":1}
{"process":1,"type":"ok","f":"append","value":{"position":"i1:g0:0"},"time":4,"partition":0}
{"process":1,"type":"invoke","f":"append","value":{"payloads":["c"]},"time":5,"partition":1}
{"process":1,"type":"ok","f":"append","value":{"position":"i1:g0:0"},"time":6,"partition":1}
`)
	v, all, err := Check(context.Background(), ops, Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Fail, v.Verdict)
	require.Len(t, all, 2)
	require.Equal(t, verdict.Pass, all[0].Verdict)
	require.Equal(t, verdict.Fail, all[1].Verdict)
	require.Equal(t, 6, all[1].Line)
	require.Equal(t, "partition 1: position reused: offset 0 of generation 0 was given to two appends", v.Reason)
	require.Equal(t, []string{"line 2, process 0, 1 to 3: append a → i1:g0:0 at 0", "line 6, process 1, 5 to 6: append c → i1:g0:0 at 0"}, all[1].Quoted)

	v, all, err = Check(context.Background(), nil, Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, v.Verdict, "a history of nothing proves nothing")
	require.Empty(t, all)

	v, _, err = Check(context.Background(), parse(t, `
{"process":0,"type":"invoke","f":"append","value":{"payloads":["a"]},"time":1,"partition":0}
{"process":0,"type":"fail","f":"append","time":2,"partition":0}
`), Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, v.Verdict, "nor does one in which nothing happened")
}

// TestForeignHistories: what a system does not reveal is not judged, and the
// rest is.
func TestForeignHistories(t *testing.T) {
	const counting = `
{"process":0,"type":"invoke","f":"append","value":{"payloads":["a","b"]},"time":1}
{"process":0,"type":"ok","f":"append","value":{"position":0},"time":2}
{"process":1,"type":"invoke","f":"append","value":{"payloads":["lost"]},"time":3}
{"process":1,"type":"info","f":"append","time":4}
{"process":1,"type":"invoke","f":"purge","time":5}
{"process":1,"type":"ok","f":"purge","value":{"position":%d},"time":6}
{"process":1,"type":"invoke","f":"poll","value":{"strategy":"first","max":10},"time":9}
{"process":1,"type":"ok","f":"poll","value":{"position":3,"records":["c"]},"time":12}
{"process":0,"type":"invoke","f":"append","value":{"payloads":["c"]},"time":13}
{"process":0,"type":"ok","f":"append","value":{"position":3},"time":14}
`
	concurrent := strings.NewReplacer(`"time":13`, `"time":10`, `"time":14`, `"time":11`)
	sorted := func(text string) string {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		lines[7], lines[8], lines[9] = lines[8], lines[9], lines[7]
		return strings.Join(lines, "\n")
	}
	const resetting = `
{"process":0,"type":"invoke","f":"append","value":{"payloads":["a","b"]},"time":1}
{"process":0,"type":"ok","f":"append","value":{"position":0},"time":2}
{"process":0,"type":"invoke","f":"store-bookmark","value":{"key":"consumer-1","at":1},"time":3}
{"process":0,"type":"ok","f":"store-bookmark","time":4}
{"process":1,"type":"invoke","f":"purge","time":5}
{"process":1,"type":"%s","f":"purge","time":6}
{"process":0,"type":"invoke","f":"append","value":{"payloads":["c","d","e"]},"time":7}
{"process":0,"type":"ok","f":"append","value":{"position":0},"time":8}
{"process":1,"type":"invoke","f":"poll","value":{"key":"consumer-1","max":10},"time":9}
{"process":1,"type":"ok","f":"poll","value":{"position":%d,"records":[%s]},"time":10}
`
	for _, c := range []struct {
		name, text string
		numbering  model.Numbering
		want       verdict.Verdict
	}{
		{"goes on", sorted(concurrent.Replace(fmt.Sprintf(counting, 3))), model.Continue, verdict.Pass},
		{"read before it was written", fmt.Sprintf(counting, 3), model.Continue, verdict.Fail},
		{"start moves back", sorted(concurrent.Replace(fmt.Sprintf(counting, 1))), model.Continue, verdict.Fail},
		{"wrong semantics", sorted(concurrent.Replace(fmt.Sprintf(counting, 3))), model.Restart, verdict.Fail},
		{"resets", fmt.Sprintf(resetting, "ok", 0, `"c","d","e"`), model.Restart, verdict.Pass},
		{"unknown purge", fmt.Sprintf(resetting, "info", 0, `"c","d","e"`), model.Restart, verdict.Pass},
		{"old bookmark", fmt.Sprintf(resetting, "ok", 2, `"e"`), model.Restart, verdict.Fail},
		{"old bookmark after an unknown purge", fmt.Sprintf(resetting, "info", 2, `"e"`), model.Restart, verdict.Fail},
		{"purge that never was", fmt.Sprintf(resetting, "fail", 0, `"c","d","e"`), model.Restart, verdict.Fail},
	} {
		v, _, err := Check(context.Background(), parse(t, c.text), Options{Semantics: model.Semantics{Numbering: c.numbering}})
		require.NoError(t, err)
		require.Equal(t, c.want, v.Verdict, "%s: %s", c.name, v.Reason)
	}
}

// TestGone: a range may be gone at once only if something can have removed it.
func TestGone(t *testing.T) {
	const text = `
{"process":0,"type":"invoke","f":"append","value":{"payloads":["a","b"]},"time":1}
{"process":0,"type":"ok","f":"append","value":{"position":"i1:g0:0"},"time":2}
{"process":0,"type":"invoke","f":"poll","value":{"key":"consumer-1","max":2,"auto_commit":true},"time":3}
{"process":1,"type":"invoke","f":"purge","value":{"intent":1},"time":%d}
{"process":0,"type":"ok","f":"poll","value":{"code":"gone","position":"i1:g0:0","count":2},"time":%d}
{"process":1,"type":"ok","f":"purge","value":{"position":"i1:g1:0"},"time":9}
`
	v, _, err := Check(context.Background(), parse(t, fmt.Sprintf(text, 4, 5)), Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Pass, v.Verdict, v.Reason)

	lines := strings.Split(strings.TrimSpace(fmt.Sprintf(text, 5, 4)), "\n")
	lines[3], lines[4] = lines[4], lines[3]
	v, _, err = Check(context.Background(), parse(t, strings.Join(lines, "\n")), Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Fail, v.Verdict)
	require.Contains(t, v.Reason, "no purge and no delete-records can have removed the range")
}

func BenchmarkCheck(b *testing.B) {
	for _, s := range []shape{
		{clients: 4, ops: 300, keys: 2},
		{clients: 4, ops: 300, unknown: 0.05, keys: 2, sessions: true},
		{clients: 4, ops: 300, unknown: 0.1, keys: 2, sessions: true},
		{clients: 4, ops: 10000, keys: 2},
		{clients: 4, ops: 10000, unknown: 0.005, keys: 2, sessions: true},
		{clients: 4, ops: 300, unknown: 0.1, keys: 2, sessions: true, bug: resurrectedBookmark},
	} {
		b.Run(fmt.Sprintf("clients=%d/ops=%d/unknown=%g/%s", s.clients, s.ops, s.unknown, s.bug), func(b *testing.B) {
			var steps int64
			for i := range b.N {
				b.StopTimer()
				rec, _ := generate(uint64(i%50), s)
				ops, err := rec.Ops()
				require.NoError(b, err)
				b.StartTimer()
				_, all, err := Check(context.Background(), ops, Options{})
				require.NoError(b, err)
				steps += all[0].Steps
			}
			b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
		})
	}
}
