package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/traces"
	"purgelab/traces/models"
)

var fixedSet = sync.OnceValues(func() ([]*traces.Trace, error) { return coveredTraces(context.Background()) })

// The fixed set of runs shows every action of every design, and every situation, that
// a trace can show; and docs/coverage.md has a line for each. How often, and which run
// was the first, changes with every change of the code.
func TestCoverageGate(t *testing.T) {
	root, err := models.Root()
	require.NoError(t, err)
	actions, err := models.Actions(filepath.Join(root, "spec"))
	require.NoError(t, err)
	list, err := fixedSet()
	require.NoError(t, err)
	rows := traces.Cover(list, actions)
	for i := range rows {
		if rows[i].Missed() {
			t.Errorf("no trace of the fixed set shows %s of %s", rows[i].What, rows[i].Design)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "coverage.md"))
	require.NoError(t, err)
	require.Equal(t, coverageLines(coveragePage(rows, nil, actions, len(list))), coverageLines(string(page)),
		"docs/coverage.md is another one: make coverage")
}

// Of what makes a situation no event is superfluous: without those of one kind, the
// trace that shows it first does not show it.
func TestSituationsNeedTheirEvents(t *testing.T) {
	is := func(kind string, actions ...observe.Action) func(observe.Event) bool {
		return func(e observe.Event) bool {
			return slices.Contains(actions, e.Action) && (kind == "" || e.Kind == kind)
		}
	}
	type without = []func(observe.Event) bool
	removes := func(e observe.Event) bool {
		return is("", traces.PurgeComplete, traces.ResetRecord)(e) || is("advance", traces.Materialize)(e)
	}
	purged := func(e observe.Event) bool {
		return is("purge", traces.Commit)(e) || is("", traces.ResetRecord)(e)
	}
	crash := is("", traces.ProcessCrash, traces.PowerLoss)
	needs := map[string]without{
		"a crash while a purge that a boot found begun is finished":     {crash, is("begun", traces.Boot)},
		"a change of leader while a replica purges":                     {is("", traces.BecomeLeader), is("", traces.PurgeBegin, traces.PurgeSwitch, traces.ResetFrontier, traces.ResetRecord, traces.UnlinkSegments, traces.SyncSegments, traces.UnlinkBookmarks, traces.SyncBookmarks)},
		"a duplicate purge after a change of leader":                    {is("", traces.PurgeComplete), is("purge", traces.Commit)},
		"a purge that expects another position settles its intent only": {is("", traces.PurgeDuplicate)},
		"a repeated append across a purge":                              {removes, is("append", traces.Commit)},
		"a repeated append across a deletion of some records":           {is("advance", traces.Materialize), is("other", traces.Materialize)},
		"a change of a bookmark is held and then released":              {is("", traces.Hold), is("", traces.Release)},
		"every replica down at once":                                    {crash},
		"a suspect member joins anew and votes again":                   {is("", traces.Rejoin), is("", traces.Joined)},
		"a purge record of an older incarnation":                        {is("", traces.Boot)},
		"a floor of an older incarnation is kept":                       {is("", traces.Boot)},
		"a purge committed while a transfer is under way":               {is("", traces.StageManifest), purged},
		"a deletion of records committed while a transfer is under way": {is("", traces.StageManifest), is("advance", traces.Commit)},
		"an install in the place of a purge that was begun":             {is("", traces.CommitInstall), is("", traces.PurgeBegin)},
		"a crash while a transfer is under way":                         {is("", traces.StageManifest), crash},
		"an offer is refused":                                           {is("", traces.RefuseTransfer)},
	}
	list, err := fixedSet()
	require.NoError(t, err)
	shown := func(tr *traces.Trace, what string) int {
		for _, s := range traces.Cover([]*traces.Trace{tr}, nil) {
			if s.What == what {
				return s.Count
			}
		}
		return 0
	}
	left, asked := maps.Clone(needs), map[string]bool{}
	for _, tr := range list {
		for _, s := range traces.Cover([]*traces.Trace{tr}, nil) {
			if key := s.Design + s.What; s.Count == 0 || asked[key] {
				continue
			} else {
				asked[key] = true
			}
			for i, gone := range needs[s.What] {
				cut := *tr
				cut.Lines = slices.DeleteFunc(slices.Clone(tr.Lines), func(l traces.Line) bool { return gone(l.Event) })
				require.Less(t, len(cut.Lines), len(tr.Lines), "%s of %s: %d", s.What, s.First, i)
				require.Zero(t, shown(&cut, s.What), "%s of %s: %d", s.What, s.First, i)
				delete(left, s.What)
			}
		}
	}
	require.Empty(t, left, "situations that no trace of the fixed set shows")
}

// coverageLines are the headings of a page, and of each line of its tables what it is
// about and, if no trace can show it, why.
func coverageLines(page string) []string {
	var out []string
	for _, line := range strings.Split(page, "\n") {
		cells := strings.Split(line, " | ")
		switch {
		case strings.HasPrefix(line, "#"):
			out = append(out, line)
		case len(cells) > 2 && strings.HasPrefix(cells[2], "in no trace"):
			out = append(out, cells[0]+" | "+strings.TrimSuffix(cells[2], " |"))
		case strings.HasPrefix(line, "|"):
			if len(cells) > 2 {
				_, held, _ := strings.Cut(cells[2], "; held to ")
				cells[0] += held
			}
			out = append(out, cells[0])
		}
	}
	return out
}

// An action that is never seen is missed: the gate turns red.
func TestCoverageGateIsRed(t *testing.T) {
	root, err := models.Root()
	require.NoError(t, err)
	list, err := readTraces([]string{filepath.Join(root, "traces/testdata/accepted/new-incarnation.ndjson")})
	require.NoError(t, err)
	rows := traces.Cover(list, map[string][]string{"Ordered": {"PurgeDuplicate"}})
	require.True(t, rows[0].Missed())
	require.Contains(t, coveragePage(rows, nil, nil, 1), "| `Ordered!PurgeDuplicate` | 0 | **never seen** |  |\n")
}
