package models

import (
	"fmt"
	"os"
	"path/filepath"
)

// landmark is a file by which the project's folder is known.
var landmark = filepath.Join("spec", "Partition.tla")

// Root finds the project's folder: the working folder or one above it, or else
// one above the running program.
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
			if _, err := os.Stat(filepath.Join(dir, landmark)); err == nil {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", fmt.Errorf("%s: not found in %v or above: run purgelab within its project", landmark, starts)
}

// ToolFolder is where the project keeps the tools that it fetches.
func ToolFolder(root string) string { return filepath.Join(root, ".tools") }
