package guards

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// line is one of the file of what is known of one specification: an answer, or a check
// that is green without a change.
type line struct {
	Answer *Answer `json:"answer,omitempty"`
	Green  string  `json:"green,omitempty"`
}

// open reads what was kept.
func (a *Asker) open() error {
	h := sha256.New()
	fmt.Fprintln(h, a.tool.Build, "ties and models")
	for _, d := range []string{"spec", traceModules} {
		err := fs.WalkDir(os.DirFS(filepath.Join(a.root, d)), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(a.root, d, name))
			fmt.Fprintf(h, "%q %q\n", name, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := os.MkdirAll(a.kept, 0o777); err != nil {
		return err
	}
	var err error
	a.file, err = os.OpenFile(filepath.Join(a.kept, hex.EncodeToString(h.Sum(nil)[:8])+".jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(a.file)
	any := false
	for lines.Scan() {
		any = true
		var x line
		switch err := json.Unmarshal(lines.Bytes(), &x); {
		case err != nil: // it was cut off
		case x.Answer != nil:
			a.answers[x.Answer.String()] = *x.Answer
		default:
			once := &sync.Once{}
			once.Do(func() {})
			a.green[x.Green] = once
		}
	}
	if err := lines.Err(); err != nil || !any {
		return err
	}
	_, err = a.file.WriteString("\n") // the last line may be cut off
	return err
}

// keep writes an answer down.
func (a *Asker) keep(x Answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[x.String()] = x
	return a.write(line{Answer: &x})
}

func (a *Asker) write(x line) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = a.file.Write(append(text, '\n'))
	return err
}

// Answer is what is known of a guard.
func (a *Asker) Answer(g Guard) Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x, ok := a.answers[g.String()]; ok {
		return x
	}
	return Answer{Guard: g}
}

// Close closes the file of answers.
func (a *Asker) Close() error { return a.file.Close() }
