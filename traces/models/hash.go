package models

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

var words = regexp.MustCompile(`\w+`)

// HashModule hashes a module and all that its text names, each once: those that it
// extends and instantiates are among them. One that is in none of the folders is TLC's
// own, or only a word.
func HashModule(h io.Writer, dirs []string, name string) error {
	return hashModule(h, dirs, name, map[string]bool{})
}

func hashModule(h io.Writer, dirs []string, name string, seen map[string]bool) error {
	if seen[name] {
		return nil
	}
	seen[name] = true
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, name+".tla"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %q\n", name, text)
		for _, word := range words.FindAllString(string(text), -1) {
			if err := hashModule(h, dirs, word, seen); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// hash is that of all that TLC reads of a model, and of the TLC that reads it.
func (m *Model) hash(dir, build string) (string, error) {
	h := sha256.New()
	cfg, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(m.Cfg)))
	if err != nil {
		return "", fmt.Errorf("models: %w", err)
	}
	fmt.Fprintf(h, "%q %q %q %q %d %d %d\n", build, m.Module, cfg, m.Mode, m.Count, m.Steps, m.Seed)
	path := filepath.Join(dir, filepath.FromSlash(m.Module))
	name := filepath.Base(path)
	if err := HashModule(h, []string{filepath.Dir(path), dir}, name[:len(name)-len(filepath.Ext(name))]); err != nil {
		return "", fmt.Errorf("models: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
