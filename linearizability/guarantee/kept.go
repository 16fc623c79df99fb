package guarantee

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"purgelab/traces/models"
)

// Answers of TLC are kept in files that are named after all that was asked: the build
// of TLC, the module, the text of the configuration, and the text of every module that
// is named there, and in those. An answer is found again while all of these are the
// same, whatever else of the program changes. What was not decided is not kept.

// answerFormat is raised when a kept answer must be asked for again although the
// question is the same: another form, or other words for a way.
const answerFormat = "1"

// question is the hash of all that TLC reads.
func (m *Models) question(l *level, c *config) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q\n", answerFormat, m.tool.Build, l.module, c.String())
	dirs := []string{filepath.Join(m.o.Dir, filepath.FromSlash(l.dir)), m.o.Dir}
	if err := models.HashModule(h, dirs, l.module); err != nil {
		return "", fmt.Errorf("models: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (m *Models) keptFile(question string) string {
	return filepath.Join(m.o.Keep, "model-"+question+".json")
}

// kept is the answer to a question that was asked before; nil if there is none.
func (m *Models) kept(question string) (*Model, error) {
	if m.o.Keep == "" {
		return nil, nil
	}
	file := m.keptFile(question)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	out := new(Model)
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("models: %s: %w: remove it, and it is asked again", file, err)
	}
	return out, nil
}

func (m *Models) keep(question string, answer *Model) error {
	if m.o.Keep == "" || answer.Open != "" {
		return nil
	}
	return writeWhole(m.keptFile(question), answer)
}
