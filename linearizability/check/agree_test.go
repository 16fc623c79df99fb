package check

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// TestJudgeAgreesWithNaive: the judge alone, against a textbook's search, on small
// histories with many unknown outcomes, as recorded, with a bug, and distorted. An order
// that it proves is of no wrong history, and a reason that it gives of no right one,
// whether or not it found an order first. It may give up, but not often.
func TestJudgeAgreesWithNaive(t *testing.T) {
	type pair struct{ naive, judge verdict.Verdict }
	count := map[pair]int{}
	classes := map[judge.Class]int{}
	for seed := uint64(1); seed <= 4*seeds.Count(); seed++ {
		r := rand.New(rand.NewPCG(seed, 11))
		s := smallShape(r)
		rec, _ := generate(seed, s)
		for kind := range 3 {
			events := rec.Events()
			for range kind {
				events = distort(r, events)
			}
			ops, err := history.Pair("generated", events)
			require.NoError(t, err)
			list := Operations(ops, 0)
			got, why := judge.Judge(s.semantics, list), judge.Explain(s.semantics, list)
			p := pair{naive: naive(s.semantics, list)}
			text := ""
			switch {
			case got.Order != nil:
				p.judge = verdict.Pass
			case got.Reason != nil:
				p.judge = verdict.Fail
				classes[got.Reason.Class]++
			}
			if why != nil {
				text = why.Text(list)
			}
			wrong := p.naive == verdict.Fail && p.judge == verdict.Pass || p.naive == verdict.Pass && (p.judge == verdict.Fail || why != nil)
			if wrong {
				for _, o := range ops {
					fmt.Println(o.Line, o.Process, o.Call, o.Return, o.Outcome, model.Describe(o.Request, o.Reply))
				}
			}
			require.False(t, wrong, "seed %d, distorted %d times: want %s, got %s; %s", seed, kind, p.naive, p.judge, text)
			count[p]++
		}
	}
	t.Log(count, classes)
	right, wrong := verdict.Pass, verdict.Fail
	require.Greater(t, count[pair{right, right}], 4*count[pair{right, verdict.Undecided}], "it gives up seldom on right histories")
	require.Greater(t, 2*count[pair{wrong, wrong}], count[pair{wrong, verdict.Undecided}], "and has a reason for many wrong ones")
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
