package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"purgelab/linearizability/run"
	"purgelab/linearizability/strictjson"
)

// makeFolder makes the folder that a flag names. What stands in its way is the
// user's to move.
func makeFolder(flag, dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usageError("--%s %s: want a folder, got a file", flag, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usageError("--%s: %w", flag, err)
	}
	return nil
}

// claimRunFolder makes dir ready for the files of a run. The folder may hold the
// files of the same run, which are replaced; those of another one, or a part of
// one, are refused unless forced, so that no folder ever holds files of two runs.
func claimRunFolder(dir string, s *run.Settings, force bool) error {
	if err := makeFolder("out", dir); err != nil {
		return err
	}
	own, err := runFilesIn(dir)
	if err != nil || len(own) == 0 {
		return err
	}
	if !force {
		name := filepath.Join(dir, run.RecordFile)
		raw, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return usageError("--out %s: it holds %s and no %s: want an empty folder, or --force", dir, filepath.Base(own[0]), run.RecordFile)
		}
		if err != nil {
			return usageError("--out: %w", err)
		}
		var old run.Record
		if err := strictjson.DecodeOwn(raw, &old); err != nil {
			return usageError("%s: %w: want an empty folder, or --force", name, err)
		}
		if got, want := old.Settings.Replay(), s.Replay(); got != want {
			return usageError("--out %s: it holds another run: want an empty folder, or --force\n  there  %s\n  now    %s", dir, got, want)
		}
	}
	for _, f := range own {
		if err := os.Remove(f); err != nil {
			return fmt.Errorf("run: %w", err)
		}
	}
	return nil
}

// runFilesIn lists the files in dir that a run writes.
func runFilesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		switch name := e.Name(); name {
		case run.HistoryFile, run.TraceFile, run.PlanFile, run.ScriptFile, run.RecordFile, run.RejectedFile, reportFile:
			out = append(out, filepath.Join(dir, name))
		default:
			if page, _ := filepath.Match("porcupine-p*.html", name); page {
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	return out, nil
}
