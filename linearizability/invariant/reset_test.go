package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// resets is a run of the design reset-record: events of two replicas and answers.
type resets struct{ c *Checker }

func newResets() resets {
	c := New(2, 1, 1)
	c.Design(replica.ResetRecord)
	for id := range c.resets[0].replicas {
		c.resets[0].replicas[id].last = 1
	}
	return resets{c}
}

// appends lets a replica execute the append of one message at an offset of a
// generation, or filter it.
func (r resets) appends(id int, n op.Number, g op.Generation, o op.Offset) {
	r.c.Observe(observe.Event{Action: "Materialize", Replica: id, Op: n, Kind: "append", Count: 1, Offset: o, Generation: g, End: o + 1})
}

func (r resets) filters(id int, n op.Number, g op.Generation) {
	r.c.Observe(observe.Event{Action: "Filtered", Replica: id, Op: n, Kind: "append", Count: 1, Generation: g})
}

func (r resets) stores(id int, n op.Number, g op.Generation, end op.Offset) {
	r.c.Observe(observe.Event{Action: "Materialize", Replica: id, Op: n, Kind: "store", Key: "consumer-1", Generation: g, End: end})
}

func (r resets) purges(id int, g op.Generation, floor op.Number) {
	r.c.Observe(observe.Event{Action: "ResetFrontier", Replica: id, Generation: g})
	r.c.Observe(observe.Event{Action: "SyncSegments", Replica: id, Generation: g})
	r.c.Observe(observe.Event{Action: "ResetRecord", Replica: id, Generation: g, Op: floor})
	r.c.Observe(observe.Event{Action: "SyncBookmarks", Replica: id, Generation: g})
	r.c.Observe(observe.Event{Action: "PurgeComplete", Replica: id, Generation: g})
}

// told is the answer to an append.
func (r resets) told(p op.Payload, at op.Position) {
	r.c.Returned(1, 0, &op.Request{Kind: op.Append, Payloads: []op.Payload{p}}, &op.Reply{Position: at})
}

func (r resets) found() (out []string) {
	for _, v := range r.c.Violations() {
		out = append(out, v.Property)
	}
	return out
}

func TestResetsThatAgree(t *testing.T) {
	r := newResets()
	for id := 1; id <= 2; id++ {
		r.appends(id, 2, 0, 0)
		r.purges(id, 1, 3)
		r.filters(id, 3, 1)
		r.appends(id, 4, 1, 0)
		r.stores(id, 5, 1, 1)
	}
	r.told("a", at(0, 0))
	r.told("b", at(1, 0))
	require.Empty(t, r.found())
}

func TestFloorsThatDiffer(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func(r resets)
		want []string
	}{
		{"nothing between them", func(r resets) {
			r.purges(1, 1, 1)
			r.purges(2, 1, 2)
		}, []string{"BoundaryAgreement"}},
		{"an op between them is filtered", func(r resets) {
			r.purges(1, 1, 1)
			r.purges(2, 1, 2)
			r.appends(1, 2, 1, 0)
			r.filters(2, 2, 1)
		}, []string{"BoundaryAgreement", "NoHiddenFresh"}},
		{"an op between them is removed", func(r resets) {
			r.purges(1, 1, 1)
			r.appends(1, 2, 1, 0)
			r.appends(2, 2, 0, 0)
			r.purges(2, 1, 2)
		}, []string{"BoundaryAgreement", "NoHiddenFresh"}},
		{"an op between them was removed", func(r resets) {
			r.appends(2, 2, 0, 0)
			r.purges(2, 1, 2)
			r.purges(1, 1, 1)
			r.appends(1, 2, 1, 0)
		}, []string{"BoundaryAgreement", "NoHiddenFresh"}},
		{"a message told of the old era is in the new one", func(r resets) {
			r.told("a", at(0, 0))
			r.told("a", at(1, 0))
		}, []string{"NoResurrectedMessage"}},
		{"a message told of the new era is in the old one", func(r resets) {
			r.told("a", at(1, 0))
			r.told("a", at(0, 0))
		}, []string{"NoResurrectedMessage"}},
		{"offsets are shifted", func(r resets) {
			r.told("a", at(1, 1))
			r.told("a", at(1, 0))
		}, []string{"SessionOnce"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newResets()
			tc.run(r)
			require.Equal(t, tc.want, r.found())
		})
	}
}

// What is held during a cleanup is let go in its order, after it, and nothing else
// changes a bookmark meanwhile.
func TestHeldDuringACleanup(t *testing.T) {
	see := func(did observe.Action, key string) func(resets) {
		return func(r resets) { r.c.Observe(observe.Event{Action: did, Replica: 1, Key: key, Generation: 1}) }
	}
	store := func(r resets, did observe.Action, o op.Offset) {
		r.c.Observe(observe.Event{Action: did, Replica: 1, Kind: "store", Key: "a", Offset: o, Generation: 1})
	}
	at := func(o op.Offset) func(resets) { return func(r resets) { store(r, "Hold", o) } }
	cleanup := func(r resets) {
		r.c.Observe(observe.Event{Action: "ResetFrontier", Replica: 1, Generation: 1})
		r.c.Observe(observe.Event{Action: "SyncSegments", Replica: 1, Generation: 1})
		r.c.Observe(observe.Event{Action: "ResetRecord", Replica: 1, Generation: 1, Op: 1})
	}
	done := func(r resets) { see("SyncBookmarks", "")(r); see("PurgeComplete", "")(r) }
	for _, tc := range []struct {
		name  string
		steps []func(resets)
		want  []string
	}{
		{"let go in order", []func(resets){cleanup, see("Hold", "a"), see("Hold", "b"), done, see("Release", "a"), see("Release", "b"), see("Serve", "")}, nil},
		{"refused", []func(resets){cleanup, see("Hold", "a"), see("Hold", "b"), see("Refuse", "a"), see("Refuse", "b"), done, see("Commit", "")}, nil},
		{"in another order", []func(resets){cleanup, see("Hold", "a"), see("Hold", "b"), done, see("Release", "b")}, []string{"HeldCommits"}},
		{"of one key in another order", []func(resets){cleanup, at(1), at(2), done, func(r resets) { store(r, "Release", 2) }}, []string{"HeldCommits"}},
		{"forgotten", []func(resets){cleanup, see("Hold", "a"), done, see("Journal", "")}, []string{"HeldCommits"}},
		{"not held", []func(resets){cleanup, func(r resets) { r.stores(1, 2, 1, 0) }}, []string{"HeldCommits"}},
	} {
		r := newResets()
		for _, step := range tc.steps {
			step(r)
		}
		require.Equal(t, tc.want, r.found(), tc.name)
	}
}

// A generation that no step has reached must not show.
func TestGenerationThatNoStepReached(t *testing.T) {
	r := newResets()
	v := replica.View{}
	v.Facts.Generation = 1
	r.c.resetUnfailed(r.c.parts[0], 1, &v)
	require.Equal(t, []string{"NoErrorNoAdvance"}, r.found())
}

// A bookmark means the messages that clients had been told of, not whatever lies at
// these offsets on the replica that leads.
func TestNextPassesOverWhatNobodyWasToldOf(t *testing.T) {
	next := &op.Request{Kind: op.Poll, Strategy: op.Next, Key: op.Key{ID: 1}}
	for _, tc := range []struct {
		name string
		also bool // a client was told of the other message, too
		want []string
	}{{"nobody was told", false, []string{"NextContract"}}, {"a client was told", true, []string{"OffsetUnique"}}} {
		t.Run(tc.name, func(t *testing.T) {
			r := newResets()
			r.told("a", at(0, 0))
			r.appends(1, 2, 0, 0)
			r.stores(1, 3, 0, 1)
			if tc.also {
				r.told("b", at(0, 0))
			}
			r.c.resets[0].replicas[1].member = &subject{records: []op.Record{{Payload: "b"}}}
			r.c.Answered(9, 1, next, &op.Reply{Position: at(0, 1)}, 3, 3)
			require.Equal(t, tc.want, r.found())
		})
	}
}

// TestResetInstalls: what an install brings is what counts from then on, and some it
// must not bring.
func TestResetInstalls(t *testing.T) {
	for name, tc := range map[string]struct {
		gen   op.Generation
		op    op.Number
		floor op.Number
		then  func(resets)
		want  []string
	}{
		"all is well": {2, 9, 5, func(r resets) {
			r.appends(1, 10, 2, 3)
			r.purges(1, 3, 11)
		}, nil},
		"a generation that it had left": {0, 9, 0, nil, []string{"GenerationMonotone"}},
		"less than it had":              {2, 3, 3, nil, []string{"OfferFreshness"}},
		"a floor of other ops":          {2, 9, 12, nil, []string{"BoundaryScope"}},
		"another floor than elsewhere":  {1, 9, 6, nil, []string{"BoundaryAgreement"}},
		"a purge of what came is made again": {2, 9, 5, func(r resets) {
			r.purges(1, 2, 9)
		}, []string{"RetryIdempotent", "BoundaryAgreement"}},
		"what came is executed again": {2, 9, 5, func(r resets) {
			r.appends(1, 9, 2, 3)
		}, []string{"RetryIdempotent"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newResets()
			r.appends(1, 2, 0, 0)
			r.purges(1, 1, 2)
			r.appends(1, 3, 1, 0)
			v := replica.View{}
			v.Facts.Boundary = tc.floor
			r.c.resets[0].replicas[1].member = &subject{v: v}
			r.c.Observe(observe.Event{Action: "CommitInstall", Replica: 1, Op: tc.op, Generation: tc.gen, End: 3})
			if tc.then != nil {
				tc.then(r)
			}
			require.Equal(t, tc.want, r.found())
		})
	}
}

// A floor that comes with a state filters ops that its receiver never had, as far as who chose
// it had them.
func TestResetFloorOfAnother(t *testing.T) {
	for floor, want := range map[op.Number][]string{5: nil, 4: {"BoundaryAgreement", "NoHiddenFresh", "NoHiddenFresh"}} { // that of replica 2
		r := newResets()
		r.purges(2, 1, floor)
		for _, a := range []observe.Action{"StageManifest", "StageState"} {
			r.c.Observe(observe.Event{Action: a, Replica: 1, Op: 3})
		}
		v := replica.View{Last: 3}
		v.Facts.Generation, v.Facts.Settled, v.Facts.Boundary, v.Facts.Applied = 1, 1, 5, 3
		r.c.resetBooted(r.c.parts[0], 1, &v)
		r.filters(1, 4, 1)
		r.filters(1, 5, 1)
		require.Equal(t, want, r.found(), "floor %d", floor)
	}
}

// TestResetInstallSeenByABoot: a crash may come between the record of an install and
// the word of it; without a state that was staged nothing explains the generation.
func TestResetInstallSeenByABoot(t *testing.T) {
	for _, tc := range []struct {
		said []observe.Action
		want []string
	}{
		{nil, []string{"NoErrorNoAdvance"}},
		{[]observe.Action{"StageManifest", "StageState"}, nil},
		{[]observe.Action{"StageManifest", "StageState", "DropTransfer"}, []string{"NoErrorNoAdvance"}},
	} {
		r := newResets()
		r.appends(1, 2, 0, 0)
		for _, a := range tc.said {
			r.c.Observe(observe.Event{Action: a, Replica: 1, Op: 9})
		}
		v := replica.View{Last: 9}
		v.Facts.Generation, v.Facts.Settled, v.Facts.Boundary, v.Facts.Applied = 2, 2, 5, 9
		r.c.resetBooted(r.c.parts[0], 1, &v)
		require.Equal(t, tc.want, r.found())
	}
}
