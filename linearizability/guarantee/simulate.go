package guarantee

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"purgelab/linearizability/check"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// DefaultRuns is how many runs each subject has under each class. They take seventeen
// minutes on two cores, and models that were not asked before four.
const DefaultRuns = 500

// runOps is how many operations a run has: enough for several purges and faults.
const runOps = 200

// compactOps is how many ops a log holds where transfers are looked at: few, so that
// who misses a purge or two misses what the log began with.
const compactOps = 15

// Settings of the run of a subject under a class with one seed.
func Settings(s Subject, class faults.Class, seed uint64) run.Settings {
	out := run.Settings{
		Seed: seed, Design: s.Design, Variant: s.Variant, Positions: s.Positions, Messages: s.Messages, Bookmarks: s.Bookmarks,
		Faults: string(class), Ops: runOps, NoTrace: true,
	}
	switch class {
	case faults.PowerMinority, faults.PowerMajority:
		out.Replicas = 5
	case faults.Topic:
		out.Partitions, out.PurgeAck = 2, "accepted"
	case faults.Transfer:
		out.CompactOps = compactOps
	}
	if s.Replicas == 1 {
		out.Replicas = 1
	}
	return out
}

// Unasked tells why a subject is not run under a class; empty if it is.
func Unasked(s Subject, class faults.Class) string {
	switch {
	case s.Replicas == 1 && (class == faults.LeaderChange || class == faults.PowerOne || class == faults.PowerMinority || class == faults.PowerMajority):
		return "there is one machine: its loss of power is that of all"
	case s.Design == "advance" && class == faults.Topic:
		return "a deletion of records has no intent, so each partition's is asked for on its own"
	case s.Replicas == 1 && class == faults.Transfer:
		return "there is one machine: nobody has a state to give"
	case s.Design == "reset-record" && class == faults.Transfer:
		return "what an install does to a floor is a model of its own, MCTransferReset"
	case s.Design == "reset-record" && (s.Messages == replicated || s.Bookmarks == replicated) && class != faults.PowerAll:
		return "of this design, only what follows when all replicas lose power together is made"
	}
	return ""
}

// Simulated is what the runs of one subject under one class found.
type Simulated struct {
	Runs int `json:"runs"`
	// Met counts the runs in which a fault of the class took effect.
	Met int `json:"met"`
	// Lost counts acknowledged operations that a new incarnation lacked.
	Lost int `json:"lost,omitempty"`
	// Red holds of each violated property the run with the lowest seed.
	Red map[string]Sighting `json:"red,omitempty"`
	// Open holds why a property was not judged in some run, if it was not.
	Open map[string]string `json:"open,omitempty"`
}

// Sighting is a property seen violated.
type Sighting struct {
	Seed   uint64 `json:"seed"`
	In     int    `json:"in"` // runs
	Reason string `json:"reason"`
}

// Simulate makes runs with the seeds 1 to n, jobs at a time. progress, if not nil,
// is called after each, one call at a time. When ctx ends the result is nil.
func Simulate(ctx context.Context, s Subject, class faults.Class, n, jobs int, progress func()) (*Simulated, error) {
	out := &Simulated{Red: map[string]Sighting{}, Open: map[string]string{}}
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var mu sync.Mutex
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for seed := uint64(1); seed <= uint64(n) && inner.Err() == nil; seed++ {
		g.Go(func() error {
			r, err := run.Run(inner, Settings(s, class, seed))
			if err != nil {
				return fmt.Errorf("%s, %s, seed %d: %w", s.Name(), class, seed, err)
			}
			if err := inner.Err(); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			out.add(class, r)
			if progress != nil {
				progress()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, ctx.Err()
}

func (m *Simulated) add(class faults.Class, r *run.Result) {
	m.Runs++
	if class.Met(r.Faults, &r.Effects) {
		m.Met++
	}
	m.Lost += r.Effects.LostAcked
	for _, x := range r.Results {
		switch x.Verdict {
		case verdict.Fail:
			seen, ok := m.Red[x.Property]
			if seed := r.Settings.Seed; !ok || seed < seen.Seed {
				seen.Seed, seen.Reason = seed, clip(x.Reason)
			}
			seen.In++
			m.Red[x.Property] = seen
		case verdict.Undecided:
			if x.Property != check.Property || answered(r) {
				m.Open[x.Property] = clip(x.Reason)
			}
		}
	}
}

// answered tells whether any operation of a run can be judged. Where one replica is
// all there is, and refuses its disk before a client was answered, none can: the run
// says nothing of what clients see, and the others do.
func answered(r *run.Result) bool {
	return slices.ContainsFunc(r.Checked, func(p check.Result) bool { return p.Operations > 0 })
}

// unjudged says why runs do not judge a property by its name.
var unjudged = map[string]string{
	"EarliestIsStart": "runs judge it as a part of Linearizable",
	"InstallAtomic":   "runs judge what a crash in an install leaves by all other properties",
}

// finding says it of one property.
func (m *Simulated) finding(s Subject, class faults.Class, property string) Finding {
	out := Finding{Outcome: Holds, Runs: m.Runs}
	switch {
	case slices.Contains(s.judged(class), property):
	case slices.Contains(invariant.Installs, property):
		return Finding{Outcome: NotAsked, Text: "no state is installed"}
	default:
		return Finding{Outcome: NotAsked, Text: unjudged[property]}
	}
	seen, red := m.Red[property]
	why, open := m.Open[property]
	switch {
	case red:
		settings := Settings(s, class, seen.Seed)
		if err := settings.Complete(); err != nil {
			panic(err) // it was run
		}
		out.Outcome, out.Evidence = Violated, settings.Replay()
		out.Text = fmt.Sprintf("in %d of %d runs; %s", seen.In, m.Runs, seen.Reason)
	case open:
		out.Outcome, out.Text = Undecided, why
	case m.Met == 0:
		out.Outcome, out.Text = NotMet, "no fault of the class took effect in any run"
	}
	return out
}
