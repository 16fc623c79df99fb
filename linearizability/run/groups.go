package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"purgelab/linearizability/verdict"
)

// Group is runs that did not pass and look alike: one violated property, and one shape of
// the reason.
type Group struct {
	Property string          `json:"property"`
	Shape    string          `json:"shape"`
	Verdict  verdict.Verdict `json:"verdict"`
	Seeds    []uint64        `json:"seeds"`
	// Cheapest is the run with the fewest steps: the one to look at.
	Cheapest Red `json:"cheapest"`
}

// Groups puts runs together that look alike, the cheapest to look at first.
func Groups(list []Red) []Group {
	var out []Group
	for _, r := range list {
		shape := Shape(r.Reason)
		i := slices.IndexFunc(out, func(g Group) bool { return g.Property == r.Property && g.Shape == shape })
		if i < 0 {
			i = len(out)
			out = append(out, Group{Property: r.Property, Shape: shape, Verdict: r.Verdict, Cheapest: r})
		}
		g := &out[i]
		g.Seeds = append(g.Seeds, r.Seed)
		if cheaper(&r, &g.Cheapest) {
			g.Cheapest = r
		}
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		if cheaper(&a.Cheapest, &b.Cheapest) {
			return -1
		}
		return 1
	})
	return out
}

func cheaper(a, b *Red) bool {
	return a.Steps < b.Steps || a.Steps == b.Steps && a.Seed < b.Seed
}

var (
	messages = regexp.MustCompile(`\bm[0-9]+\.*`)
	several  = regexp.MustCompile(`m#([ ,]+m#)+`)
	numbers  = regexp.MustCompile(`-?[0-9]+`)
	asked    = regexp.MustCompile(`(process #: \S+) [^→]*→ [^;]*`) // in a history
)

// Shape is what reasons of one kind have in common: a reason without its numbers, what
// exactly an operation of a history asked, and the state in which it was found.
func Shape(reason string) string {
	s, _, _ := strings.Cut(reason, " (in the state")
	s = messages.ReplaceAllString(s, "m#")
	s = several.ReplaceAllString(s, "m#")
	s = numbers.ReplaceAllString(s, "#")
	return asked.ReplaceAllString(s, "$1")
}

// RunsFile has one line for each run of a sweep, in the order in which they ended.
const RunsFile = "runs.jsonl"

// runLine is such a line.
type runLine struct {
	Seed       uint64          `json:"seed"`
	Verdict    verdict.Verdict `json:"verdict"`
	Property   string          `json:"property,omitempty"` // that is violated
	Operations int             `json:"operations"`
	Steps      uint64          `json:"steps"`
	Millis     int64           `json:"simulatedMilliseconds"`
}

// note keeps the line of a run until the state is saved.
func (w *Sweep) note(r *Result) {
	if w.Out == "" {
		return
	}
	l := runLine{Seed: r.Settings.Seed, Verdict: r.Verdict, Operations: r.Ops, Steps: r.Steps, Millis: r.Millis}
	l.Property, _ = r.Red()
	w.lines = append(w.lines, l)
}

// writeLines appends the lines that were kept.
func (w *Sweep) writeLines() error {
	f, err := os.OpenFile(filepath.Join(w.Out, RunsFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for i := range w.lines {
		err = errors.Join(err, json.NewEncoder(f).Encode(&w.lines[i]))
	}
	w.lines = nil
	return errors.Join(err, f.Close())
}

// dropLines takes lines back of runs that the state does not know of: they are made
// again.
func (w *Sweep) dropLines(sum *Summary) error {
	name := filepath.Join(w.Out, RunsFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	var kept []string
	for _, line := range strings.SplitAfter(string(text), "\n") {
		var l runLine
		if json.Unmarshal([]byte(line), &l) == nil && l.Seed >= w.From && l.Seed <= w.To && sum.Done[l.Seed-w.From] {
			kept = append(kept, line)
		}
	}
	return os.WriteFile(name, []byte(strings.Join(kept, "")), 0o644)
}
