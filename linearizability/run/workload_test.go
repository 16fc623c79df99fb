package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/workload"
)

// A run is the same to the byte when what its clients asked is read from a file.
func TestWorkloadOfAFile(t *testing.T) {
	for name, s := range map[string]Settings{
		"one":           {Seed: 3, Faults: "all"},
		"created again": {Seed: 5, Faults: "network", Recreate: 3, Partitions: 2, PurgeAck: "mixed"},
		"bare":          {Seed: 6, Faults: "process", Positions: "bare", Design: "reset-record", Replicas: 1},
		"op numbers":    {Seed: 2, Faults: "power", Messages: "replicated", Design: "reset-record", Replicas: 1},
		"incarnations":  {Seed: 8, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated"},
		"compacted":     {Seed: 4, Faults: "all", Design: "advance", CompactOps: 20, Partitions: 2},
	} {
		t.Run(name, func(t *testing.T) {
			first := mustRun(t, s)
			dir := t.TempDir()
			require.NoError(t, first.Write(dir))
			s.Faults, s.Workload = filepath.Join(dir, PlanFile), filepath.Join(dir, ScriptFile)
			again := mustRun(t, s)
			var one, two strings.Builder
			require.NoError(t, first.WriteHistory(&one))
			require.NoError(t, again.WriteHistory(&two))
			require.Equal(t, one.String(), two.String())
			require.Equal(t, first.Trace, again.Trace)
			require.Equal(t, first.Effects, again.Effects)
			require.NotContains(t, again.Settings.Replay(), "--ops")
			require.Contains(t, again.Settings.Replay(), "--workload "+s.Workload)
		})
	}
}

// A part of a script is a run, too.
func TestPartOfAWorkload(t *testing.T) {
	first := mustRun(t, Settings{Seed: 3, Faults: "all"})
	var few []workload.Step
	for i, step := range first.Workload.Steps {
		if i%30 == 0 {
			few = append(few, step)
		}
	}
	r := mustRun(t, Settings{Seed: 3, Plan: first.Plan, Script: &workload.Script{Steps: few}})
	require.Equal(t, len(few), r.Settings.Ops)
	require.Len(t, r.Workload.Steps, len(few))
}

func TestWorkloadThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "want at least one step, got none",
		"\n{\"client\":70}\n": ":2: client: want a number from 0 to 63",
		`{"client":0,"at":-1,"f":"append","value":{"payloads":["a"]},"partition":0}`:                 "want no negative time",
		`{"client":0,"at":1,"f":"register","partition":0}`:                                           `f "register": want recreate or one of`,
		`{"client":0,"at":1,"f":"append","value":{},"partition":0}`:                                  "payloads: want at least one",
		`{"client":0,"at":1,"f":"append","value":{"payloads":["a"],"session":1},"partition":0}`:      "want none: the run fills them in",
		`{"client":0,"at":1,"f":"append","value":{"payloads":["a"]},"partition":3}`:                  "partitions 1: want 4 or more",
		`{"client":0,"at":1,"f":"append","value":{"payloads":["a"]},"partition":0,"patients":"yes"}`: `unknown field "patients"`,
	} {
		file := filepath.Join(t.TempDir(), "w.jsonl")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		s := Settings{Workload: file}
		require.ErrorContains(t, s.Complete(), want, "%s", strings.TrimSpace(text))
	}
}
