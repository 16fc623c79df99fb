package minimize

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"purgelab/linearizability/run"
)

// memory is what was tried. With a file, the same work goes on where it was: all that
// it had tried is answered at once. One line is the name of a case and its colour; the
// first line says of what.
type memory struct {
	mu      sync.Mutex
	red     map[string]bool
	counted map[string]bool
	file    *os.File // nil: nothing is kept
	err     error
}

// remember opens the memory of some work. A file of other work is refused.
func remember(file, work string) (*memory, error) {
	m := &memory{red: map[string]bool{}, counted: map[string]bool{}}
	if file == "" {
		return m, nil
	}
	head := fmt.Sprintf("%s of revision %s", work, run.Versions()["purgelab"])
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, fmt.Errorf("minimize: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("minimize: %w", err)
	default:
		if got := m.read(string(old)); got != head {
			return nil, fmt.Errorf("minimize: %s is of other work: want %q, got %q: remove it, or choose another folder", file, head, got)
		}
	}
	m.file, err = os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err == nil && len(old) == 0 {
		_, err = fmt.Fprintln(m.file, head)
	}
	if err != nil {
		return nil, fmt.Errorf("minimize: %w", err)
	}
	return m, nil
}

// read takes the lines of a file and gives the first. One that was not written to its
// end says nothing.
func (m *memory) read(text string) (head string) {
	in := bufio.NewScanner(strings.NewReader(text))
	if in.Scan() {
		head = in.Text()
	}
	for in.Scan() {
		switch key, colour, _ := strings.Cut(in.Text(), " "); colour {
		case "red":
			m.red[key] = true
		case "green":
			m.red[key] = false
		}
	}
	return head
}

// get tells whether a case was red, if it was tried.
func (m *memory) get(key string) (red, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	red, known = m.red[key]
	return red, known
}

func (m *memory) put(key string, red bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.red[key] = red
	if m.file == nil || m.err != nil {
		return
	}
	colour := "green"
	if red {
		colour = "red"
	}
	_, m.err = fmt.Fprintln(m.file, key, colour)
}

// count tells whether a case is counted for the first time.
func (m *memory) count(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counted[key] {
		return false
	}
	m.counted[key] = true
	return true
}

func (m *memory) close() error {
	if m.file == nil {
		return nil
	}
	return errors.Join(m.err, m.file.Close())
}
