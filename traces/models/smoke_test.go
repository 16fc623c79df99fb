package models

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

const specDir = "../../spec"

// TestSmokeTier runs the models of the smoke tier and compares with the
// manifest; and it demands that every action of every base module is taken in
// some model that passes, so that no check passes because nothing happens.
func TestSmokeTier(t *testing.T) {
	list, err := Load(specDir)
	require.NoError(t, err)
	list, err = Select(list, "smoke", nil)
	require.NoError(t, err)
	tool, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	outcomes := Check(context.Background(), tool, list, Options{Dir: specDir, Timeout: 5 * time.Minute, Coverage: true}, func(o Outcome) {
		if o.Verdict != tlc.Pass {
			t.Errorf("%s: %s: %s", o.Model.Name, o.Verdict, o.Problem)
		}
	})
	taken := Taken(outcomes)
	actions, err := Actions(specDir)
	require.NoError(t, err)
	require.Contains(t, actions["Ordered"], "PurgeBegin", "action headers are found")
	for module, names := range actions {
		for _, name := range names {
			if taken[module+"!"+name] == 0 {
				t.Errorf("no passing model of the smoke tier takes %s!%s", module, name)
			}
		}
	}
}

// Every model says why it is there, every defect's model expects a violation,
// and every configuration in the folder is in the manifest.
func TestManifestIsComplete(t *testing.T) {
	list, err := Load(specDir)
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, m := range list {
		listed[m.Cfg] = true
		require.NotEmpty(t, m.Why, m.Name)
		if m.Defect != "" {
			require.NotEqual(t, ExpectPass, m.Expect, m.Name)
		}
		if m.Expect == ExpectPass && m.Mode == "check" {
			require.NotZero(t, m.Distinct, m.Name)
		}
	}
	for _, pattern := range []string{"*.cfg", "*/*.cfg"} {
		files, err := globFrom(specDir, pattern)
		require.NoError(t, err)
		for _, f := range files {
			if !listed[f] {
				t.Errorf("spec/%s is not in the manifest", f)
			}
		}
	}
	var tiers []string
	for _, m := range list {
		tiers = append(tiers, m.Tier)
	}
	require.True(t, slices.Contains(tiers, "demo"))
}

func globFrom(dir, pattern string) ([]string, error) {
	return fs.Glob(os.DirFS(dir), pattern)
}
