package guarantee

import (
	"slices"
	"sync"

	"purgelab/linearizability/faults"
)

// Known is the matrix as it was written last.
var Known = sync.OnceValue(func() *Matrix {
	m, err := Decode(data)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return m
})

// Listed tells whether the matrix has a subject violate a property, under whatever
// class of faults.
func Listed(s Subject, property string) bool { return Known().Listed(s, property) }

// Listed tells whether a subject violates a property, under whatever class.
func (m *Matrix) Listed(s Subject, property string) bool {
	for _, b := range m.Blocks {
		if b.Subject != s && !standsFor(b, s) || !slices.Contains(s.Properties(), property) {
			continue
		}
		if c := m.Cell(b, property); c.Violated() {
			return true
		}
	}
	return false
}

// standsFor tells whether a block is of a class that a subject meets in its runs and is
// not asked under for its policy, while its family is. A policy says what a loss of power
// may take; where only processes stop, or lose each other, all policies say the same.
func standsFor(b *Block, s Subject) bool {
	ofProcesses := b.Class == faults.LeaderChange || b.Class == faults.OneProcess
	return ofProcesses && b.Subject == s.family() && Unasked(s, b.Class) != "" && Unasked(b.Subject, b.Class) == ""
}

// Unlisted are those of some properties that the matrix does not list.
func Unlisted(s Subject, properties []string) []string {
	var out []string
	for _, p := range properties {
		if !Listed(s, p) {
			out = append(out, p)
		}
	}
	return out
}
