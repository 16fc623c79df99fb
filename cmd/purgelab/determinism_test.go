package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTwoBuildsOneRun: the same seed gives the same bytes of history, trace and
// plan of faults, in processes of two builds, one of which is optimized and one
// not. It finds what no comparison within one process can: an order that comes
// from a hash seed, or a number that depends on how code was compiled.
func TestTwoBuildsOneRun(t *testing.T) {
	dir := t.TempDir()
	build := func(name string, flags ...string) string {
		program := filepath.Join(dir, name)
		args := append([]string{"build", "-o", program}, flags...)
		out, err := exec.Command("go", append(args, "purgelab/cmd/purgelab")...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return program
	}
	plain := build("plain")
	slow := build("slow", "-gcflags=purgelab/...=-N -l", "-ldflags=-s -w")
	for _, flags := range [][]string{
		{"--seed", "11", "--faults", "all", "--replicas", "3", "--ops", "200"},
		{"--seed", "12", "--faults", "power", "--replicas", "1", "--ops", "200"},
		{"--seed", "13", "--faults", "all", "--replicas", "5", "--ops", "200", "--partitions", "3"},
		{"--seed", "14", "--faults", "network", "--positions", "bare", "--ops", "200"},
	} {
		var want map[string]string
		for i, program := range []string{plain, slow, slow} {
			out := filepath.Join(t.TempDir(), "run")
			text, err := exec.Command(program, append([]string{"run", "--out", out}, flags...)...).CombinedOutput()
			require.NoError(t, err, "%v\n%s", flags, text)
			got := map[string]string{}
			for _, name := range []string{"history.jsonl", "trace.ndjson", "faults.json", "workload.jsonl"} {
				raw, err := os.ReadFile(filepath.Join(out, name))
				require.NoError(t, err)
				require.NotEmpty(t, raw)
				got[name] = string(raw)
			}
			if i == 0 {
				want = got
				continue
			}
			for name := range want {
				require.True(t, want[name] == got[name], "%v: %s differs between two builds", flags, name)
			}
		}
	}
}
