package main

import (
	"fmt"
	"slices"
	"sort"

	"purgelab/linearizability/guarantee"
	"purgelab/linearizability/run"
)

// listing says of a violated property whether the guarantee matrix has it.
func listing(s *run.Settings, property string) string {
	if guarantee.Listed(guarantee.SubjectOf(s), property) {
		return "as listed in " + guarantee.Document
	}
	return "NOT listed"
}

// listings are those of many properties, for output by programs.
func listings(s *run.Settings, properties []string) map[string]string {
	if len(properties) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, p := range properties {
		out[p] = listing(s, p)
	}
	return out
}

// unlisted are the reds that the matrix does not have of their design: one property
// that it does not list is enough.
func unlisted(s *run.Settings, reds []run.Red) []run.Red {
	var out []run.Red
	for _, r := range reds {
		if len(r.Violated) == 0 || len(guarantee.Unlisted(guarantee.SubjectOf(s), r.Violated)) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// byProperty counts the red runs in which each property is violated.
func byProperty(s *run.Settings, reds []run.Red) *table {
	count, first := map[string]int{}, map[string]uint64{}
	var names []string
	for _, r := range reds {
		for _, p := range r.Violated {
			if count[p]++; count[p] == 1 {
				names = append(names, p)
				first[p] = r.Seed
			}
		}
	}
	slices.Sort(names)
	sort.SliceStable(names, func(i, j int) bool { return count[names[i]] > count[names[j]] })
	t := &table{header: []string{"violated", "runs", "first seed", "by nature?"}}
	for _, p := range names {
		t.add(p, fmt.Sprint(count[p]), fmt.Sprint(first[p]), listing(s, p))
	}
	return t
}
