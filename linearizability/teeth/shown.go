package teeth

import (
	"context"

	"purgelab/linearizability/check"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// ByRuns tells whether runs have to show the defect, and not only the specification or
// a scenario.
func (t *Tooth) ByRuns() bool { return t.must(Boot) || t.must(History) }

// Shown is the first run, of at most so many, in which the defect breaks a property that
// the table names, and that property; nil if there is none.
func (t *Tooth) Shown(ctx context.Context, runs int) (*run.Result, string, error) {
	for seed := uint64(1); seed <= uint64(runs) && ctx.Err() == nil; seed++ {
		r, err := run.Run(ctx, t.settings(seed))
		if err != nil || r.Verdict != verdict.Fail {
			if err != nil {
				return nil, "", err
			}
			continue
		}
		if property, _ := onReplicas(r, t); t.must(Boot) && t.names(property) {
			return r, property, nil
		}
		if _, red := r.Violates(check.Property); red && t.must(History) {
			return r, check.Property, nil
		}
	}
	return nil, "", ctx.Err()
}
