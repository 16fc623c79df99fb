package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"purgelab/traces"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// coverageKept is where TLC's answers are kept for the page of coverage.
var coverageKept = filepath.Join("out", "coverage")

// countedModels are those of the smoke tier that must pass, and what TLC takes in
// each.
func countedModels(ctx context.Context, root string, tool tlc.Tool, log io.Writer) ([]models.Took, error) {
	_, list, err := loadModels()
	if err != nil {
		return nil, err
	}
	if list, err = models.Select(list, "smoke", nil); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	list = slices.DeleteFunc(list, func(m models.Model) bool { return m.Expect != models.ExpectPass })
	kept := filepath.Join(root, coverageKept)
	if err := makeFolder("state", kept); err != nil {
		return nil, err
	}
	b := newBar(log, len(list), "models")
	defer b.done()
	took, err := models.Count(ctx, tool, list, kept, models.Options{Dir: filepath.Join(root, "spec")}, b.step)
	if err != nil {
		return nil, undecidedError("%w", err)
	}
	return took, nil
}

// coveragePage is docs/coverage.md: for each design its actions and situations as
// traces show them, with the models that take each action; then the actions of which
// there is no trace.
func coveragePage(rows []traces.Shown, took []models.Took, actions map[string][]string, count int) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Coverage

How often the traces of %s show each action of the specification, and each situation that matters to a purge, with
the first run that does; and how many states TLC reaches by each action in the models of the smoke tier that pass.
`+"`make coverage`"+` writes this page. A test fails if what a trace can show is never seen.
`, plural(count, "fixed run"))
	in := func(action string) string {
		var list []string
		for _, m := range took {
			if n := m.Actions[action]; n > 0 {
				list = append(list, fmt.Sprintf("%s %d", m.Model, n))
			}
		}
		return strings.Join(list, ", ")
	}
	traced := map[string]bool{}
	design := ""
	situations := false
	for i := range rows {
		r := &rows[i]
		action := strings.Contains(r.What, "!")
		if r.Design != design {
			design, situations = r.Design, false
			fmt.Fprintf(&b, "\n## %s\n\n| action | traces | first | models |\n|---|---|---|---|\n", design)
		}
		if !action && !situations {
			situations = true
			b.WriteString("\n| situation | traces | first |\n|---|---|---|\n")
		}
		if action {
			traced[r.What] = true
			fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", r.What, r.Count, firstShown(r), in(r.What))
		} else {
			fmt.Fprintf(&b, "| %s | %d | %s |\n", r.What, r.Count, firstShown(r))
		}
	}
	b.WriteString("\n## Actions of modules that no trace is held against\n\n| action | models |\n|---|---|\n")
	for _, module := range slices.Sorted(maps.Keys(actions)) {
		for _, a := range actions[module] {
			if name := module + "!" + a; !traced[name] {
				fmt.Fprintf(&b, "| `%s` | %s |\n", name, in(name))
			}
		}
	}
	return b.String()
}

// firstShown is the line of the first run, or why there is none.
func firstShown(r *traces.Shown) string {
	switch {
	case r.Count > 0:
		run := "`" + strings.TrimPrefix(r.Trace, "purgelab run ") + "`"
		if r.Held != "" {
			return run + "; held to " + r.Held
		}
		return run
	case r.Never != "":
		return "in no trace: " + r.Never
	}
	return "**never seen**"
}
