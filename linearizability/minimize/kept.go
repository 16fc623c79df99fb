package minimize

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"purgelab/linearizability/run"
)

// keep writes what breaks and what clients ask in the smallest run into a folder, and
// nothing else, and gives the command that makes it again from there. A plan without
// faults is not written.
func (r *Result) keep(dir string) (replay string, err error) {
	s := r.Run.Settings
	s.Faults, s.Workload = filepath.Join(dir, run.PlanFile), filepath.Join(dir, run.ScriptFile)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("minimize: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("minimize: %w", err)
	}
	if r.Faults == 0 {
		s.Faults = "none"
	} else if err := writeTo(s.Faults, r.Run.Plan.Write); err != nil {
		return "", err
	}
	return s.Replay(), writeTo(s.Workload, r.Run.Workload.Write)
}

func writeTo(file string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = os.WriteFile(file, b.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("minimize: %w", err)
	}
	return nil
}
