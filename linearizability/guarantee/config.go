package guarantee

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// config is a configuration of TLC.
type config struct {
	head                   string // all but the two lists
	invariants, properties []string
}

// config reads the configuration of a level, with its constants set and the
// properties left out that are known to be violated. A refinement counts only where
// it has the name of a property.
func (l *level) config(dir string, known []string) (*config, error) {
	raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.cfg)))
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	text := string(raw)
	for _, k := range slices.Sorted(maps.Keys(l.set)) {
		line := regexp.MustCompile(`(?m)^    ` + regexp.QuoteMeta(k) + ` (=|<-) .*$`)
		if !line.MatchString(text) {
			return nil, fmt.Errorf("models: spec/%s sets no constant %s", l.cfg, k)
		}
		text = line.ReplaceAllLiteralString(text, "    "+k+" "+l.set[k])
	}
	return parseConfig(text).only(func(p string) bool {
		p = l.called(p)
		return !strings.HasPrefix(p, "Refines") && !strings.HasSuffix(p, "Spec") && !slices.Contains(known, p) && (l.only == nil || slices.Contains(l.only, p))
	}), nil
}

func parseConfig(text string) *config {
	c := &config{}
	var list *[]string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 0 && line[0] != ' ' {
			switch words[0] {
			case "INVARIANT", "INVARIANTS":
				list, words = &c.invariants, words[1:]
			case "PROPERTY", "PROPERTIES":
				list, words = &c.properties, words[1:]
			default:
				list = nil
			}
		}
		if list == nil {
			c.head += line
		} else {
			*list = append(*list, words...)
		}
	}
	return c
}

func (c *config) String() string {
	out := c.head
	for _, l := range []struct {
		word string
		list []string
	}{{"INVARIANTS", c.invariants}, {"PROPERTIES", c.properties}} {
		if len(l.list) > 0 {
			out += l.word + "\n    " + strings.Join(l.list, "\n    ") + "\n"
		}
	}
	return out
}

// all are the properties that are asked.
func (c *config) all() []string { return append(slices.Clone(c.invariants), c.properties...) }

// only keeps the properties that keep wants.
func (c *config) only(keep func(string) bool) *config {
	drop := func(p string) bool { return !keep(p) }
	return &config{c.head, slices.DeleteFunc(slices.Clone(c.invariants), drop), slices.DeleteFunc(slices.Clone(c.properties), drop)}
}
