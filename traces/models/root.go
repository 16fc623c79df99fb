package models

import (
	"fmt"
	"os"
	"path/filepath"
)

// Root finds the project's folder, the one that holds spec/manifest.json: the
// working folder or one above it, or else one above the running program.
func Root() (string, error) {
	var starts []string
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, start := range starts {
		for dir := start; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "spec", Manifest)); err == nil {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", fmt.Errorf("spec/%s: not found in %v or above: run purgelab within its project", Manifest, starts)
}

// ToolFolder is where the project keeps the tools that it fetches.
func ToolFolder(root string) string { return filepath.Join(root, ".tools") }
