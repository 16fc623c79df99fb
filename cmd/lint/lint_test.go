package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// TestRules lints the little modules in testdata. Each holds its go.mod, the
// files that break one rule next to files that keep it, and a file named want
// with the findings, which is empty only for clean.txtar.
func TestRules(t *testing.T) {
	samples, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	bitten := map[string]bool{}
	for _, sample := range samples {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			a, err := txtar.ParseFile(sample)
			require.NoError(t, err)
			dir, want := t.TempDir(), ""
			for _, f := range a.Files {
				if f.Name == "want" {
					want = string(f.Data)
					continue
				}
				name := filepath.Join(dir, filepath.FromSlash(f.Name))
				require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
				require.NoError(t, os.WriteFile(name, f.Data, 0o644))
			}
			found, err := lint(dir)
			require.NoError(t, err)
			var got strings.Builder
			for _, f := range found {
				bitten[f.Rule] = true
				got.WriteString(f.String() + "\n")
			}
			if os.Getenv("REWRITE") != "" {
				rewrite(t, sample, a, got.String())
				return
			}
			require.Equal(t, want, got.String())
			require.Equal(t, filepath.Base(sample) == "clean.txtar", want == "")
		})
	}
	for _, rule := range []string{
		"arrow", "clock", "dead-link", "file-length", "global-rand", "goroutine", "import", "local-path",
		"map-order", "package-comment", "registry-host", "spec-no-go", "top-level",
	} {
		require.True(t, bitten[rule], "no sample breaks rule %s", rule)
	}
}

// rewrite puts what lint says into the sample; the diff is then reviewed.
func rewrite(t *testing.T, sample string, a *txtar.Archive, got string) {
	for i := range a.Files {
		if a.Files[i].Name == "want" {
			a.Files[i].Data = []byte(got)
		}
	}
	require.NoError(t, os.WriteFile(sample, txtar.Format(a), 0o644))
}

// TestEveryArrowHasASample: an arrow that no sample breaks may have rotted.
func TestEveryArrowHasASample(t *testing.T) {
	raw, err := os.ReadFile("testdata/arrows.txtar")
	require.NoError(t, err)
	for _, a := range arrows {
		require.Contains(t, string(raw), a.Why)
	}
}

func TestUncompilablePackageIsAnError(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module purgelab\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "model"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model", "m.go"), []byte("// Package model.\npackage model\n\nvar x int = \"no\"\n"), 0o644))
	_, err := lint(dir)
	require.ErrorContains(t, err, "purgelab/model")
}
