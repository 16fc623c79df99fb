package check

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/verdict"
	"purgelab/model"
)

var figuresFile = flag.String("figures", "", "measure the judge beside porcupine, and write the figures to this file")

// figure is what one judgement of one history took.
type figure struct {
	ops, clients int
	what         string // of the history
	who          string // judged it
	took, cpu    time.Duration
	peak         uint64 // bytes that the program had from the system at most
	verdict      string
}

// TestFigures measures what a verdict costs, and writes docs/benchmarks.md. Every
// measure is one of the same run: the ratios tell more than the times.
func TestFigures(t *testing.T) {
	if *figuresFile == "" {
		t.Skip("measured by make benchmarks")
	}
	var all []figure
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		all = append(all, judged(t, crowded(1, 16, n, false), n, 16, "right")...)
	}
	all = append(all, judged(t, crowded(1, 16, 1_000_000, true), 1_000_000, 16, "an append is lost")...)
	small := crowded(1, 4, 100_000, false)
	all = append(all, judged(t, small, 100_000, 4, "right")...)
	all = append(all, searched(t, small, 100_000, 4))
	all = append(all, searched(t, crowded(1, 16, 10_000, false), 10_000, 16))
	tiny := crowded(1, 4, 300, false)
	all = append(all, judged(t, tiny, 300, 4, "right")[1:]...)
	all = append(all, searched(t, tiny, 300, 4))
	require.NoError(t, os.WriteFile(*figuresFile, figuresPage(all), 0o644))
}

// judged measures a verdict from the file, and the judge alone.
func judged(t *testing.T, events []history.Event, n, clients int, what string) []figure {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, history.Write(f, events))
	require.NoError(t, f.Close())
	events = nil //nolint:ineffassign // so that its memory is not measured
	var ops []history.Op
	var total verdict.Result
	whole := measure(func() {
		ops, err = history.ReadFile(file)
		require.NoError(t, err)
		total, _, err = Check(context.Background(), ops, Options{MaxSteps: 1})
		require.NoError(t, err)
	})
	whole.who, whole.verdict = "check, from the file", outcome(total)
	list := Operations(ops, 0)
	ops = nil
	var v judge.Verdict
	alone := measure(func() { v = judge.Judge(model.Semantics{}, list) })
	alone.who, alone.verdict = "the judge alone", whole.verdict
	if v.GaveUp != nil && v.Reason == nil {
		alone.verdict = "undecided: " + v.GaveUp.Error()
	}
	for _, x := range []*figure{&whole, &alone} {
		x.ops, x.clients, x.what = n, clients, what
	}
	return []figure{whole, alone}
}

// searched measures porcupine alone.
func searched(t *testing.T, events []history.Event, n, clients int) figure {
	ops, err := history.Pair("crowd", events)
	require.NoError(t, err)
	list := Operations(ops, 0)
	var r Result
	x := measure(func() {
		r, err = search(context.Background(), 0, list, nil, Options{Timeout: time.Minute, MaxSteps: 1 << 40})
		require.NoError(t, err)
	})
	x.ops, x.clients, x.what, x.who, x.verdict = n, clients, "right", "porcupine alone", outcome(r.Result)
	return x
}

func outcome(r verdict.Result) string {
	s, _, _ := strings.Cut(r.Verdict.String()+": "+strings.TrimPrefix(r.Reason, "partition 0: "), ";")
	return strings.TrimSuffix(s, ": ")
}

// measure runs f and samples what the program holds.
func measure(f func()) figure {
	debug.FreeOSMemory()
	var peak atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.Sys-m.HeapReleased))
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	start, used := time.Now(), processorTime()
	f()
	x := figure{took: time.Since(start), cpu: processorTime() - used}
	close(stop)
	<-done
	x.peak = peak.Load()
	return x
}

// processorTime is what this program used of all processors so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func figuresPage(all []figure) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# What a verdict costs

Written by `+"`make benchmarks`"+`, on %d processors of %s/%s with %s, all in one run. The histories are those of
clients that ask one thing after the other: appends, polls with and without auto-commit, bookmarks, bounds, delete-records, and a purge every thousand
operations; one operation in twenty has an unknown outcome, and half of those took effect. Memory is what the program holds at most,
the history included. Processor seconds are those of all processors, the collection of garbage included: they do not depend on what else the machine does.

| operations | clients | history | judged by | seconds | processor seconds | µs of them an operation | MiB | verdict |
|---|---|---|---|---|---|---|---|---|
`, runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, x := range all {
		fmt.Fprintf(&b, "| %d | %d | %s | %s | %.2f | %.2f | %.1f | %d | %s |\n", x.ops, x.clients, x.what, x.who, x.took.Seconds(), x.cpu.Seconds(), float64(x.cpu.Microseconds())/float64(x.ops), x.peak>>20, x.verdict)
	}
	b.WriteString("\n| ratio of processor seconds | |\n|---|---|\n")
	find := func(ops, clients int, what, who string) *figure {
		for i := range all {
			if x := &all[i]; x.ops == ops && x.clients == clients && x.what == what && x.who == who {
				return x
			}
		}
		return &figure{}
	}
	ratio := func(name string, a, b2 *figure) {
		fmt.Fprintf(&b, "| %s | %.1f |\n", name, a.cpu.Seconds()/max(b2.cpu.Seconds(), 1e-9))
	}
	const alone, whole, other = "the judge alone", "check, from the file", "porcupine alone"
	ratio("the judge, 100,000 operations to 10,000 (10 is linear)", find(100_000, 16, "right", alone), find(10_000, 16, "right", alone))
	ratio("the judge, 1,000,000 operations to 100,000 (10 is linear)", find(1_000_000, 16, "right", alone), find(100_000, 16, "right", alone))
	ratio("a violation to a right history, 1,000,000 operations from the file", find(1_000_000, 16, "an append is lost", whole), find(1_000_000, 16, "right", whole))
	ratio("porcupine to the judge, 100,000 operations of 4 clients", find(100_000, 4, "right", other), find(100_000, 4, "right", alone))
	ratio("porcupine to the judge, 10,000 operations of 16 clients", find(10_000, 16, "right", other), find(10_000, 16, "right", alone))
	ratio("porcupine to the judge, 300 operations of 4 clients", find(300, 4, "right", other), find(300, 4, "right", alone))
	return b.Bytes()
}
