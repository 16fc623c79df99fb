// Package models checks the specification's models with TLC and compares what
// TLC says with what spec/manifest.json expects.
//
// The manifest lists every model: a module and a configuration, the result
// that is expected of it and, for a model that must pass, the size of its
// state space. A model that must fail names the property that it violates. So
// a change that makes a check vacuous, too small or toothless shows as a
// difference and not as a green light.
//
// Tiers hold each other: demo, smoke, full, nightly.
package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Tiers in the order in which they hold each other.
var Tiers = []string{"demo", "smoke", "full", "nightly"}

// ExpectPass is what a manifest expects of a model that holds.
const ExpectPass = "pass"

// Manifest is the file's name within the folder of the specification.
const Manifest = "manifest.json"

// Model is one entry of the manifest. Paths are relative to the folder of the
// specification.
type Model struct {
	Name     string  `json:"name"`
	Module   string  `json:"module"`
	Cfg      string  `json:"cfg"`
	Mode     string  `json:"mode"`     // check or simulate
	Expect   string  `json:"expect"`   // pass, or the name of the property that is violated
	Distinct int64   `json:"distinct"` // distinct states; compared if the model passes
	Depth    int     `json:"depth"`    // of the state graph; compared if the model passes
	Seconds  float64 `json:"seconds"`  // on two cores, for planning only
	Tier     string  `json:"tier"`
	Defect   string  `json:"defect"` // the defect that is switched on, if any
	Why      string  `json:"why"`

	// Of a simulation.
	Count int   `json:"count,omitempty"` // behaviours
	Steps int   `json:"steps,omitempty"` // length of each, at most
	Seed  int64 `json:"seed,omitempty"`
	// Deadlock says that a state without a successor is no error.
	Deadlock bool `json:"deadlock,omitempty"`
}

// Load reads and checks the manifest of the specification in dir.
func Load(dir string) ([]Model, error) {
	path := filepath.Join(dir, Manifest)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	var list []Model
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, lineAt(raw, errorOffset(err, dec)), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:%d: text after the list of models", path, lineAt(raw, dec.InputOffset()))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: lists no model", path)
	}
	seen := map[string]bool{}
	for i, m := range list {
		if err := m.check(dir); err != nil {
			return nil, fmt.Errorf("%s: model %d (%s): %w", path, i+1, m.Name, err)
		}
		if seen[m.Name] {
			return nil, fmt.Errorf("%s: model %d: the name %s is taken", path, i+1, m.Name)
		}
		seen[m.Name] = true
	}
	return list, nil
}

// errorOffset is the place of a decoding error, as exactly as it is known.
func errorOffset(err error, dec *json.Decoder) int64 {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &typ):
		return typ.Offset
	}
	return dec.InputOffset()
}

func lineAt(raw []byte, offset int64) int {
	return 1 + bytes.Count(raw[:min(offset, int64(len(raw)))], []byte("\n"))
}

func (m Model) check(dir string) error {
	if m.Name == "" {
		return errors.New("has no name")
	}
	if m.Mode != "check" && m.Mode != "simulate" {
		return fmt.Errorf("mode %q: want check or simulate", m.Mode)
	}
	if m.Mode == "simulate" && m.Count <= 0 {
		return fmt.Errorf("count %d: want the number of behaviours to simulate", m.Count)
	}
	if m.Expect == "" {
		return errors.New("expects nothing: want pass or a property's name")
	}
	if !slices.Contains(Tiers, m.Tier) {
		return fmt.Errorf("tier %q: want one of %s", m.Tier, strings.Join(Tiers, ", "))
	}
	for _, f := range []string{m.Module, m.Cfg} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f))); err != nil {
			return err
		}
	}
	return nil
}

// Within tells whether a model of tier own belongs to tier wanted.
func Within(own, wanted string) bool {
	return slices.Index(Tiers, own) <= slices.Index(Tiers, wanted)
}

// Select picks models by name, or, without names, those of a tier.
func Select(list []Model, tier string, names []string) ([]Model, error) {
	if !slices.Contains(Tiers, tier) {
		return nil, fmt.Errorf("tier %q: want one of %s", tier, strings.Join(Tiers, ", "))
	}
	if len(names) == 0 {
		var out []Model
		for _, m := range list {
			if Within(m.Tier, tier) {
				out = append(out, m)
			}
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("tier %s holds no model", tier)
		}
		return out, nil
	}
	var out []Model
	for _, name := range names {
		i := slices.IndexFunc(list, func(m Model) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("model %q: want one of %s", name, strings.Join(modelNames(list), ", "))
		}
		out = append(out, list[i])
	}
	return out, nil
}

func modelNames(list []Model) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.Name)
	}
	sort.Strings(out)
	return out
}
