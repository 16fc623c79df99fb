package models

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
)

// An action's header in a base module, as the specification writes it:
//
//	\* ACTION PurgeBegin
//	\* WHO    …
//
// Every action has one, so the headers are the list of all actions.
var reActionHeader = regexp.MustCompile(`(?m)^\s*\(?\\?\*+\s*ACTION:?\s+([A-Za-z_][A-Za-z0-9_]*)`)

// Actions lists the actions of the modules in dir, by module, from their
// headers. MC modules, which only bound a base module, have none.
func Actions(dir string) (map[string][]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tla"))
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("actions: %w", err)
		}
		module := filepath.Base(f)
		module = module[:len(module)-len(".tla")]
		for _, m := range reActionHeader.FindAllSubmatch(text, -1) {
			out[module] = append(out[module], string(m[1]))
		}
		sort.Strings(out[module])
	}
	return out, nil
}

// Taken counts, by module and action as "Ordered!PurgeBegin", how many states
// the passing models among the outcomes reached through it.
func Taken(outcomes []Outcome) map[string]int64 {
	out := map[string]int64{}
	for _, o := range outcomes {
		if o.Result == nil || o.Got() != ExpectPass {
			continue
		}
		for _, c := range o.Result.Coverage {
			out[c.Module+"!"+c.Action] += c.Total
		}
	}
	return out
}
