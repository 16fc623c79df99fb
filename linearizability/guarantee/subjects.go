package guarantee

import (
	"slices"

	"purgelab/impl/replica"
	"purgelab/linearizability/check"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/run"
)

const (
	persisted  = "persisted"
	replicated = "replicated"
)

// Subjects are the rows of the matrix. A policy or a variant is a line here.
var Subjects = []Subject{
	{"ordered", "", "tagged", persisted, persisted},
	{"ordered", "", "bare", persisted, persisted},
	{"reset-record", "", "tagged", persisted, persisted},
	{"reset-record", "", "bare", persisted, persisted},
	{"reset-record", "tagged-bookmarks", "tagged", persisted, persisted},
	{"reset-record", "tagged-bookmarks", "bare", persisted, persisted},
	{"reset-record", "retry-sync", "tagged", persisted, persisted},
	{"reset-record", "", "tagged", replicated, replicated},
	{"reset-record", "keep-floor", "tagged", replicated, replicated},
	{"advance", "", "tagged", persisted, persisted},
	{"advance", "", "bare", persisted, persisted},
}

// SubjectOf says of which row a run is.
func SubjectOf(s *run.Settings) Subject {
	return Subject{s.Design, s.Variant, s.Positions, s.Messages, s.Bookmarks}
}

// Properties are the rows of the table of a subject: what is read from its
// replicas, and what its clients see.
func (s Subject) Properties() []string {
	d, err := replica.ParseDesign(s.Design)
	if err != nil {
		panic(err) // Subjects is data of this package
	}
	return append(slices.Clone(invariant.For(d)), check.Property)
}
