package guarantee

import (
	"slices"
	"sync"
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
		if b.Subject != s || !slices.Contains(s.Properties(), property) {
			continue
		}
		if c := m.Cell(b, property); c.Violated() {
			return true
		}
	}
	return false
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
