package model

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

// The contract is said twice, in spec/Contract.tla with spec/Partition.tla and in
// this package. The tests of this file hold the two against each other: TLC
// prints every transition of a bounded model of Partition, and each is made again
// by Step. The answer and the state after it must be the same; and whatever
// Step does with a request that is asked in one state, asked in every other state
// must be among what TLC printed.

const specDir = "../spec"

// maxEnd is MaxEnd of the configurations: no append goes beyond it.
const maxEnd = 2

// transitions runs a model of Partition, whose limits are those of one of the
// specification's own configurations, and returns what it printed.
func transitions(t *testing.T, spec, cfg string) []transition {
	t.Helper()
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(spec, cfg))
	require.NoError(t, err)
	limits, _, ok := strings.Cut(string(text), "INVARIANTS")
	require.True(t, ok, cfg)
	require.Contains(t, limits, fmt.Sprintf("MaxEnd = %d\n", maxEnd), cfg)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("Transitions.tla", `---- MODULE Transitions ----
EXTENDS MCPartition, TLC
Printed == PrintT(ToString(<<core, last', core', sent>>))
====
`)
	write("Transitions.cfg", limits+"ACTION_CONSTRAINT Printed\nVIEW View\nCHECK_DEADLOCK FALSE\n")
	library, err := filepath.Abs(spec)
	require.NoError(t, err)
	res, err := tlc.Run(context.Background(), tool, tlc.Options{Dir: dir, Module: "Transitions.tla", Config: "Transitions.cfg", Library: []string{library}, Timeout: 8 * time.Minute, Short: true})
	require.NoError(t, err)
	require.Equal(t, tlc.Pass, res.Verdict, "%s %v", res.Reason, res.Errors)

	lines := map[string]bool{} // most are printed many times
	seen := map[string]bool{}  // and some with the fields of a record in another order
	var out []transition
	for _, line := range res.Output {
		if lines[line] || !strings.HasPrefix(line, `"<<[`) {
			continue
		}
		lines[line] = true
		v, err := tlc.ParseValue(strings.ReplaceAll(strings.Trim(line, `"`), `\"`, `"`))
		require.NoError(t, err, line)
		v = v.Sorted()
		if key := v.String(); !seen[key] {
			seen[key] = true
			out = append(out, newTransition(v))
		}
	}
	return out
}

// judge replays transitions, and returns the first difference and counts.
func judge(sem Semantics, all []transition) (difference string, replayed, aside int) {
	requests := map[string]*asked{}
	made := map[string]bool{}
	cores := map[string]tlc.Value{}
	for _, x := range all {
		core := x.core.String()
		cores[core] = x.core
		if x.aside() {
			aside++
			continue
		}
		replayed++
		if d := x.replay(sem); d != "" {
			return fmt.Sprintf("%s\nin %s:\n%s", x.last, x.core, d), replayed, aside
		}
		if a, ok := x.unnumbered(); ok {
			requests[a.name] = a
			made[core+a.name] = true
		}
	}
	// The other way: what was asked anywhere is asked everywhere.
	for core, v := range cores {
		for name, a := range requests {
			if made[core+name] || a.beyond(v) {
				continue
			}
			return fmt.Sprintf("%s is never asked in %s", name, core), replayed, aside
		}
	}
	return "", replayed, aside
}

// allAnswers are those that transitions have to hold between them: each operation with
// each code that it can be answered with. none is an unknown outcome, any and repeat are
// whatever is asked of an incarnation that is over, or asked again.
var allAnswers = []string{
	"any StaleIncarnation", "append SessionExpired", "append none", "append ok", "delete NotFound", "delete ok",
	"delete-records Mismatch", "delete-records OffsetOutOfRange", "delete-records StaleGeneration", "delete-records ok",
	"get ok", "list ok", "new-incarnation none", "poll Gone", "poll OffsetOutOfRange", "poll SessionExpired",
	"poll StaleGeneration", "poll StaleIncarnation", "poll ok", "purge Mismatch", "purge none", "purge ok", "register ok",
	"repeat Gone", "repeat SessionExpired", "repeat StaleSequence", "repeat ok", "store InvalidOffset",
	"store StaleGeneration", "store StaleIncarnation", "store ok",
}

func TestModelIsSpec(t *testing.T) {
	total, answers := 0, map[string]bool{}
	distinct := map[string]bool{} // whatever model they are of
	for _, x := range []struct {  // the smallest first
		cfg string
		sem Semantics
	}{
		{"MCPartitionContinue.cfg", Semantics{Numbering: Continue}},
		{"MCPartitionSessionsFew.cfg", Semantics{Sessions: 1}},
		{"MCPartitionSuccession.cfg", Semantics{}},
		{"MCPartition.cfg", Semantics{}},
	} {
		all := transitions(t, specDir, x.cfg)
		difference, replayed, aside := judge(x.sem, all)
		require.Empty(t, difference, x.cfg)
		t.Logf("%s: %d transitions replayed, %d aside", x.cfg, replayed, aside)
		total += replayed
		for _, one := range all {
			if a := one.answer(); a != "" {
				answers[a] = true
			}
			if !one.aside() {
				distinct[fmt.Sprint(x.sem.Numbering, one.core, one.last, one.next, one.sent)] = true
			}
		}
	}
	require.Equal(t, allAnswers, slices.Sorted(maps.Keys(answers)))
	t.Logf("%d transitions replayed, %d distinct", total, len(distinct))
	require.GreaterOrEqual(t, len(distinct), 40000)
	page, err := os.ReadFile("../docs/spec.md")
	require.NoError(t, err)
	require.Contains(t, string(page), fmt.Sprintf("each of the %d,%03d is made again", len(distinct)/1000, len(distinct)%1000))
}

// TestDriftIsSeen: one guard of the specification that is a little different is
// found, whichever it is.
func TestDriftIsSeen(t *testing.T) {
	for _, drift := range []struct{ cfg, module, rule, other string }{
		{"MCPartitionFew.cfg", "Contract.tla", `q.pos.o < 0 \/ q.pos.o >= End(c)`, `q.pos.o < 0 \/ q.pos.o > End(c)`},
		{"MCPartitionFew.cfg", "Contract.tla", `IF q.g <= c.gen THEN Gives`, `IF q.g < c.gen THEN Gives`},
		{"MCPartitionFew.cfg", "Partition.tla", "    /\\ q.f = \"store\"\n", "    /\\ q.f = \"store\" /\\ core.start = 0\n"},
		{"MCPartitionSuccessionFew.cfg", "Contract.tla", `c.began[j].o > p.o`, `c.began[j].o >= p.o`},
	} {
		dir := t.TempDir()
		files, err := filepath.Glob(filepath.Join(specDir, "*"))
		require.NoError(t, err)
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && regexp.MustCompile(`\.(tla|cfg)$`).MatchString(f) {
				if filepath.Base(f) == drift.module {
					require.Equal(t, 1, strings.Count(string(text), drift.rule), drift.rule)
					text = []byte(strings.Replace(string(text), drift.rule, drift.other, 1))
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(f)), text, 0o644))
			}
		}
		difference, _, _ := judge(Semantics{}, transitions(t, dir, drift.cfg))
		require.NotEmpty(t, difference, drift.rule)
		t.Logf("%s for %s: %s", drift.other, drift.rule, difference)
	}
}
