package tlc

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tool finds TLC as users do; without Java or Maven the test fails and says
// what to install.
func tool(t *testing.T) Tool {
	t.Helper()
	found, err := Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	return found
}

func TestLiveRuns(t *testing.T) {
	tlc := tool(t)
	for _, c := range []struct {
		module, config string
		verdict        Verdict
		property       string
	}{
		{"Lamp.tla", "pass.cfg", Pass, ""},
		{"Lamp.tla", "refinement.cfg", Fail, "NeverUnplugged"},
		{"Blink.tla", "loop.cfg", Fail, "Settles"},
		{"Syntax.tla", "syntax.cfg", Undecided, ""},
	} {
		keep := t.TempDir()
		res, err := Run(context.Background(), tlc, Options{
			Dir: "testdata", Module: c.module, Config: c.config, Heap: "512m", Timeout: time.Minute, Coverage: true, Keep: keep,
		})
		require.NoError(t, err)
		require.Equal(t, c.verdict, res.Verdict, "%s: %s", c.config, res.Reason)
		require.Equal(t, c.property, res.Property, c.config)
		if c.verdict == Pass {
			require.EqualValues(t, 35, res.Distinct)
			require.Equal(t, 7, res.Depth)
			require.Len(t, res.Coverage, 3)
		}
		kept, err := filepath.Glob(filepath.Join(keep, "*.txt"))
		require.NoError(t, err)
		require.Len(t, kept, 1)
	}
}

func TestLiveSimulation(t *testing.T) {
	res, err := Run(context.Background(), tool(t), Options{
		Dir: "testdata", Module: "Blink.tla", Config: "simulatepass.cfg", Heap: "512m", Timeout: time.Minute, Simulate: 5, Depth: 8, Seed: 3,
	})
	require.NoError(t, err)
	require.Equal(t, Pass, res.Verdict, res.Reason)
	require.EqualValues(t, 41, res.Generated)
}

func TestTimeoutIsUndecided(t *testing.T) {
	res, err := Run(context.Background(), tool(t), Options{
		Dir: "testdata", Module: "Lamp.tla", Config: "pass.cfg", Heap: "512m", Timeout: 20 * time.Millisecond,
	})
	require.NoError(t, err)
	require.Equal(t, Undecided, res.Verdict)
	require.Contains(t, res.Reason, "no verdict after")
}
