package check

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// bug is what a broken partition does once, half way through a history.
type bug int

const (
	none bug = iota
	lostAppend
	duplicateAppend
	resurrectedMessage
	resurrectedBookmark
	skippedFresh
	movedBackStart
	wipedTwice
	bugs
)

var bugNames = [...]string{"none", "lost append", "duplicate append", "resurrected message", "resurrected bookmark",
	"skipped fresh message", "moved-back start", "purge wipes twice"}

func (b bug) String() string { return bugNames[b] }

// goWrong is called after every operation with the state before it.
func (g *generator) goWrong(r *op.Request, before *model.State, reply op.Reply) {
	if g.bug == none || g.fired || g.invoked < g.ops/2 {
		return
	}
	s := g.state
	silently := func(r *op.Request) {
		g.state, _ = g.semantics.Step(g.state, r, model.Choice{Timestamp: op.Timestamp(g.now / 3)})
		g.fired = true
	}
	switch g.bug {
	case lostAppend:
		if r.Kind == op.Append {
			g.state, g.fired = before, true
		}
	case duplicateAppend:
		if r.Kind == op.Append {
			silently(&op.Request{Kind: op.Append, Payloads: r.Payloads})
		}
	case resurrectedMessage:
		if g.old != nil && g.old.End() > g.old.Start() && r.Kind == op.Append {
			m, _ := g.old.Message(g.old.End() - 1)
			silently(&op.Request{Kind: op.Append, Payloads: []op.Payload{m.Payload}})
		}
	case resurrectedBookmark:
		if g.old == nil || len(g.old.Keys()) == 0 {
			return
		}
		k := g.old.Keys()[0]
		b, _ := g.old.Bookmark(k)
		if now, ok := s.Bookmark(k); b.Offset < s.End() && (!ok || now.Offset != b.Offset) {
			silently(&op.Request{Kind: op.StoreBookmark, Key: k, At: b, Bare: true})
		}
	case skippedFresh:
		for _, k := range s.Keys() {
			if b, _ := s.Bookmark(k); b.Offset+2 < s.End() && b.Offset >= s.Start() {
				b.Offset++
				silently(&op.Request{Kind: op.StoreBookmark, Key: k, At: b})
				return
			}
		}
	case movedBackStart:
		switch {
		case g.twin == nil && r.Kind == op.DeleteRecords && s.Start() > before.Start():
			g.twin = before
		case g.twin != nil && r.Kind == op.Append && g.twin.Generation() == s.Generation() && g.twin.Start() < s.Start():
			g.state, g.fired = g.twin, true
		}
	case wipedTwice:
		if r.Kind == op.Append && s.Generation() > 0 {
			n, _ := g.semantics.Step(s, &op.Request{Kind: op.DeleteRecords, At: op.Position{Offset: -1}, Bare: true}, model.Choice{})
			g.state, g.fired = n, true
		}
	}
}

// TestBugsFail is the check of the checker: each kind of damage to a history
// that would pass must turn it red, unknown outcomes or not.
func TestBugsFail(t *testing.T) {
	for b := none + 1; b < bugs; b++ {
		for _, unknown := range []float64{0, 0.1} {
			count := map[verdict.Verdict]int{}
			fired := 0
			for seed := uint64(1); seed <= seeds.Count(); seed++ {
				rec, _, did := generateWith(seed, shape{clients: 4, ops: 300, unknown: unknown, keys: 2, bug: b})
				if !did {
					continue
				}
				fired++
				ops, err := rec.Ops()
				require.NoError(t, err)
				v, all, err := Check(context.Background(), ops, Options{})
				require.NoError(t, err)
				count[v.Verdict]++
				if v.Verdict == verdict.Fail {
					require.NotEmpty(t, v.Reason)
					require.NotZero(t, all[0].Line)
				}
			}
			t.Logf("%s, %g unknown: %v of %d", b, unknown, count, fired)
			require.NotZero(t, fired, b)
			require.Zero(t, count[verdict.Undecided], b)
			// A purge that was on its way may hide the damage, an unknown outcome explain it.
			require.LessOrEqual(t, count[verdict.Pass]*4, fired+4, b)
		}
	}
}
