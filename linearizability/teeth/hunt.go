package teeth

import (
	"context"
	"fmt"
	"slices"

	"purgelab/linearizability/check"
	"purgelab/linearizability/guarantee"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// hunt looks for runs that show a defect, seed after seed from 1, so that what it
// finds does not depend on how many are under way at a time.
type hunt struct {
	tooth Tooth
	made  uint64 // seeds that were run: 1..made
	// boot and history are what the layers found; the outcome is empty while they
	// are looking, and NotExpected if they were not asked.
	boot, history Cell
	// met are the seeds whose runs were red, and not by nature: their traces are worth
	// judging.
	met []uint64
	err error
}

func newHunt(t Tooth, layers []Layer) *hunt {
	h := &hunt{tooth: t}
	h.boot, h.history = start(&t, Boot, layers), start(&t, History, layers)
	return h
}

// open tells whether a layer is still looking.
func (h *hunt) open() bool { return h.boot.Outcome == "" || h.history.Outcome == "" }

// told lists the seeds worth running without the defect: the first ones, and those
// that caught it.
func (h *hunt) told() []uint64 {
	var out []uint64
	for seed := uint64(1); seed <= min(h.made, quietRuns); seed++ {
		out = append(out, seed)
	}
	for _, c := range []Cell{h.boot, h.history} {
		if c.Outcome == Caught {
			out = append(out, uint64(c.Runs))
		}
	}
	return out
}

// caughtAt are the properties by which a seed showed the defect.
func (h *hunt) caughtAt(seed uint64) []string {
	var out []string
	for _, c := range []Cell{h.boot, h.history} {
		if c.Outcome == Caught && uint64(c.Runs) == seed {
			out = append(out, c.Property)
		}
	}
	return out
}

// alone says what is wrong with a run without a defect in which properties are
// violated: one that is not listed, or one that showed a defect in the same run.
func alone(r *run.Result, caught []string) string {
	of := guarantee.SubjectOf(&r.Settings)
	for _, p := range r.Violated() {
		reason, _ := r.Violates(p)
		switch {
		case slices.Contains(caught, p):
			return "violated without the defect as well: " + reason
		case !guarantee.Listed(of, p):
			return reason
		}
	}
	return ""
}

// until runs seeds until enough says so, or the limit is met, or ctx ends.
func (h *hunt) until(ctx context.Context, limit int, enough func() bool) {
	for h.err == nil && !enough() && h.made < uint64(limit) && ctx.Err() == nil {
		s := h.tooth.settings(h.made + 1)
		r, err := run.Run(ctx, s)
		if err != nil {
			h.err = err
			return
		}
		if ctx.Err() != nil && r.Verdict != verdict.Fail {
			return // cut off, not judged
		}
		h.made++
		h.look(r)
	}
}

func (h *hunt) look(r *run.Result) {
	property, reason := onReplicas(r, &h.tooth)
	_, wrong := r.Violates(check.Property)
	if property != "" || wrong && !guarantee.Listed(guarantee.SubjectOf(&r.Settings), check.Property) {
		h.met = append(h.met, r.Settings.Seed)
	}
	if h.boot.Outcome == "" {
		h.boot.Runs++
		if property != "" {
			h.boot.red(h.tooth.names(property), property, reason, r.Settings.Replay())
		}
	}
	if h.history.Outcome != "" {
		return
	}
	h.history.Runs++
	for _, x := range r.Results {
		switch {
		case x.Property != check.Property:
		case x.Verdict == verdict.Fail:
			h.history.red(true, x.Property, x.Reason, r.Settings.Replay())
		case x.Verdict == verdict.Undecided:
			h.history.Reason = fmt.Sprintf("seed %d: %s", r.Settings.Seed, x.Reason)
		}
	}
}

// onReplicas is the first named invariant that did not hold, or the first
// property that the run found violated otherwise, but not by its history. What the
// design violates by nature says nothing of a defect that is known for others.
func onReplicas(r *run.Result, t *Tooth) (property, reason string) {
	of := guarantee.SubjectOf(&r.Settings)
	counts := func(property string) bool { return t.names(property) || !guarantee.Listed(of, property) }
	for i := range r.Violations {
		if counts(r.Violations[i].Property) {
			return r.Violations[i].Property, r.Violations[i].String()
		}
	}
	for _, x := range r.Results {
		if x.Verdict == verdict.Fail && x.Property != check.Property && counts(x.Property) {
			return x.Property, x.Reason
		}
	}
	return "", ""
}

// close says what came of a layer that is still looking. ended is why it had to
// stop early, if it had to.
func (h *hunt) close(ended error) {
	for _, c := range []*Cell{&h.boot, &h.history} {
		switch {
		case c.Outcome != "":
		case h.err != nil:
			c.Outcome, c.Reason = Undecided, h.err.Error()
		case ended != nil:
			c.Outcome, c.Reason = Undecided, interrupted+ended.Error()
		case c.Reason != "":
			c.Outcome = Undecided // some history could not be judged
		default:
			c.Outcome = Missed
		}
	}
}
