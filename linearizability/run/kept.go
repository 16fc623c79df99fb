package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"purgelab/linearizability/faults"
)

// Kept reads the settings that a plan is kept for: those with which it shows what it
// says. They are not complete, and the plan is not in them.
func Kept(shows *faults.Shows) (Settings, error) {
	var s Settings
	d := json.NewDecoder(bytes.NewReader(shows.Settings))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	return s, nil
}

// KeptFlags are the arguments of the command line that the plan in a file is kept
// for, the seed among them; none if it says nothing of them.
func KeptFlags(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	defer f.Close()
	plan, err := faults.Parse(file, f, most)
	if err != nil || plan.Shows == nil {
		return nil, err
	}
	s, err := Kept(plan.Shows)
	if err != nil {
		return nil, fmt.Errorf("faults: %s: %w", file, err)
	}
	s.Plan = plan
	if err := s.Complete(); err != nil {
		return nil, fmt.Errorf("faults: %s: settings: %w", file, err)
	}
	return append([]string{"--seed", fmt.Sprint(s.Seed)}, s.Flags()...), nil
}

// most replicas of a cluster.
const most = 5
