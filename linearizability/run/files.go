package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/cespare/xxhash/v2"

	"purgelab/impl/sim"
	"purgelab/impl/vfs/faultfs"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/history"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/verdict"
	"purgelab/traces"
)

// Names of the files in a run's folder.
const (
	RecordFile  = "run.json"
	HistoryFile = "history.jsonl"
	TraceFile   = "trace.ndjson"
	PlanFile    = "faults.json"
	ScriptFile  = "workload.jsonl"
	// RejectedFile is there if the specification does not accept the trace.
	RejectedFile = "trace-rejected.txt"
)

// Record is what run.json holds: all that the run depended on, and what came of
// it.
type Record struct {
	Settings Settings          `json:"settings"`
	Versions map[string]string `json:"versions"`
	Replay   string            `json:"replay"` // comes to the same verdict
	// Digest is over the bytes of the history and of the trace; the same
	// settings and the same revision give the same.
	Digest     string                `json:"digest"`
	Verdict    verdict.Verdict       `json:"verdict"`
	Results    []verdict.Result      `json:"results"`
	Violations []invariant.Violation `json:"violations,omitempty"`
	Operations int                   `json:"operations"`
	Steps      uint64                `json:"steps"`
	Millis     int64                 `json:"simulatedMilliseconds"`
	Effects    sim.Effects           `json:"effects"`
	Faults     map[faults.Kind]int   `json:"faultsInEffect"`
}

// versionOf are the modules that decide what a run does.
var versionOf = []string{"go.etcd.io/raft/v3", "github.com/anishathalye/porcupine", "github.com/fxamacker/cbor/v2"}

// Versions names the revision of this program, and what it was built with.
func Versions() map[string]string {
	out := map[string]string{"go": runtime.Version(), "purgelab": "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			out["purgelab"] = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				out["modified"] = "true"
			}
		}
	}
	for _, m := range info.Deps {
		for _, name := range versionOf {
			if m.Path == name {
				out[name] = m.Version
			}
		}
	}
	return out
}

// WriteHistory writes the history as JSON lines.
func (r *Result) WriteHistory(w io.Writer) error { return history.Write(w, r.History) }

// WriteTrace writes the trace as NDJSON.
func (r *Result) WriteTrace(w io.Writer) error {
	settings, err := json.Marshal(r.Settings)
	if err != nil {
		return err
	}
	t := traces.NewWriter(w, traces.Header{
		Design: r.Settings.Design, Replicas: r.Settings.Replicas, Partitions: r.Partitions, Variant: r.Settings.Variant,
		Messages: r.Settings.Messages, Bookmarks: r.Settings.Bookmarks, Silent: r.silent(), Events: traces.Count(r.Trace), Replay: r.Settings.Replay(), Settings: settings,
	})
	for i := range r.Trace {
		t.Observe(r.Trace[i])
	}
	return t.Close()
}

// silent are the ways in which a disk lost a write and said nothing.
func (r *Result) silent() []string {
	var out []string
	for _, x := range []struct {
		action faultfs.Action
		count  int
	}{
		{faultfs.DropWrite, r.Effects.LostWrites}, {faultfs.Misdirect, r.Effects.Misdirected}, {faultfs.BitFlip, r.Effects.FlippedWrites},
	} {
		if x.count > 0 {
			out = append(out, string(x.action))
		}
	}
	return out
}

// Digest hashes the bytes of the history and of the trace.
func (r *Result) Digest() (string, error) {
	h := xxhash.New()
	if err := errors.Join(r.WriteHistory(h), r.WriteTrace(h)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x", h.Sum64()), nil
}

// Record sums the result up for run.json.
func (r *Result) Record() (*Record, error) {
	d, err := r.Digest()
	if err != nil {
		return nil, err
	}
	return &Record{
		Settings: r.Settings, Versions: Versions(), Replay: r.replay(), Digest: d,
		Verdict: r.Verdict, Results: r.Results, Violations: r.Violations,
		Operations: r.Ops, Steps: r.Steps, Millis: r.Millis, Effects: r.Effects, Faults: r.Faults,
	}, nil
}

// Write makes the run's folder: run.json, history.jsonl, trace.ndjson, and the plan
// of faults and what clients asked, which can be edited and given back to --faults
// and --workload.
func (r *Result) Write(dir string) error {
	rec, err := r.Record()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{HistoryFile, r.WriteHistory},
		{TraceFile, r.WriteTrace},
		{PlanFile, r.Plan.Write},
		{ScriptFile, r.Workload.Write},
		{RecordFile, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }},
	}
	if r.Rejection != "" {
		files = append(files, struct {
			name  string
			write func(io.Writer) error
		}{RejectedFile, func(w io.Writer) error { _, err := io.WriteString(w, r.Rejection); return err }})
	}
	for _, f := range files {
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			return fmt.Errorf("run: %s: %w", f.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("run: %w", err)
		}
	}
	return nil
}
