package tlc

import (
	"os"
	"regexp"
	"strings"
)

// Config is what a TLC configuration file asks to check.
type Config struct {
	Invariants []string
	Properties []string // temporal properties, refinement included
}

var (
	reBlockComment = regexp.MustCompile(`(?s)\(\*.*?\*\)`)
	reLineComment  = regexp.MustCompile(`\\\*[^\n]*`)
)

// configSections are the words that begin a section of a configuration file.
var configSections = map[string]bool{
	"SPECIFICATION": true, "INIT": true, "NEXT": true, "INVARIANT": true, "INVARIANTS": true,
	"PROPERTY": true, "PROPERTIES": true, "CONSTANT": true, "CONSTANTS": true, "CONSTRAINT": true,
	"CONSTRAINTS": true, "ACTION_CONSTRAINT": true, "ACTION_CONSTRAINTS": true, "SYMMETRY": true,
	"VIEW": true, "ALIAS": true, "CHECK_DEADLOCK": true, "POSTCONDITION": true,
}

// ReadConfig reads a configuration file.
func ReadConfig(path string) (Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	return parseConfig(string(b)), nil
}

func parseConfig(text string) Config {
	text = reBlockComment.ReplaceAllString(text, " ")
	text = reLineComment.ReplaceAllString(text, " ")
	var c Config
	section := ""
	for _, word := range strings.Fields(text) {
		switch {
		case configSections[word]:
			section = word
		case strings.HasPrefix(section, "INVARIANT"):
			c.Invariants = append(c.Invariants, word)
		case strings.HasPrefix(section, "PROPERT"):
			c.Properties = append(c.Properties, word)
		}
	}
	return c
}

// violated names the property that a violation message speaks of. TLC names
// an invariant, but says only "line 6, col 17 … of module Toggle" of a
// refinement and nothing at all of a temporal property; then the name is that
// of the one property of the configuration. With several it stays open, as
// text that equals no property's name.
func (c Config) violated(m Message) string {
	switch m.Number {
	case msgDeadlock:
		return Deadlock
	case msgAssumptionFalse:
		return Assumption
	}
	if f := reNamed.FindStringSubmatch(m.Text); f != nil && reName.MatchString(f[1]) {
		return f[1]
	}
	if len(c.Properties) == 1 {
		return c.Properties[0]
	}
	return "one of " + strings.Join(c.Properties, ", ")
}
