package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
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

// figure is what one judgement of one history took, or of several.
type figure struct {
	ops, clients int
	what         string // of the history
	who          string // judged it
	took, cpu    time.Duration
	peak         uint64 // bytes that the program had from the system at most
	verdict      string
}

// Who judges.
const (
	fromFile = "purgelab check FILE"
	theJudge = "the judge alone"
	bare     = "porcupine alone"
)

// TestFigures measures what a verdict costs, and writes docs/benchmarks.md. Every
// measure is one of the same run: the ratios tell more than the times.
func TestFigures(t *testing.T) {
	if *figuresFile == "" {
		t.Skip("measured by make benchmarks")
	}
	program := filepath.Join(t.TempDir(), "purgelab")
	out, err := exec.Command("go", "build", "-o", program, "purgelab/cmd/purgelab").CombinedOutput()
	require.NoError(t, err, "%s", out)
	var all figures
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		all = append(all, judged(t, program, n, 16, "right")...)
	}
	all = append(all, judged(t, program, 1_000_000, 16, "an append is lost")...)
	all = append(all, judged(t, program, 100_000, 4, "right")...)
	all = append(all, searched(t, 1, 100_000, 4), searched(t, 1, 10_000, 16))
	for _, n := range []int{300, 20} {
		all = append(all, small(t, n, theJudge, judgeOne), small(t, n, bare, searchOne))
	}
	require.NoError(t, os.WriteFile(*figuresFile, all.page(), 0o644))
}

// judged measures a verdict from the file, by the program, and the judge alone.
func judged(t *testing.T, program string, n, clients int, what string) figures {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, history.Write(f, crowded(1, clients, n, what != "right")))
	require.NoError(t, f.Close())
	list := func() []model.Operation { // what else was read is garbage after it
		ops, err := history.ReadFile(file)
		require.NoError(t, err)
		return Operations(ops, 0)
	}()
	whole := figure{ops: n, clients: clients, what: what, who: fromFile}
	whole.byProgram(t, program, file)
	var v judge.Verdict
	normal := debug.SetGCPercent(GCPercent)
	defer debug.SetGCPercent(normal)
	alone := measure(func() { v = judge.Judge(model.Semantics{}, list) })
	alone.ops, alone.clients, alone.what, alone.who = n, clients, what, theJudge
	switch {
	case v.Reason != nil:
		alone.verdict = fmt.Sprintf("fail: %s: %s", v.Reason.Class, v.Reason.Note)
	case v.GaveUp != nil:
		alone.verdict = "undecided: " + v.GaveUp.Error()
	default:
		alone.verdict = "pass"
	}
	return figures{whole, alone}
}

// byProgram measures a process of its own, as the system counts it.
func (x *figure) byProgram(t *testing.T, program, file string) {
	start := time.Now()
	cmd := exec.Command(program, "check", "--json", file)
	reader, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	done := make(chan struct{})
	peak := watch(done, func() uint64 { return residentAtMost(cmd.Process.Pid) })
	out, err := io.ReadAll(reader)
	require.NoError(t, err)
	err = cmd.Wait()
	x.took = time.Since(start)
	close(done)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) { // which is how it says fail
		require.NoError(t, err)
	}
	var said struct{ Verdict, Reason string }
	require.NoError(t, json.Unmarshal(out, &said), "%s", out)
	x.verdict = outcome(said.Verdict, said.Reason)
	x.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	x.peak = <-peak
}

// residentAtMost is what a process had in memory at most so far; 0, if it is over. What the
// system tells after its end counts the memory of the process that began it, too.
func residentAtMost(pid int) (bytes uint64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, line, ok := strings.Cut(string(status), "VmHWM:"); err == nil && ok {
		fmt.Sscan(line, &bytes)
	}
	return bytes << 10
}

// watch returns the highest value that was seen until done is closed.
func watch(done chan struct{}, value func() uint64) <-chan uint64 {
	out := make(chan uint64, 1)
	go func() {
		peak := uint64(0)
		for {
			peak = max(peak, value())
			select {
			case <-done:
				out <- peak
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return out
}

// searched measures porcupine alone, over the same model.
func searched(t *testing.T, seed uint64, n, clients int) figure {
	list := crowdedOperations(t, seed, n, clients)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var v verdict.Verdict
	var why string
	x := measure(func() { v, why = uncut(ctx, model.Semantics{}, list, model.Limits{Bytes: DefaultMaxBytes}) })
	x.ops, x.clients, x.what, x.who, x.verdict = n, clients, "right", bare, outcome(v.String(), why)
	return x
}

func crowdedOperations(t *testing.T, seed uint64, n, clients int) []model.Operation {
	ops, err := history.Pair("crowd", crowded(seed, clients, n, false))
	require.NoError(t, err)
	return Operations(ops, 0)
}

// manySmall is how many small histories are judged one after the other.
const manySmall = 2000

// small measures many small histories of 4 clients, judged one after the other.
func small(t *testing.T, n int, who string, judge func([]model.Operation) verdict.Verdict) figure {
	var lists [][]model.Operation
	for seed := range uint64(manySmall) {
		lists = append(lists, crowdedOperations(t, seed, n, 4))
	}
	worst := verdict.Pass
	x := measure(func() {
		for _, list := range lists {
			worst = verdict.Worst(worst, judge(list))
		}
	})
	x.ops, x.clients, x.what, x.who, x.verdict = n*manySmall, 4, fmt.Sprintf("%d of %d operations", manySmall, n), who, worst.String()
	return x
}

// judgeOne asks the judge alone, searchOne porcupine alone.
func judgeOne(list []model.Operation) verdict.Verdict {
	switch v := judge.Judge(model.Semantics{}, list); {
	case v.Order != nil:
		return verdict.Pass
	case v.Reason != nil:
		return verdict.Fail
	}
	return verdict.Undecided
}

func searchOne(list []model.Operation) verdict.Verdict {
	v, _ := uncut(context.Background(), model.Semantics{}, list, model.Limits{})
	return v
}

func outcome(v, reason string) string {
	s, _, _ := strings.Cut(v+": "+strings.TrimPrefix(reason, "partition 0: "), ";")
	return strings.TrimSuffix(s, ": ")
}

// measure runs f in this process and watches what it holds.
func measure(f func()) figure {
	debug.FreeOSMemory()
	done := make(chan struct{})
	peak := watch(done, func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys - m.HeapReleased
	})
	start, used := time.Now(), processorTime()
	f()
	x := figure{took: time.Since(start), cpu: processorTime() - used}
	close(done)
	x.peak = <-peak
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

type figures []figure

// of is the figure of a history by a judge.
func (all figures) of(ops, clients int, what, who string) *figure {
	for i := range all {
		if x := &all[i]; x.ops == ops && x.clients == clients && x.what == what && x.who == who {
			return x
		}
	}
	panic(fmt.Sprintf("no figure of %d operations of %d clients, %s, by %s", ops, clients, what, who))
}

// page is docs/benchmarks.md.
func (all figures) page() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# What a verdict costs

Written by `+"`make benchmarks`"+`, on %d processors of %s/%s with %s, all in one run. The histories are those of
clients that ask one thing after the other: appends, polls with and without auto-commit, bookmarks, bounds, delete-records, and a purge every thousand
operations; one operation in twenty has an unknown outcome, and half of those took effect. `+"`purgelab check FILE`"+` is a process of its own that reads the
file and judges it; the others have the history in memory. Memory is what the process holds at most, the history included. Processor seconds are those of
all processors, the collection of garbage included: they depend less on what else the machine does.

| operations | clients | history | judged by | seconds | processor seconds | µs of them an operation | MiB | verdict |
|---|---|---|---|---|---|---|---|---|
`, runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, x := range all {
		fmt.Fprintf(&b, "| %d | %d | %s | %s | %.2f | %.2f | %.1f | %d | %s |\n", x.ops, x.clients, x.what, x.who, x.took.Seconds(), x.cpu.Seconds(), float64(x.cpu.Microseconds())/float64(x.ops), x.peak>>20, x.verdict)
	}
	b.WriteString("\n| ratio | of processor seconds | of MiB |\n|---|---|---|\n")
	ratio := func(name string, x, y *figure) {
		least := ""
		if strings.HasPrefix(x.verdict, verdict.Undecided.String()) {
			least = "more than "
		}
		fmt.Fprintf(&b, "| %s | %s%.1f | %s%.1f |\n", name, least, x.cpu.Seconds()/y.cpu.Seconds(), least, float64(x.peak)/float64(y.peak))
	}
	const right, lost, million = "right", "an append is lost", 1_000_000
	for _, who := range []string{fromFile, theJudge} {
		ratio(who+": 100,000 operations to 10,000 (10 is linear)", all.of(100_000, 16, right, who), all.of(10_000, 16, right, who))
		ratio(who+": 1,000,000 operations to 100,000 (10 is linear)", all.of(million, 16, right, who), all.of(100_000, 16, right, who))
		ratio(who+": a violation to a right history, 1,000,000 operations", all.of(million, 16, lost, who), all.of(million, 16, right, who))
	}
	ratio("porcupine to the judge, 100,000 operations of 4 clients", all.of(100_000, 4, right, bare), all.of(100_000, 4, right, theJudge))
	ratio("porcupine to the judge, 10,000 operations of 16 clients", all.of(10_000, 16, right, bare), all.of(10_000, 16, right, theJudge))
	for _, n := range []int{300, 20} {
		what := fmt.Sprintf("%d of %d operations", manySmall, n)
		ratio("porcupine to the judge, "+what+" of 4 clients", all.of(n*manySmall, 4, what, bare), all.of(n*manySmall, 4, what, theJudge))
	}
	return b.Bytes()
}
