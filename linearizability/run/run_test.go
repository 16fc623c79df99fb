package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

func mustRun(t testing.TB, s Settings) *Result {
	r, err := Run(context.Background(), s)
	require.NoError(t, err)
	return r
}

func digest(t testing.TB, r *Result) string {
	d, err := r.Digest()
	require.NoError(t, err)
	return d
}

// TestSeeds is the linearizability test: every class of faults over -seeds
// seeds, with one, three and five replicas.
func TestSeeds(t *testing.T) {
	for _, class := range faults.Classes {
		for _, replicas := range []int{3, 1, 5} {
			s := Settings{Faults: string(class), Replicas: replicas}
			n := seeds.Count()
			if replicas != 3 {
				n = (n + 3) / 4
			}
			t.Run(fmt.Sprintf("%s-%d", class, replicas), func(t *testing.T) {
				sum, err := (&Sweep{Settings: s, From: 1, To: n}).Run(context.Background())
				require.NoError(t, err)
				for _, bad := range append(sum.Reds, sum.Undecided...) {
					t.Errorf("%v %s: %s\nreplay: %s", bad.Verdict, bad.Property, bad.Reason, bad.Replay)
				}
				require.EqualValues(t, n, sum.Runs)
				t.Logf("%d runs, %d operations, faults in effect %v", sum.Runs, sum.Operations, sum.Faults)
			})
		}
	}
}

// TestSeedsBareAndPartitioned: offsets alone instead of positions, and several
// partitions on each disk.
func TestSeedsBareAndPartitioned(t *testing.T) {
	s := Settings{Faults: "all", Positions: "bare", Partitions: 3}
	sum, err := (&Sweep{Settings: s, From: 1, To: (seeds.Count() + 3) / 4}).Run(context.Background())
	require.NoError(t, err)
	onlyListed(t, s, sum)
}

// onlyListed: what every client with bare offsets risks where numbering begins anew
// is no mistake of the replicas. Nothing else may be red.
func onlyListed(t *testing.T, s Settings, sum *Summary) {
	t.Helper()
	for _, bad := range append(sum.Reds, sum.Undecided...) {
		rest := slices.DeleteFunc(slices.Clone(bad.Violated), func(name string) bool {
			return s.Positions == "bare" && s.Design != "advance" && (name == "NoLateProgress" || name == "NextContract")
		})
		if len(bad.Violated) == 0 || len(rest) > 0 {
			t.Errorf("%v %v: %s\nreplay: %s", bad.Verdict, bad.Violated, bad.Reason, bad.Replay)
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	for _, class := range faults.Classes {
		s := Settings{Seed: 5, Faults: string(class), Partitions: 2}
		a, b := mustRun(t, s), mustRun(t, s)
		require.NotEmpty(t, a.History)
		require.NotEmpty(t, a.Trace)
		require.Equal(t, digest(t, a), digest(t, b), class)
		require.Equal(t, a.Effects, b.Effects)
		s.Seed = 6
		require.NotEqual(t, digest(t, a), digest(t, mustRun(t, s)), class)
	}
}

// Watching a run does not change it.
func TestTraceChangesNothing(t *testing.T) {
	s := Settings{Seed: 9, Faults: "all"}
	a := mustRun(t, s)
	s.NoTrace = true
	b := mustRun(t, s)
	require.Empty(t, b.Trace)
	require.Equal(t, a.History, b.History)
}

// liar is a real replica with one fault of its own.
type liar struct {
	*replica.Replica
	n     *int
	wrong func(n *int, in replica.Input, out *replica.Output)
}

func (l *liar) Step(in replica.Input) (replica.Output, error) {
	out, err := l.Replica.Step(in)
	if err == nil {
		l.wrong(l.n, in, &out)
	}
	return out, err
}

// TestBrokenReplicasAreCaught: known-bad replicas that the judges must reject.
func TestBrokenReplicasAreCaught(t *testing.T) {
	edit := func(f func(*replica.Answer) bool) func(*int, replica.Input, *replica.Output) {
		return func(n *int, _ replica.Input, out *replica.Output) {
			for i := range out.Answers {
				if a := &out.Answers[i]; a.Reply.Code == op.OK && f(a) {
					*n++
				}
			}
		}
	}
	for _, tc := range []struct {
		name string
		want []string
		lie  func(*int, replica.Input, *replica.Output)
	}{
		{"acknowledges an append one offset too high", []string{"OffsetUnique", "SessionOnce", "AckDurable", "Linearizable"}, edit(func(a *replica.Answer) bool {
			if a.Reply.Timestamp > 0 && !a.Reply.Found { // only appends have one
				a.Reply.Position.Offset++
				return true
			}
			return false
		})},
		{"hides the last record of a poll", []string{"Linearizable"}, edit(func(a *replica.Answer) bool {
			if n := len(a.Reply.Records); n > 0 {
				a.Reply.Records = a.Reply.Records[:n-1]
				a.Reply.Count--
				return true
			}
			return false
		})},
		{"answers reads with nothing", []string{"Linearizable", "NoPhantomEmpty", "NoHiddenFresh"}, edit(func(a *replica.Answer) bool {
			if a.Reply.Found {
				a.Reply = op.Reply{}
				return true
			}
			return false
		})},
		{"falls silent", []string{"NoStuckReplica"}, func(n *int, in replica.Input, out *replica.Output) {
			if *n++; *n > 3000 {
				*out = replica.Output{}
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := 0
			r, err := run(context.Background(), Settings{Seed: 1}, func(c replica.Config) (sim.Member, error) {
				m, err := replica.Open(c)
				if err != nil {
					return nil, err
				}
				return &liar{m, &n, tc.lie}, nil
			})
			require.NoError(t, err)
			require.Positive(t, n)
			require.Equal(t, verdict.Fail, r.Verdict)
			name, _ := r.Red()
			require.Contains(t, tc.want, name)
		})
	}
}

func TestInterruptIsUndecided(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Run(ctx, Settings{Seed: 1})
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, r.Verdict)
}

func TestFolderOfARun(t *testing.T) {
	dir := t.TempDir()
	r := mustRun(t, Settings{Seed: 3, Faults: "all"})
	require.NoError(t, r.Write(dir))
	text, err := os.ReadFile(filepath.Join(dir, RecordFile))
	require.NoError(t, err)
	var rec Record
	require.NoError(t, json.Unmarshal(text, &rec))
	require.Equal(t, digest(t, r), rec.Digest)
	require.Equal(t, "purgelab run --seed 3 --faults all", rec.Replay)
	require.Equal(t, r.Settings, rec.Settings)
	for _, f := range []string{HistoryFile, TraceFile, PlanFile} {
		require.FileExists(t, filepath.Join(dir, f))
	}
	// The plan that was drawn, given back as a file, makes the same run.
	again := mustRun(t, Settings{Seed: 3, Faults: filepath.Join(dir, PlanFile)})
	var a, b bytes.Buffer
	require.NoError(t, r.WriteHistory(&a))
	require.NoError(t, again.WriteHistory(&b))
	require.Equal(t, a.String(), b.String())
}

func TestSweepGoesOnWhereItStopped(t *testing.T) {
	s := Settings{Faults: "network", Ops: 60}
	whole, err := (&Sweep{Settings: s, From: 10, To: 29, Jobs: 1}).Run(context.Background())
	require.NoError(t, err)

	w := &Sweep{Settings: s, From: 10, To: 29, Jobs: 2, Out: t.TempDir()}
	ctx, cancel := context.WithCancel(context.Background())
	w.Progress = func(sum *Summary) {
		if sum.Runs == 7 {
			cancel()
		}
	}
	part, err := w.Run(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, part.Runs, 7)
	require.Less(t, part.Runs, 20)
	require.Equal(t, verdict.Undecided, part.Verdict())

	w.Progress = nil
	rest, err := w.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, whole, rest)
	require.Equal(t, verdict.Pass, rest.Verdict())

	w.Settings.Ops = 61
	_, err = w.Run(context.Background())
	require.ErrorContains(t, err, "choose another folder")

	w.Settings.Ops = 60
	w.Resumed = func(done int) { require.Equal(t, 20, done) }
	_, err = w.Run(context.Background())
	require.NoError(t, err)
	rest.Versions["purgelab"] = "another"
	require.NoError(t, w.save(rest))
	_, err = w.Run(context.Background())
	require.ErrorContains(t, err, "was begun by a program of revision another")
}

func TestBadSettings(t *testing.T) {
	_, err := (&Sweep{From: 0, To: math.MaxUint64}).Run(context.Background())
	require.ErrorContains(t, err, "want at most 10000000 seeds")

	for _, tc := range []struct {
		s    Settings
		want string
	}{
		{Settings{Replicas: 2}, "replicas 2: want 1, 3 or 5"},
		{Settings{Clients: -1}, "clients -1: want 1 to 64"},
		{Settings{Design: "legacy"}, `design "legacy": want ordered or reset-record or advance`},
		{Settings{Design: "magic"}, `design "magic": want ordered`},
		{Settings{Messages: "eventual"}, `messages "eventual": want persisted or replicated`},
		{Settings{Bookmarks: "eventual"}, `bookmarks "eventual": want persisted or replicated`},
		{Settings{Positions: "loose"}, `positions "loose": want tagged or bare`},
		{Settings{Faults: "rain"}, fmt.Sprintf(`faults "rain": want one of %v, or a file`, faults.Classes)},
		{Settings{Faults: "no/such.json"}, "no such file"},
		{Settings{Defect: "none"}, `defect "none": want one of`},
	} {
		_, err := Run(context.Background(), tc.s)
		require.ErrorContains(t, err, tc.want)
	}
}

// BenchmarkRun measures simulated client operations per second of one core:
// three replicas, faults on, full history and trace, without the judging.
func BenchmarkRun(b *testing.B) {
	for _, class := range []string{"none", "all"} {
		b.Run(class, func(b *testing.B) {
			ops := 0
			for i := 0; i < b.N; i++ {
				s := Settings{Seed: uint64(i + 1), Faults: class, Ops: 20_000, Clients: 16}
				require.NoError(b, s.Complete())
				sm, err := simulate(context.Background(), &s, nil)
				require.NoError(b, err)
				ops += sm.script.ended
			}
			b.ReportMetric(float64(ops)/b.Elapsed().Seconds(), "ops/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
