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
// op if there is one.
//
//	Boot
//	Materialize n=3 commit k1 1
//	PowerLoss keep=p0+marker

// opWords are the fields of an op after its kind, in the order in which they are written.
var opWords = map[string][]string{
	"append": {"n"}, "store": {"key", "o", "g"}, "commit": {"key", "n"}, "delete": {"key"}, "advance": {"o"}, "purge": {"g"},
}

// Words writes an action. What is computed from the state is left out.
func Words(a *behaviours.Act) string {
	words := []string{string(a.Action)}
	for _, name := range slices.Sorted(maps.Keys(a.With)) {
		switch v := a.With[name].(type) {
		case float64:
			if a.Action != "Boot" && a.Action != "PowerLoss" {
				words = append(words, fmt.Sprintf("%s=%d", name, int(v)))
			}
		case string:
			words = append(words, name+"="+v)
		}
	}
	if o, ok := a.With["o"].(map[string]any); ok {
		kind := fmt.Sprint(o["k"])
		words = append(words, kind)
		for _, field := range opWords[kind] {
			words = append(words, shortly(o[field]))
		}
	}
	return strings.Join(words, " ")
}

// Action reads what Words wrote. An error says which word is wrong, counted from 0.
func Action(words []string) (a *behaviours.Act, at int, err error) {
	a = &behaviours.Act{With: map[string]any{}}
	if !slices.ContainsFunc(Table, func(d Design) bool {
		return slices.ContainsFunc(d.Rows, func(r Row) bool { return string(r.Action) == words[0] })
	}) {
		return nil, 0, fmt.Errorf("action %q: no action of the specification that a replica is led through", words[0])
	}
	a.Action = observe.Action(words[0])
	at = 1
	for ; at < len(words); at++ {
		name, value, ok := strings.Cut(words[at], "=")
		if !ok {
			break
		}
		if a.With[name] = any(value); name == "keep" || name == "step" || name == "k" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil, at, fmt.Errorf("%s %q: want a number", name, value)
		}
		a.With[name] = float64(n)
	}
	if at == len(words) {
		return a, at, nil
	}
	o := map[string]any{"k": words[at]}
	fields, ok := opWords[words[at]]
	if !ok || len(words) != at+1+len(fields) {
		return nil, at, fmt.Errorf("op %q: want one of %v with its words", strings.Join(words[at:], " "), slices.Sorted(maps.Keys(opWords)))
	}
	for i, field := range fields {
		word := words[at+1+i]
		if o[field] = any(word); field == "key" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, at + 1 + i, fmt.Errorf("%s %q: want a number", field, word)
		}
		o[field] = float64(n)
	}
	a.With["o"] = o
	return a, len(words), nil
}
