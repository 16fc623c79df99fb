package guarantee

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Document is the page that lists what is violated by nature.
const Document = "docs/guarantees.md"

// Data is the file that the list is read from, from the root of the project.
const Data = "linearizability/guarantee/guarantees.json"

//go:embed guarantees.json
var data []byte

// Known is the matrix as it was written last.
var Known = sync.OnceValue(func() *Matrix {
	m := new(Matrix)
	if err := json.Unmarshal(data, m); err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return m
})

// Encode is the text of Data, one block a line.
func (m *Matrix) Encode() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"runs\": %d, \"blocks\": [", m.Runs)
	for i, x := range m.Blocks {
		line, err := json.Marshal(x)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

// Listed tells whether the matrix has a subject violate a property, under whatever
// class of faults.
func Listed(s Subject, property string) bool { return Known().Listed(s, property) }

// Listed tells whether a subject violates a property, under whatever class.
func (m *Matrix) Listed(s Subject, property string) bool {
	for _, b := range m.Blocks {
		if b.Subject != s || !slices.Contains(s.Properties(), property) {
			continue
		}
		if c := m.Cell(b, property); c.TLC.Outcome == Violated || c.Simulation.Outcome == Violated {
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
