package guarantee

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

// Document is the page that lists what is violated by nature.
const Document = "docs/guarantees.md"

// Data is the file that the list is read from, from the root of the project.
const Data = "linearizability/guarantee/guarantees.json"

//go:embed guarantees.json
var data []byte

// dataFile is a matrix as Data has it: blocks point at models, which many of them
// share.
type dataFile struct {
	Runs   int         `json:"runs"`
	Models []*Model    `json:"models"`
	Blocks []dataBlock `json:"blocks"`
}

type dataBlock struct {
	*Block
	Models []int `json:"models,omitempty"`
}

// Encode is the text of Data, one model and one block a line.
func (m *Matrix) Encode() ([]byte, error) {
	place := map[string]int{}
	var models, blocks [][]byte
	for _, b := range m.Blocks {
		line := dataBlock{Block: b}
		for _, x := range b.Models {
			text, err := json.Marshal(x)
			if err != nil {
				return nil, err
			}
			n, ok := place[string(text)]
			if !ok {
				n = len(models)
				place[string(text)] = n
				models = append(models, text)
			}
			line.Models = append(line.Models, n)
		}
		text, err := json.Marshal(line)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, text)
	}
	comma := []byte(",\n")
	return fmt.Appendf(nil, "{\"runs\": %d, \"models\": [\n%s\n], \"blocks\": [\n%s\n]}\n", m.Runs, bytes.Join(models, comma), bytes.Join(blocks, comma)), nil
}

// Decode reads what Encode wrote.
func Decode(text []byte) (*Matrix, error) {
	var f dataFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	m := &Matrix{Runs: f.Runs}
	for i, b := range f.Blocks {
		for _, n := range b.Models {
			if n < 0 || n >= len(f.Models) {
				return nil, fmt.Errorf("matrix: block %d has model %d of %d", i, n, len(f.Models))
			}
			b.Block.Models = append(b.Block.Models, f.Models[n])
		}
		m.Blocks = append(m.Blocks, b.Block)
	}
	return m, nil
}
