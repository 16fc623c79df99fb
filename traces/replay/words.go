package replay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"purgelab/impl/observe"
	"purgelab/traces/behaviours"
)

// This file writes actions as people do, and reads them: the name, parameters, and the
// op or the read if there is one.
//
//	Boot
//	Materialize n=3 commit k1 1
//	PowerLoss keep=p0+marker
//	Propose n=2 append 1 c1
//	Answer r=r2 poll k1 next 3 earliest

// opWords are the fields of an op after its kind, in the order in which they are written.
// An append of a client that has a session ends with its name.
var opWords = map[string][]string{
	"append": {"n"}, "store": {"key", "o", "g"}, "commit": {"key", "n"}, "delete": {"key"}, "advance": {"o"}, "purge": {"g"}, "other": {},
}

// readWords are those of a read.
var readWords = map[string][]string{
	"poll": {"key", "strategy", "max", "reset"}, "get": {"key"}, "list": {"which"},
}

// inWords are fields whose values are no numbers.
var inWords = []string{"key", "strategy", "reset", "which"}

// Words writes an action. What is computed from the state is left out.
func Words(a *behaviours.Act) string {
	words := []string{string(a.Action)}
	if r, ok := a.With["r"].(string); ok {
		words = append(words, "r="+r)
	}
	for _, name := range slices.Sorted(maps.Keys(a.With)) {
		if name == "r" {
			continue
		}
		switch v := a.With[name].(type) {
		case float64:
			if a.Action != "Boot" && a.Action != "PowerLoss" || name == "kept" {
				words = append(words, fmt.Sprintf("%s=%d", name, int(v)))
			}
		case string:
			words = append(words, name+"="+v)
		case map[string]any:
			if name == "x" { // what is offered
				words = append(words, fmt.Sprintf("n=%d g=%d floor=%d", integer(v["n"]), integer(v["g"]), integer(v["floor"])))
			}
		}
	}
	if o, ok := a.With["o"].(map[string]any); ok {
		kind := fmt.Sprint(o["k"])
		words = append(words, kind)
		for _, field := range opWords[kind] {
			words = append(words, shortly(o[field]))
		}
		if id := sessionOf(o); id != "" {
			words = append(words, id)
		}
	}
	if q, ok := a.With["q"].(map[string]any); ok {
		kind := fmt.Sprint(q["f"])
		words = append(words, kind)
		for _, field := range readWords[kind] {
			words = append(words, shortly(q[field]))
		}
	}
	return strings.Join(words, " ")
}

// Action reads what Words wrote of an action of a group of n replicas, or of one replica of
// which the group is not shown if n is 0. An error says which word is wrong, counted from 0.
func Action(words []string, n int) (a *behaviours.Act, at int, err error) {
	a = &behaviours.Act{With: map[string]any{}}
	if !led(observe.Action(words[0]), n > 0) {
		return nil, 0, fmt.Errorf("action %q: no action of the specification that a replica is led through", words[0])
	}
	a.Action = observe.Action(words[0])
	at = 1
	for ; at < len(words); at++ {
		name, value, ok := strings.Cut(words[at], "=")
		if !ok {
			break
		}
		if a.With[name] = any(value); name == "keep" || name == "step" || name == "of" || name == "k" {
			continue
		}
		number := value
		if name == "r" {
			number = strings.TrimPrefix(value, "r")
		}
		i, err := strconv.Atoi(number)
		switch {
		case name == "r" && (err != nil || number == value || i < 1 || i > n):
			return nil, at, fmt.Errorf("r %q: want r1 to r%d", value, n)
		case name == "r":
			a.Replica = i
		case err != nil:
			return nil, at, fmt.Errorf("%s %q: want a number", name, value)
		default:
			a.With[name] = float64(i)
		}
	}
	if at == len(words) {
		return a, at, nil
	}
	o := map[string]any{"k": words[at]}
	fields, ok := opWords[words[at]]
	if read, is := readWords[words[at]]; is {
		a.With["q"], o["f"], fields, ok = o, words[at], read, true
	} else {
		a.With["o"] = o
	}
	rest := words[min(at+1, len(words)):]
	if len(rest) == len(fields)+1 && words[at] == "append" {
		o["id"] = rest[len(fields)]
		rest = rest[:len(fields)]
	}
	if !ok || len(rest) != len(fields) || o["id"] != nil && sessionOf(o) == "" {
		return nil, at, fmt.Errorf("op %q: want one of %v with its words", strings.Join(words[at:], " "), slices.Sorted(maps.Keys(opWords)))
	}
	for i, field := range fields {
		word := rest[i]
		if o[field] = any(word); slices.Contains(inWords, field) {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, at + 1 + i, fmt.Errorf("%s %q: want a number", field, word)
		}
		o[field] = float64(n)
	}
	return a, len(words), nil
}

// led tells whether a table has an action: of a group, or of one replica.
func led(a observe.Action, group bool) bool {
	has := func(r Row) bool { return r.Action == a }
	if group {
		return slices.ContainsFunc(Groups, func(g Group) bool {
			return slices.ContainsFunc(g.Rows, func(r GroupRow) bool { return has(r.Row) })
		})
	}
	return slices.ContainsFunc(Table, func(d Design) bool { return slices.ContainsFunc(d.Rows, has) })
}
