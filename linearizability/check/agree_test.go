package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// slicesOfSeeds divide the seeds of TestAgree; each may be run alone: -run TestAgree/slices/3.
const slicesOfSeeds = 8

// verdicts on one history, each by whoever decides on it alone: a textbook's search, porcupine
// over the whole history, porcupine over the part that the cuts leave, and the judge, which
// may look for a reason without having looked for an order.
type verdicts struct{ naive, whole, parts, judge, reason verdict.Verdict }

func (v verdicts) String() string {
	return fmt.Sprintf("naive %s, whole %s, parts %s, judge %s, reason alone %s", v.naive, v.whole, v.parts, v.judge, v.reason)
}

// agree tells whether all who decide say the same.
func (v verdicts) agree() bool {
	var said []verdict.Verdict
	for _, x := range []verdict.Verdict{v.naive, v.whole, v.parts, v.judge, v.reason} {
		if x != verdict.Undecided && !slices.Contains(said, x) {
			said = append(said, x)
		}
	}
	return len(said) < 2
}

// TestAgree: the judge alone, against three searches, on small histories with many
// unknown outcomes, as recorded, with a bug, and distorted. An order that it proves is of
// no wrong history, and a reason that it gives of no right one, whether or not it found
// an order first. It may give up, but not often.
func TestAgree(t *testing.T) {
	var mu sync.Mutex
	count, classes := map[verdicts]int{}, map[judge.Class]int{}
	t.Run("slices", func(t *testing.T) {
		for slice := range uint64(slicesOfSeeds) {
			t.Run(fmt.Sprint(slice), func(t *testing.T) {
				t.Parallel()
				for seed := slice + 1; seed <= 4*seeds.Count(); seed += slicesOfSeeds {
					for kind, list := range smallHistories(t, seed) {
						v, class := everyVerdict(list.semantics, list.ops)
						mu.Lock()
						count[v]++
						classes[class]++
						mu.Unlock()
						if !v.agree() {
							for i := range list.ops {
								o := &list.ops[i]
								fmt.Println(o.Line, o.Client, o.Call, o.Return, model.Describe(o.Request, o.Reply))
							}
						}
						require.True(t, v.agree(), "seed %d, distorted %d times: %s", seed, kind, v)
					}
				}
			})
		}
	})
	decided := map[[2]verdict.Verdict]int{} // by the searches, by the judge
	total := 0
	for v, n := range count {
		decided[[2]verdict.Verdict{max(v.naive, v.whole, v.parts), v.judge}] += n
		total += n
		t.Log(n, v)
	}
	t.Log(total, "histories", classes)
	right, wrong := verdict.Pass, verdict.Fail
	require.Greater(t, decided[[2]verdict.Verdict{right, right}], 4*decided[[2]verdict.Verdict{right, verdict.Undecided}], "it gives up seldom on right histories")
	require.Greater(t, 2*decided[[2]verdict.Verdict{wrong, wrong}], decided[[2]verdict.Verdict{wrong, verdict.Undecided}], "and has a reason for many wrong ones")
}

// smallHistory is one, as a model judges it.
type smallHistory struct {
	semantics model.Semantics
	ops       []model.Operation
}

// smallHistories are those of a seed: as recorded, and distorted once and twice.
func smallHistories(t *testing.T, seed uint64) (out [3]smallHistory) {
	r := rand.New(rand.NewPCG(seed, 11))
	s := smallShape(r)
	rec, _ := generate(seed, s)
	for kind := range out {
		events := rec.Events()
		for range kind {
			events = distort(r, events)
		}
		ops, err := history.Pair("generated", events)
		require.NoError(t, err)
		out[kind] = smallHistory{s.semantics, Operations(ops, 0)}
	}
	return out
}

// everyVerdict asks all.
func everyVerdict(sem model.Semantics, ops []model.Operation) (v verdicts, class judge.Class) {
	switch got := judge.Judge(sem, ops); {
	case got.Order != nil:
		v.judge = verdict.Pass
	case got.Reason != nil:
		v.judge, class = verdict.Fail, got.Reason.Class
	}
	if judge.Explain(sem, ops) != nil {
		v.reason = verdict.Fail
	}
	v.naive = naive(sem, ops)
	v.whole, _ = uncut(context.Background(), sem, ops, model.Limits{Steps: DefaultMaxSteps, Bytes: DefaultMaxBytes})
	if r, err := search(context.Background(), 0, ops, nil, Options{Semantics: sem}); err == nil {
		v.parts = r.Verdict
	}
	return v, class
}

// uncut is what porcupine finds over the model in a whole history, and why it found
// nothing.
func uncut(ctx context.Context, sem model.Semantics, ops []model.Operation, limits model.Limits) (verdict.Verdict, string) {
	p := model.Prepare(sem, ops, limits)
	switch found := porcupine.CheckOperations(p.Model(ctx), p.Operations); {
	case found:
		return verdict.Pass, ""
	case p.Interrupted() != "":
		return verdict.Undecided, p.Interrupted()
	}
	return verdict.Fail, ""
}

// smallShape draws what a small history is made of.
func smallShape(r *rand.Rand) shape {
	s := shape{clients: 2 + r.IntN(3), ops: 4 + r.IntN(12), unknown: 0.1 + 0.6*r.Float64(), keys: 1, sessions: r.IntN(4) == 0, dense: true}
	if s.sessions {
		s.repeats, s.semantics.Sessions = r.IntN(3) > 0, 2*r.IntN(2)
	}
	if r.IntN(5) == 0 {
		s.semantics.Numbering = model.Continue
	}
	if r.IntN(3) == 0 {
		s.unknown = 0
	}
	if r.IntN(3) == 0 {
		s.bug = bug(r.IntN(int(bugs)))
	}
	if r.IntN(8) == 0 {
		s.begins, s.loses = 1, op.Losses(r.IntN(8))
	}
	return s
}
