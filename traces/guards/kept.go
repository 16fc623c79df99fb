package guards

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
)

// question is one that a check is asked.
type question struct {
	Check string `json:"check"`
	Reads string `json:"reads"`           // a hash of all that it reads, as that is without a change
	Guard string `json:"guard,omitempty"` // what is changed; empty: nothing
}

// kept are answers, in a file that outlives the program.
type kept struct {
	mu      sync.Mutex
	file    *os.File
	answers map[question]string // what the check says; nothing: it is green
	by      map[string]string   // who noticed a guard, perhaps before what it reads was changed
}

// line is one of the file.
type line struct {
	question
	Says string `json:"says,omitempty"`
}

// openKept reads what was kept in a folder.
func openKept(dir string) (*kept, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "answers.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	k := &kept{file: file, answers: map[question]string{}, by: map[string]string{}}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var x line
		if json.Unmarshal(lines.Bytes(), &x) == nil { // one that was cut off says nothing
			k.note(x.question, x.Says)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(k.answers) > 0 {
		_, err = file.WriteString("\n") // the last line may be cut off
	}
	return k, err
}

func (k *kept) note(q question, says string) {
	k.answers[q] = says
	if says != "" && says != senseless {
		k.by[q.Guard] = q.Check
	}
}

// noticedBy is a check that noticed a guard when it was asked last.
func (k *kept) noticedBy(g *Guard) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.by[g.String()]
}

// answer is what was answered.
func (k *kept) answer(q question) (says string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	says, ok = k.answers[q]
	return says, ok
}

// keep writes an answer down.
func (k *kept) keep(q question, says string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.note(q, says)
	text, err := json.Marshal(line{q, says})
	if err != nil {
		return err
	}
	_, err = k.file.Write(append(text, '\n'))
	return err
}

func (k *kept) close() error { return k.file.Close() }
