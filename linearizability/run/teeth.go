package run

import (
	"context"
	"fmt"
	"slices"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/verdict"
)

// Tooth is a defect with the faults under which it shows and the properties that
// it breaks: the first one violated must be among them.
type Tooth struct {
	Defect     string
	Faults     faults.Class
	Properties []string
}

// refusal is how a replica shows that its disk no longer holds what it must: it
// refuses to go on, so the cluster does not come to rest.
const refusal = "NoStuckReplica"

// Teeth is the table of defects of the design "ordered" and of what all designs
// share. Each of them must turn
// runs red within MaxRuns seeds; without any, the same runs pass.
var Teeth = []Tooth{
	{"ack-before-sync", faults.PowerOff, []string{"AckDurable", "CommittedPrefixSafe", refusal}},
	{"apply-past-purge", faults.PowerOff, []string{"BoundaryAgreement"}},
	{"bookmark-generation-ignored", faults.PowerOff, []string{"NoResurrectedBookmark", "BookmarkBound", "HistoryAgreement", refusal, "Linearizable"}},
	{"duplicate-purge-wipes", faults.PowerOff, []string{"RetryIdempotent"}},
	{"local-boundary", faults.PowerOff, []string{"BoundaryAgreement", "NoErrorNoAdvance", "GenerationMonotone"}},
	{"marker-no-dirsync", faults.PowerOff, []string{"GenerationMonotone", refusal}},
	{"offset-at-proposal", faults.Network, []string{"OffsetUnique", "SessionOnce", "Linearizable"}},
	{"replay-below-boundary", faults.PowerOff, []string{"BoundaryScope", refusal}},
	{"sessions-lost-at-purge", faults.Network, []string{"SessionOnce", "Linearizable"}},
	{"stale-auto-commit", faults.Network, []string{"BookmarkBound", "Linearizable", refusal}},
	{"stale-read", faults.All, []string{"NoHiddenFresh", "NoPhantomEmpty", "Linearizable"}},
	{"vote-before-sync", faults.PowerOff, []string{"CommittedPrefixSafe", "AckDurable", refusal}},
}

// MaxRuns is how many runs may be needed to catch a defect.
const MaxRuns = 2000

// Catch runs seeds from 1 on with the defect switched on until one is red. It
// returns that run and how many runs it took, or an error if none of them is, or
// if it is red for another reason than it should be.
func (t Tooth) Catch(ctx context.Context, s Settings) (*Red, int, error) {
	s.Defect, s.Faults = t.Defect, string(t.Faults)
	w := &Sweep{Settings: s, From: 1, To: MaxRuns, StopAtRed: true}
	sum, err := w.Run(ctx)
	if err != nil {
		return nil, 0, err
	}
	switch {
	case len(sum.Reds) == 0 && sum.Verdict() == verdict.Undecided:
		return nil, sum.Runs, fmt.Errorf("defect %s: undecided after %d runs", t.Defect, sum.Runs)
	case len(sum.Reds) == 0:
		return nil, sum.Runs, fmt.Errorf("defect %s: not caught in %d runs", t.Defect, sum.Runs)
	}
	red := &sum.Reds[0]
	if !slices.Contains(t.Properties, red.Property) {
		return red, sum.Runs, fmt.Errorf("defect %s: want one of %v violated, got %s: %s", t.Defect, t.Properties, red.Property, red.Reason)
	}
	return red, sum.Runs, nil
}
