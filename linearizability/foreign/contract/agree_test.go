package contract

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// naive looks for an order without any pruning: whatever may come next is tried,
// and every unknown operation at every moment. It remembers where it failed.
type naive struct {
	machine
	failed map[string][]state
}

func (m *naive) search(s state, left, pending []*item) bool {
	first := int64(history.Never)
	done := true
	key := ""
	for _, x := range left {
		key += fmt.Sprintf("%p ", x)
		if x.unknown < 0 {
			first, done = min(first, x.end), false
		} else {
			first = min(first, x.call)
		}
	}
	key += "|"
	for _, u := range pending {
		key += fmt.Sprintf("%p ", u)
	}
	if done {
		return true
	}
	if slices.ContainsFunc(m.failed[key], s.equal) {
		return false
	}
	for i, x := range left {
		if x.call > first {
			continue
		}
		rest := slices.Delete(slices.Clone(left), i, i+1)
		if x.unknown >= 0 {
			if m.search(m.joins(s, x), rest, append(slices.Clone(pending), x)) {
				return true
			}
		} else if next, why := m.answer(s, x); why == "" && m.search(next, rest, pending) {
			return true
		}
	}
	for i, u := range pending {
		rest := slices.Delete(slices.Clone(pending), i, i+1)
		for _, next := range m.effects(s, u) {
			if m.search(next, left, rest) {
				return true
			}
		}
	}
	m.failed[key] = append(m.failed[key], s)
	return false
}

// damage changes one answer.
func damage(ops []foreign.Op, r *rand.Rand) {
	i := r.IntN(len(ops))
	o := &ops[i]
	if o.Outcome != history.Answered {
		return
	}
	a := &o.Answer
	switch k := r.IntN(4); {
	case k == 0 && len(a.Records) > 0:
		a.Records = a.Records[:len(a.Records)-1]
	case k == 1 && len(a.Records) > 0:
		a.Records = a.Records[1:]
	case k == 2 && len(a.Records) > 1:
		a.Records = []foreign.Record{a.Records[1], a.Records[0]}
	case a.Count != nil:
		a.Count = number(int(*a.Count) + 1)
	case k == 3 && o.F == foreign.Poll:
		a.Records = []foreign.Record{}
	}
}

// kept is a contract with a machine of its own, weakened by some of its options, and a
// broker that keeps it.
type kept struct {
	name  string
	allow []string
	make  func() world
}

var worlds = []kept{
	{"nats", nil, func() world { return newStreamWorld(false) }},
	{"pulsar", nil, func() world { return newStreamWorld(true) }},
	{"rabbitmq", nil, func() world { return &queueWorld{held: map[string][]op.Payload{}} }},
	{"continue", nil, newExact}, // without positions
	{"restart", nil, newExact},
	{"continue", []string{lows.Name}, newExact},
	{"continue", []string{undoneCuts.Name}, newExact},
}

func newExact() world {
	w := newStreamWorld(false)
	w.exact, w.last = true, *foreign.At(-1)
	return w
}

// untold takes the positions and the counts from answers.
func untold(ops []foreign.Op) []foreign.Op {
	for i := range ops {
		a := &ops[i].Answer
		a.Position, a.Count = nil, nil
		a.Records = slices.Clone(a.Records)
		for k := range a.Records {
			a.Records[k].At = nil
		}
	}
	return ops
}

// contract is the one that is kept, and a name for both.
func (w *kept) contract(t *testing.T) (string, Contract) {
	c, err := Find(w.name)
	require.NoError(t, err)
	if len(w.allow) > 0 {
		c, err = c.Weaken(w.allow)
		require.NoError(t, err)
	}
	return fmt.Sprint(w.name, w.allow), c
}

// weakest allows all weaker promises of a contract.
func weakest(t *testing.T, c Contract) Contract {
	var names []string
	for _, o := range c.Options {
		names = append(names, o.Name)
	}
	weak, err := c.Weaken(names)
	require.NoError(t, err)
	return weak
}

// TestRightHistoriesPass: what a broker that keeps its contract does is right, also
// where less is promised.
func TestRightHistoriesPass(t *testing.T) {
	for _, w := range worlds {
		name, c := w.contract(t)
		undecided := 0
		for seed := uint64(1); seed <= 6*seeds.Count(); seed++ {
			r := rand.New(rand.NewPCG(seed, 1))
			ops := live(w.make(), r, 3, 40, 0.05)
			if c.machine == dense {
				ops = untold(ops)
			}
			for _, c := range []Contract{c, weakest(t, c)} {
				rep, err := c.Judge(context.Background(), &History{Foreign: ops}, Options{})
				require.NoError(t, err)
				require.NotEqual(t, verdict.Fail, rep.Total.Verdict, "%s seed %d, allowed %v: %s", name, seed, c.allowed, rep.Total.Reason)
				if rep.Total.Verdict == verdict.Undecided {
					undecided++
				}
			}
		}
		// An accepted purge without positions is as good as unknown: more is undecided.
		require.LessOrEqual(t, undecided, int(seeds.Count()), name)
	}
}

// TestAgreesWithNaive: on small histories, right and wrong, the search finds an
// order exactly if there is one.
func TestAgreesWithNaive(t *testing.T) {
	for _, w := range worlds {
		name, c := w.contract(t)
		wrongs := 0
		for seed := uint64(1); seed <= 80*seeds.Count(); seed++ {
			r := rand.New(rand.NewPCG(seed, 2))
			ops := live(w.make(), r, 3, 6, 0.25)
			if c.machine == dense {
				ops = untold(ops)
			}
			if r.IntN(3) > 0 {
				damage(ops, r)
			}
			told, bad := learn(ops, false)
			want := bad == nil
			if want {
				p := &plan{contract: &c, told: told, keys: cursors(ops)}
				for i := range ops {
					p.add(&ops[i])
				}
				if len(p.items) == 0 {
					continue
				}
				m := &naive{c.build(ops, told), map[string][]state{}}
				want = slices.ContainsFunc(m.begin(), func(s state) bool { return m.search(s, p.items, nil) })
			}
			got, _, err := c.judgePartition(context.Background(), ops, Options{})
			require.NoError(t, err)
			require.NotEqual(t, verdict.Undecided, got.Verdict, "%s seed %d: %s", name, seed, got.Reason)
			require.Equal(t, want, got.Verdict == verdict.Pass, "%s seed %d: %s", name, seed, got.Reason)
			if !want {
				wrongs++
			}
		}
		require.Greater(t, wrongs, int(seeds.Count()), name)
	}
}

// TestHoles: positions that are told go to package model; with gaps between them
// they are right only for a system that may leave gaps, and what is wrong without
// gaps is wrong with them.
func TestHoles(t *testing.T) {
	strict, err := Find("continue")
	require.NoError(t, err)
	loose, err := strict.Weaken([]string{holes.Name})
	require.NoError(t, err)
	looser, err := strict.Weaken([]string{holes.Name, lows.Name}) // searched, not judged by package model
	require.NoError(t, err)
	judge := func(ops []foreign.Op, c Contract) verdict.Verdict {
		rep, err := c.Judge(context.Background(), &History{Foreign: ops}, Options{})
		require.NoError(t, err)
		return rep.Total.Verdict
	}
	agreed := 0
	for seed := uint64(1); seed <= 6*seeds.Count(); seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		ops := live(newExact(), r, 3, 20, 0)
		require.Equal(t, verdict.Pass, judge(ops, strict), "seed %d", seed)
		damage(ops, r)
		want := judge(ops, strict)
		spread := slices.Clone(ops)
		for i := range spread {
			o := &spread[i]
			far := func(p *foreign.Position) *foreign.Position {
				if p == nil {
					return nil
				}
				return foreign.At(3*p.Offset + 2)
			}
			if o.Ask.At != nil && o.Ask.At.Offset >= 0 {
				o.Ask.At = far(o.Ask.At)
			}
			if o.Answer.Start != nil {
				low, high := 3**o.Answer.Start+2, 3**o.Answer.End+2
				o.Answer.Start, o.Answer.End = &low, &high
			}
			o.Answer.Position = far(o.Answer.Position)
			o.Answer.Records = slices.Clone(o.Answer.Records)
			for k := range o.Answer.Records {
				o.Answer.Records[k].At = far(o.Answer.Records[k].At)
			}
		}
		require.Equal(t, want, judge(spread, loose), "seed %d", seed)
		if want == verdict.Pass {
			require.Equal(t, want, judge(spread, looser), "seed %d", seed)
		}
		if want == verdict.Fail {
			agreed++
		}
		require.Equal(t, verdict.Fail, judge(spread, strict), "seed %d", seed)
	}
	require.Positive(t, agreed)
}

// TestTagged: where numbering goes on for ever, bare offsets and tagged ones are
// judged alike.
func TestTagged(t *testing.T) {
	c, err := Find("continue")
	require.NoError(t, err)
	fails := 0
	for seed := uint64(1); seed <= 20*seeds.Count(); seed++ {
		r := rand.New(rand.NewPCG(seed, 4))
		ops := live(newExact(), r, 3, 8, 0.2)
		damage(ops, r)
		if _, w := learn(ops, false); w != nil {
			continue
		}
		tr, err := c.dense(ops)
		require.NoError(t, err)
		var bare []history.Op
		for _, o := range tr.ops {
			q := *o.Request
			q.At.Incarnation, q.Bare = 0, true
			if o.Request = &q; o.Reply != nil {
				a := *o.Reply
				a.Position.Incarnation = 0
				o.Reply = &a
			}
			bare = append(bare, o)
		}
		sem := check.Options{Semantics: model.Semantics{Numbering: model.Continue}}
		want, _, err := check.Check(context.Background(), bare, sem)
		require.NoError(t, err)
		got, _, err := check.Check(context.Background(), tagged(bare), sem)
		require.NoError(t, err)
		require.Equal(t, want.Verdict, got.Verdict, "seed %d: %s; %s", seed, want.Reason, got.Reason)
		if got.Verdict == verdict.Fail {
			fails++
		}
	}
	require.Positive(t, fails)
}
