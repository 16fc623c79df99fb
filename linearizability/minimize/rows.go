package minimize

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"purgelab/linearizability/run"
)

// Rows are those of a table that were made, in a folder, so that an interrupt loses none;
// and what was tried for the one that it fell into.
type Rows struct {
	dir  string
	made map[string]Row
}

// madeFile has the revision that made the rows in its first line, and then a row a line.
const madeFile = "made"

// OpenRows reads what an interrupt left in a folder, if it did. Rows of another revision
// are refused.
func OpenRows(dir string) (*Rows, error) {
	k := &Rows{dir: dir, made: map[string]Row{}}
	head := "revision " + run.Versions()["purgelab"]
	name := filepath.Join(dir, madeFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o755); err == nil {
			err = os.WriteFile(name, []byte(head+"\n"), 0o644)
		}
		text = []byte(head)
	}
	if err != nil {
		return nil, fmt.Errorf("minimize: %w", err)
	}
	lines := strings.Split(string(text), "\n")
	if lines[0] != head {
		return nil, fmt.Errorf("minimize: %s is of other work: want %q, got %q: begin anew with --force", name, head, lines[0])
	}
	for _, l := range lines[1:] {
		var row Row
		if json.Unmarshal([]byte(l), &row) == nil { // else it was not written to its end
			k.made[row.Defect] = row
		}
	}
	return k, nil
}

// Has tells whether the row of a defect was made.
func (k *Rows) Has(defect string) bool {
	_, ok := k.made[defect]
	return ok
}

// get is the row of a defect, if it was made.
func (k *Rows) get(defect string) (Row, bool) {
	row, ok := k.made[defect]
	return row, ok
}

// put keeps a row.
func (k *Rows) put(row Row) error {
	line, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("minimize: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(k.dir, madeFile), os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("minimize: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s\n", line)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("minimize: %w", err)
	}
	return nil
}

// tried is the file that remembers what was tried for the row of a defect.
func (k *Rows) tried(defect string) string { return filepath.Join(k.dir, defect+".tried") }

// Done forgets everything: the table is complete.
func (k *Rows) Done() error { return os.RemoveAll(k.dir) }
