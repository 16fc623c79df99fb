package guarantee

import (
	"fmt"
	"strings"

	"purgelab/traces/tlc"
)

// way is a counterexample in words: its actions with the replica and the kind of op,
// where `last` tells them; the same ones in a row once.
func way(trace []tlc.Step) string {
	var words []string
	for i := range trace {
		if i > 0 { // the first is the initial state
			words = append(words, step(&trace[i]))
		}
	}
	var out []string
	for i := 0; i < len(words); {
		n := i + 1
		for n < len(words) && words[n] == words[i] {
			n++
		}
		if word := words[i]; n-i > 1 {
			out = append(out, fmt.Sprintf("%s ×%d", word, n-i))
		} else {
			out = append(out, word)
		}
		i = n
	}
	return strings.Join(out, ", ")
}

func step(s *tlc.Step) string {
	word := s.Action
	last, _ := s.Lookup("last")
	if r, ok := last.Field("r"); ok && r.Shape == tlc.Atom {
		word += " " + r.Text
	}
	op, ok := last.Field("o")
	if !ok {
		op = last
	}
	if k, ok := op.Field("k"); ok && k.Shape == tlc.Atom {
		word += " " + strings.Trim(k.Text, `"`)
	}
	return word
}
