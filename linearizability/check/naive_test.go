package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// naive judges as a textbook would: an unknown operation is one that returns
// at the end of time with any answer, and the model's choices are all tried.
// It is exponential, and right.
func naive(sem model.Semantics, ops []model.Operation) verdict.Verdict {
	var stamps []op.Timestamp
	for _, o := range ops {
		stamps = append(stamps, o.Request.Timestamp) // of messages that only an unknown poll reads
		if o.Reply == nil {
			continue
		}
		stamps = append(stamps, o.Reply.Timestamp)
		for _, r := range o.Reply.Records {
			stamps = append(stamps, r.Timestamp)
		}
	}
	slices.Sort(stamps)
	stamps = slices.Compact(stamps)
	var all []porcupine.Operation
	for i := range ops {
		o := &ops[i]
		p := porcupine.Operation{ClientId: o.Client, Input: i, Call: o.Call, Return: o.Return}
		if o.Reply == nil {
			p.Return = history.Never
		}
		all = append(all, p)
	}
	w := worlds{sem: sem, ops: ops, stamps: stamps}
	m := porcupine.NondeterministicModel{
		Init: func() []interface{} { return []interface{}{w.first()} },
		Step: func(state, in, _ interface{}) []interface{} {
			var out []interface{}
			for _, s := range w.intended(state.(world)) {
				for _, next := range w.step(s, in.(int)) {
					out = append(out, next)
				}
			}
			return out
		},
		Equal: func(a, b interface{}) bool { return a.(world).equal(b.(world)) },
		Hash:  func(s interface{}) uint64 { return s.(world).state.Hash() },
	}
	switch porcupine.CheckOperationsTimeout(m.ToModel(), all, time.Second/2) {
	case porcupine.Ok:
		return verdict.Pass
	case porcupine.Illegal:
		return verdict.Fail
	}
	return verdict.Undecided
}

// distort changes one answer a little, as a broken system might.
func distort(r *rand.Rand, events []history.Event) []history.Event {
	out := slices.Clone(events)
	var answered []int
	for i := range out {
		if out[i].Type == history.OK {
			answered = append(answered, i)
		}
	}
	if len(answered) == 0 {
		return out
	}
	e := &out[answered[r.IntN(len(answered))]]
	a := *e.Reply
	a.Records = slices.Clone(a.Records)
	step := op.Offset(1 - 2*r.IntN(2))
	switch r.IntN(8) {
	case 0:
		a.Position.Offset += step
	case 1:
		a.Position.Generation++
	case 2:
		if a.Position.Generation > 0 {
			a.Position.Generation--
		}
	case 3:
		if n := len(a.Records); n > 0 {
			a.Records, a.Count = a.Records[:n-1], uint32(n-1)
		}
	case 4:
		a.Found = !a.Found
		a.Position.Incarnation = 1
	case 5:
		a.Start += step
	case 6:
		a.End += step
		if e.Kind == op.NewIncarnation && r.IntN(2) == 0 {
			a.Agreed.Offset += step
		}
	case 7:
		a.Code = []op.Code{op.OK, op.NotFound, op.OffsetOutOfRange, op.InvalidOffset, op.Gone}[r.IntN(5)]
	}
	e.Reply = &a
	return out
}

// TestAgreesWithNaive compares the two on small histories, as recorded and
// distorted.
func TestAgreesWithNaive(t *testing.T) { agreeWithNaive(t, false) }

func agreeWithNaive(t *testing.T, begins bool) {
	n := 6 * seeds.Count()
	count := map[verdict.Verdict]int{}
	begun := map[verdict.Verdict]int{}
	for seed := uint64(1); seed <= n; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		s := shape{clients: 2 + r.IntN(3), ops: 4 + r.IntN(12), unknown: 0.1 + 0.6*r.Float64(), keys: 1, sessions: r.IntN(4) == 0, dense: true}
		if s.sessions {
			s.repeats, s.semantics.Sessions = r.IntN(3) > 0, 2*r.IntN(2)
		}
		if r.IntN(5) == 0 {
			s.semantics.Numbering = model.Continue
		}
		if begins {
			s.begins, s.loses = 1+r.IntN(2), op.Losses(r.IntN(8))
		}
		rec, _ := generate(seed, s)
		for kind := 0; kind < 3; kind++ {
			events := rec.Events()
			for range kind {
				events = distort(r, events)
			}
			ops, err := history.Pair("generated", events)
			require.NoError(t, err)
			want := naive(s.semantics, Operations(ops, 0))
			got, _, err := Check(context.Background(), ops, Options{Semantics: s.semantics})
			require.NoError(t, err)
			if want == verdict.Undecided {
				continue
			}
			count[want]++
			for _, o := range ops {
				if o.Request.Kind == op.NewIncarnation {
					begun[want]++
				}
			}
			if want != got.Verdict {
				for _, o := range ops {
					fmt.Println(o.Line, o.Process, o.Call, o.Return, o.Outcome, model.Describe(o.Request, o.Reply))
				}
			}
			require.Equal(t, want, got.Verdict, "seed %d, distorted %d times: %s", seed, kind, got.Reason)
		}
	}
	t.Log(count, "new incarnations:", begun)
	require.Greater(t, count[verdict.Fail], int(n)/4)
	require.Greater(t, count[verdict.Pass], int(n)/4)
}
