package guarantee

import (
	"slices"

	"purgelab/impl/replica"
	"purgelab/linearizability/check"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/run"
)

const (
	persisted  = "persisted"
	replicated = "replicated"
)

// Subjects are the rows of the matrix. A policy or a variant is a line here.
var Subjects = []Subject{
	{"ordered", "", "tagged", persisted, persisted, 0},
	{"ordered", "", "bare", persisted, persisted, 0},
	{"ordered", "", "tagged", persisted, persisted, 1},
	{"ordered", "", "tagged", replicated, persisted, 0},
	{"ordered", "", "tagged", persisted, replicated, 0},
	{"ordered", "", "tagged", replicated, replicated, 0},
	{"ordered", "", "tagged", replicated, persisted, 1},
	{"ordered", "", "tagged", persisted, replicated, 1},
	{"ordered", "", "tagged", replicated, replicated, 1},
	{"advance", "", "tagged", persisted, persisted, 0},
	{"advance", "", "bare", persisted, persisted, 0},
	{"advance", "", "tagged", persisted, persisted, 1},
	{"advance", "", "tagged", replicated, persisted, 0},
	{"advance", "", "tagged", persisted, replicated, 0},
	{"advance", "", "tagged", replicated, replicated, 0},
	{"advance", "", "tagged", replicated, persisted, 1},
	{"advance", "", "tagged", persisted, replicated, 1},
	{"advance", "", "tagged", replicated, replicated, 1},
	{"reset-record", "", "tagged", persisted, persisted, 0},
	{"reset-record", "", "bare", persisted, persisted, 0},
	{"reset-record", "tagged-bookmarks", "tagged", persisted, persisted, 0},
	{"reset-record", "tagged-bookmarks", "bare", persisted, persisted, 0},
	{"reset-record", "retry-sync", "tagged", persisted, persisted, 0},
	{"reset-record", "retry-sync", "bare", persisted, persisted, 0},
	{"reset-record", "", "tagged", replicated, persisted, 0},
	{"reset-record", "", "tagged", persisted, replicated, 0},
	{"reset-record", "", "tagged", replicated, replicated, 0},
	{"reset-record", "keep-floor", "tagged", replicated, replicated, 0},
	{"reset-record", "keep-floor", "bare", replicated, replicated, 0},
	{"reset-record", "", "tagged", persisted, persisted, 1},
	{"reset-record", "retry-sync", "tagged", persisted, persisted, 1},
	{"reset-record", "", "tagged", replicated, replicated, 1},
	{"reset-record", "", "tagged", replicated, persisted, 1},
	{"reset-record", "", "tagged", persisted, replicated, 1},
	{"reset-record", "keep-floor", "tagged", replicated, replicated, 1},
}

// SubjectOf says of which row a run is.
func SubjectOf(s *run.Settings) Subject {
	out := Subject{s.Design, s.Variant, s.Positions, s.Messages, s.Bookmarks, 0}
	if s.Replicas == 1 {
		out.Replicas = 1
	}
	return out
}

// Properties are the rows of the table of a subject: what runs judge, and what only
// models say.
func (s Subject) Properties() []string {
	out := s.judged(faults.None)
	if s.transfers() {
		out = append(append(out, invariant.Installs...), "InstallAtomic")
	}
	return append(out, "EarliestIsStart")
}

// transfers tells whether the row is run under the class of transfers.
func (s Subject) transfers() bool { return Unasked(s, faults.Transfer) == "" }

// judged are the properties that a run under a class judges: those that are read from
// replicas, and what clients see.
func (s Subject) judged(class faults.Class) []string {
	d, err := replica.ParseDesign(s.Design)
	if err != nil {
		panic(err) // Subjects is data of this package
	}
	out := append(slices.Clone(invariant.For(d)), check.Property)
	if class == faults.Transfer {
		out = append(out, invariant.Installs...)
	}
	return out
}
