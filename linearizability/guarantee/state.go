package guarantee

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"purgelab/linearizability/faults"
)

// This file keeps what runs found, a file for each block, for the same program to go
// on from. What TLC found is kept apart, by what it was asked: see kept.go.

// keptBlock is the file of a block.
type keptBlock struct {
	Versions map[string]string `json:"versions"`
	Runs     int               `json:"runs"`
	Block    *Block            `json:"block"`
}

func stateFile(dir string, s Subject, c faults.Class) string {
	name := strings.Join([]string{s.Design, s.Variant, s.Positions, s.Messages, s.Bookmarks, fmt.Sprint(s.Replicas), string(c)}, "_")
	return filepath.Join(dir, strings.ReplaceAll(name, ",", "+")+".json")
}

// Clear removes what runs left in a folder.
func Clear(dir string) error {
	for _, s := range Subjects {
		for _, c := range faults.Matrix {
			if err := os.Remove(stateFile(dir, s, c)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("matrix: %w", err)
			}
		}
	}
	return nil
}

// ErrOther marks a state of another program or of other settings.
var ErrOther = errors.New("begin anew with --fresh, or choose another folder")

// resume reads what is there of a block; nil if there is nothing.
func (j *job) resume(s Subject, c faults.Class) (*Block, error) {
	if j.o.State == "" {
		return nil, nil
	}
	file := stateFile(j.o.State, s, c)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	var k keptBlock
	if err := json.Unmarshal(text, &k); err != nil || k.Block == nil {
		return nil, fmt.Errorf("matrix: %s: %w: %w", file, err, ErrOther)
	}
	switch {
	case !maps.Equal(k.Versions, j.o.Versions):
		return nil, fmt.Errorf("matrix: %s is of program %v, this one is %v: %w", file, k.Versions, j.o.Versions, ErrOther)
	case k.Runs != j.o.Runs:
		return nil, fmt.Errorf("matrix: %s has %d runs, not %d: %w", file, k.Runs, j.o.Runs, ErrOther)
	}
	return k.Block, nil
}

// save keeps a block, whole or not at all.
func (j *job) save(b *Block) error {
	if j.o.State == "" {
		return nil
	}
	return writeWhole(stateFile(j.o.State, b.Subject, b.Class), keptBlock{j.o.Versions, j.o.Runs, b})
}

// writeWhole makes a file, and its folder, that is never seen half written.
func writeWhole(file string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("matrix: %w", err)
	}
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return fmt.Errorf("matrix: %w", err)
	}
	return os.Rename(file+".new", file)
}
