package run

import (
	"context"
	"fmt"
	"slices"

	"purgelab/impl/replica"
	"purgelab/linearizability/check"
	"purgelab/linearizability/history"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/verdict"
	"purgelab/model"
)

// judge fills in the verdicts. If the simulation ended early nothing is shown to
// hold, but what was seen to be violated is.
func (r *Result) judge(ctx context.Context, m *simulation) {
	add := func(v verdict.Verdict, property, reason string) {
		r.Results = append(r.Results, verdict.Result{Verdict: v, Property: property, Reason: reason})
	}
	holds, why := verdict.Pass, ""
	if m.ended != nil {
		holds, why = verdict.Undecided, fmt.Sprintf("interrupted: %v", m.ended)
	}
	names := invariant.For(r.design())
	if r.Settings.CompactOps > 0 {
		names = append(slices.Clone(names), invariant.Transfers(r.design())...)
	}
	for _, name := range names {
		v, reason := holds, why
		for i := range r.Violations {
			if r.Violations[i].Property == name {
				v, reason = verdict.Fail, r.Violations[i].String()
				break
			}
		}
		switch {
		case name == "NoStuckReplica" && m.stuck != "":
			v, reason = verdict.Fail, m.stuck
		case name == "PurgeEventuallyApplied" && m.unmet != "":
			v, reason = verdict.Fail, m.unmet
		}
		add(v, name, reason)
	}
	// A prefix of a linearizable history is linearizable: it is judged as well.
	r.Results = append(r.Results, r.linearizable(ctx))
	r.Verdict = verdict.Pass
	for _, x := range r.Results {
		r.Verdict = verdict.Worst(r.Verdict, x.Verdict)
	}
}

// linearizable asks porcupine.
func (r *Result) linearizable(ctx context.Context) verdict.Result {
	ops, err := history.Pair("history.jsonl", r.History)
	if err != nil {
		return verdict.Result{Property: check.Property, Reason: err.Error()}
	}
	total, all, err := check.Check(ctx, ops, r.CheckOptions())
	r.Checked = all
	if err != nil {
		return verdict.Result{Property: check.Property, Reason: err.Error()}
	}
	return total
}

// CheckOptions say how the history is judged: numbering goes on where a purge is
// a deletion of all records.
func (r *Result) CheckOptions() check.Options {
	o := check.Options{Timeout: r.Settings.Timeout}
	if r.design() == replica.Advance {
		o.Semantics.Numbering = model.Continue
	}
	return o
}

// design was parsed before the run began.
func (r *Result) design() replica.Design {
	d, err := replica.ParseDesign(r.Settings.Design)
	if err != nil {
		panic(err)
	}
	return d
}

// Violated lists the properties that did not hold, in the order of Results.
func (r *Result) Violated() []string {
	var out []string
	for _, x := range r.Results {
		if x.Verdict == verdict.Fail {
			out = append(out, x.Property)
		}
	}
	return out
}

// Violates tells whether a property did not hold, and why.
func (r *Result) Violates(property string) (reason string, red bool) {
	for _, x := range r.Results {
		if x.Property == property && x.Verdict == verdict.Fail {
			return x.Reason, true
		}
	}
	return "", false
}

// Red is the property that was violated first, with the reason, or empty. What
// is seen on a replica comes before what follows from it.
func (r *Result) Red() (property, reason string) {
	if len(r.Violations) > 0 {
		return r.Violations[0].Property, r.Violations[0].String()
	}
	for _, x := range r.Results {
		if x.Verdict == verdict.Fail {
			return x.Property, x.Reason
		}
	}
	return "", ""
}
