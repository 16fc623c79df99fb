package replay

import (
	"fmt"
	"maps"
	"slices"
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
// An append of a client that has a session ends with its name, and a store with bare if the
// client sends the offset alone: the generation is that which it has it from.
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
			if a.Action != "Boot" && a.Action != "PowerLoss" || name == "kept" || name == "applied" {
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
		if o["bare"] == true {
			words = append(words, "bare")
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

// Action reads what Words wrote of an action of a group of n replicas of a design, or of one
// replica of which the group is not shown if n is 0. An error says which word is wrong,
// counted from 0.
func Action(words []string, design string, n int) (a *behaviours.Act, at int, err error) {
	a = &behaviours.Act{With: map[string]any{}}
	a.Action = observe.Action(words[0])
	needs, ok := Parameters(design, n > 0)[a.Action]
	if !ok {
		return nil, 0, fmt.Errorf("action %q: no action of the specification that a replica is led through", words[0])
	}
	for at = 1; at < len(words); at++ {
		name, value, ok := strings.Cut(words[at], "=")
		if !ok {
			break
		}
		switch {
		case name == "r", name == "of":
			a.With[name] = value
			id, err := replicaOf(name, value, n)
			if err != nil {
				return nil, at, err
			}
			if name == "r" {
				a.Replica = id
			}
		case slices.Contains(asWords, name):
			a.With[name] = value
		default:
			if a.With[name], err = counting(name, value, 0); err != nil {
				return nil, at, err
			}
		}
	}
	if at < len(words) {
		if at, err = concerning(a, words, at); err != nil {
			return nil, at, err
		}
	}
	if err := lacks(a, needs); err != nil {
		return nil, 0, err
	}
	return a, len(words), nil
}

// concerning reads the op or the read with which an action ends.
func concerning(a *behaviours.Act, words []string, from int) (at int, err error) {
	kind, rest := words[from], words[from+1:]
	o := map[string]any{"k": kind}
	fields, ok := opWords[kind]
	if read, is := readWords[kind]; is {
		o = map[string]any{"f": kind}
		a.With["q"], fields, ok = o, read, true
	} else {
		a.With["o"] = o
	}
	if len(rest) == len(fields)+1 {
		switch last := rest[len(fields)]; {
		case kind == "append":
			o["id"], rest = last, rest[:len(fields)]
		case kind == "store" && last == "bare":
			o["bare"], rest = true, rest[:len(fields)]
		}
	}
	if !ok || len(rest) != len(fields) || o["id"] != nil && sessionOf(o) == "" {
		return from, fmt.Errorf("op %q: want one of %v with its words", strings.Join(words[from:], " "), slices.Sorted(maps.Keys(opWords)))
	}
	for i, field := range fields {
		word, at := rest[i], from+1+i
		switch {
		case field == "key":
			if o[field] = any(word); word != keyName(keyOf(word)) {
				return at, fmt.Errorf("key %q: want k1, or another number", word)
			}
		case slices.Contains(inWords, field):
			o[field] = any(word)
		default:
			least := 0
			if kind == "advance" || kind == "store" && field == "g" {
				least = -1 // the end; no generation
			}
			if o[field], err = counting(field, word, least); err != nil {
				return at, err
			}
		}
	}
	return from, meant(a)
}
