package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"purgelab/traces/tlc"
)

// Took is how many states TLC reached by each action of a model, as
// "Ordered!PurgeBegin".
type Took struct {
	Model   string           `json:"model"`
	Actions map[string]int64 `json:"actions"`
}

// Count says of models that must pass which actions TLC takes in each. Answers are
// kept in the folder kept, in files that are named after all that TLC reads, and are
// used as long as that is the same. It is an error if one does not pass.
func Count(ctx context.Context, tool tlc.Tool, list []Model, kept string, o Options, done func()) ([]Took, error) {
	out := make([]Took, len(list))
	var ask []Model
	var at []int
	files := make([]string, len(list))
	for i := range list {
		m := &list[i]
		hash, err := m.hash(o.Dir, tool.Build)
		if err != nil {
			return nil, err
		}
		files[i] = filepath.Join(kept, "took-"+hash+".json")
		text, err := os.ReadFile(files[i])
		if errors.Is(err, os.ErrNotExist) {
			ask, at = append(ask, *m), append(at, i)
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, &out[i])
		}
		if err != nil {
			return nil, fmt.Errorf("models: %s: %w: remove it, and it is asked again", files[i], err)
		}
		out[i].Model = m.Name
		done()
	}
	o.Coverage = true
	var problems []error
	next := 0
	Check(ctx, tool, ask, o, func(c Outcome) {
		i := at[next]
		next++
		done()
		if c.Verdict != tlc.Pass || c.Got() != ExpectPass {
			problems = append(problems, fmt.Errorf("models: %s: %s", c.Model.Name, c.Problem))
			return
		}
		out[i] = Took{Model: c.Model.Name, Actions: Taken([]Outcome{c})}
		text, err := json.Marshal(out[i])
		if err == nil {
			err = os.WriteFile(files[i]+".new", text, 0o644)
		}
		if err == nil {
			err = os.Rename(files[i]+".new", files[i])
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("models: %w", err))
		}
	})
	return out, errors.Join(problems...)
}
