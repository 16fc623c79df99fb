package scenario

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

//go:embed files/*.txt
var embedded embed.FS

// Own lists the scenarios of this project by name, sorted.
func Own() ([]*Scenario, error) {
	names, err := fs.Glob(embedded, "files/*.txt")
	if err != nil {
		return nil, err
	}
	var out []*Scenario
	for _, name := range names {
		text, err := embedded.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s, err := Parse(strings.TrimPrefix(name, "files/"), string(text))
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Find gives one of this project's scenarios by its name, or reads a file. The
// error of a name that is none lists those that are.
func Find(name string) (*Scenario, error) {
	own, err := Own()
	if err != nil {
		return nil, err
	}
	for _, s := range own {
		if s.Name == name {
			return s, nil
		}
	}
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) && !strings.ContainsAny(name, "./") {
		names := ""
		for _, s := range own {
			names += "\n  " + s.Name
		}
		return nil, fmt.Errorf("scenario %q: no such one: want a file, or one of%s", name, names)
	}
	if err != nil {
		return nil, err
	}
	return Parse(name, string(text))
}
