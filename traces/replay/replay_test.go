package replay

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/traces/behaviours"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

const specDir = "../../spec"

// small are the specification's models with narrower limits, so that TLC prints all
// transitions of each within seconds.
var small = []struct {
	design, name, module string
	limits               []string // what is said instead of what
	defects              []string // of the implementation, each of which they show
}{
	{"ordered", "two ops", "SIMOrdered", []string{"MaxOps = 3", "MaxOps = 2"}, []string{
		"marker-no-dirsync", "replay-below-boundary", "apply-past-purge", "duplicate-purge-wipes", "bookmark-unbounded",
		"start-not-replayed", "end-from-records", "reclaim-not-resumed",
	}},
	{"ordered", "three ops", "SIMOrdered", []string{"Ops <- MCOps", "Ops <- FewOps", "Reads <- MCReads", "Reads = {}"}, []string{
		"bookmark-generation-ignored",
	}},
	{"ordered", "transfers", "SIMTransfer", []string{"MaxInstalls = 2", "MaxInstalls = 1"}, []string{
		"install-before-sync", "staged-rename-without-sync", "older-offer-accepted",
	}},
	{"advance", "two ops", "SIMAdvance", []string{"MaxOps = 3", "MaxOps = 2"}, []string{
		"start-not-stored", "start-not-replayed", "whole-batch-deleted", "earliest-from-records",
	}},
	{"advance", "three ops", "SIMAdvance", []string{"Ops <- SimOps", "Ops <- FewOps"}, []string{"end-from-records"}},
	{"advance", "transfers", "SIMTransferAdvance", []string{"MaxInstalls = 2", "MaxInstalls = 1"}, []string{
		"install-before-sync", "staged-rename-without-sync", "older-offer-accepted",
	}},
	{"reset-record", "two ops", "SIMResetRecord", []string{"MaxOps = 3", "MaxOps = 2", "MaxCrashes = 1", "MaxCrashes = 2", "Generations = {1, 2}", "Generations = {1}"}, []string{
		"complete-before-cleanup", "bookmark-no-dirsync", "floor-not-kept",
	}},
	{"reset-record", "another leader", "SIMTransferReset", []string{
		"Offers <- MCOffers", "Offers <- MCOffersEarly", "Ops <- MCOps", "Ops <- Appends", "MaxCrashes = 1", "MaxCrashes = 0", "MayJournal <- MCMayJournal", "MayJournal <- MCMayRunAhead",
		"MayCut = FALSE", "MayCut <- MCMayCut", "Foreign <- MCForeign", "Foreign <- MCForeign MayReplace = TRUE", "MaxLag = 2", "MaxLag = 1",
	}, []string{"boundary-not-rebased"}},
	{"reset-record", "transfers", "SIMTransferReset", []string{"MayCompact = FALSE", "MayCompact <- MCMayCompact", "Offers <- MCOffers", "Offers <- FewOffers", "Ops <- MCOps", "Ops <- FewOps"}, []string{
		"install-before-sync", "staged-rename-without-sync", "older-offer-accepted", "boundary-not-rebased",
	}},
}

// explored is all transitions of a model with other limits.
func explored(t *testing.T, module string, limits []string) *behaviours.Graph {
	t.Helper()
	tool, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(specDir, module+".cfg"))
	require.NoError(t, err)
	for i := 0; i < len(limits); i += 2 {
		require.Contains(t, string(text), limits[i])
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Small.cfg"), []byte(strings.NewReplacer(limits...).Replace(string(text))), 0o666))
	spec, err := filepath.Abs(specDir)
	require.NoError(t, err)
	cfg, err := filepath.Rel(spec, filepath.Join(dir, "Small.cfg"))
	require.NoError(t, err)
	g, err := behaviours.Explore(context.Background(), tool, spec, models.Model{Name: t.Name(), Module: module + ".tla", Cfg: cfg, Seconds: 5})
	require.NoError(t, err)
	return g
}

// The implementation follows the specification through every transition of small
// models, and with a defect that concerns one replica it does not.
func TestEveryTransition(t *testing.T) {
	for _, d := range Table {
		t.Run(d.Name, func(t *testing.T) {
			taken := map[string]bool{}
			for _, m := range small {
				if m.design != d.Name {
					continue
				}
				t.Run(m.name, func(t *testing.T) {
					var list []*behaviours.Behaviour
					acts := 0
					g := explored(t, m.module, m.limits)
					require.NoError(t, g.Cover(func(b *behaviours.Behaviour) error {
						list = append(list, b)
						acts += len(b.Acts) - 1
						for _, a := range b.Acts[1:] {
							taken[string(a.Action)] = true
						}
						return nil
					}))
					t.Logf("%d states, %d transitions, %d behaviours, %d actions", g.States(), g.Transitions(), len(list), acts)
					follows(t, list)
					t.Run("defects", func(t *testing.T) {
						for _, name := range m.defects {
							d, err := defect.Parse(name)
							require.NoError(t, err)
							diff := first(t, list, d)
							require.NotNil(t, diff, name)
							t.Logf("%s: %v", name, diff)
						}
					})
				})
			}
			t.Run("every row", func(t *testing.T) {
				for _, r := range d.Rows {
					if strings.Contains(r.Note, "In counterexamples only.") {
						continue // scenarios take them
					}
					require.True(t, taken[string(r.Action)], "%s is in the table and was never taken", r.Action)
				}
			})
		})
	}
}

// follows is red with the first difference. It is a part of its own, so that a change of the
// specification can be held to the implementation alone: package guards does.
func follows(t *testing.T, list []*behaviours.Behaviour) {
	t.Run("follows", func(t *testing.T) {
		if !slices.ContainsFunc(list, func(b *behaviours.Behaviour) bool { return len(b.Acts) > 1 }) {
			t.Fatal("no action is ever taken")
		}
		if diff := first(t, list, 0); diff != nil {
			t.Fatal(diff)
		}
	})
}

// first is the first difference.
func first(t *testing.T, list []*behaviours.Behaviour, d defect.Set) *Difference {
	t.Helper()
	for _, b := range list {
		diff, err := Replay(b, d)
		require.NoError(t, err)
		if diff != nil {
			return diff
		}
	}
	return nil
}

// example is a behaviour that is written by hand: a message, a purge, a crash.
func example(t *testing.T) string {
	b, err := os.ReadFile("testdata/example.ndjson")
	require.NoError(t, err)
	return string(b)
}

// What is said of the replica and is not so is found, with the path to it.
func TestDifferences(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"", "", ""},
		{`"end":1,"gen":0,"settled":0,"start":0}}`, `"end":2,"gen":0,"settled":0,"start":0}}`,
			"behaviour 1, act 3, Materialize: mem.end: the specification has 2, the implementation has 1"},
		{`"segs":[{"base":0,"n":1,"op":1}],"segsSynced":1`, `"segs":[{"base":0,"n":1,"op":1}],"segsSynced":0`,
			"behaviour 1, act 4, Checkpoint: disk.dirs.0.segsSynced: the specification has 0, the implementation has 1"},
		{`"marker":{"g":1,"p":2,"st":"begun"}`, `"marker":{"g":1,"p":3,"st":"begun"}`,
			"behaviour 1, act 6, PurgeBegin: disk.marker.p: the specification has 3, the implementation has 2"},
		{`"n":0,"pos":{"g":1`, `"n":1,"pos":{"g":1`,
			"behaviour 1, act 9, Answer: reply.n: the specification has 1, the implementation has 0"},
		{`"action":"PurgeSwitch"`, `"action":"Reclaim"`,
			"behaviour 1, act 7, Reclaim: action: the specification has Reclaim, the implementation has Reclaim is not taken"},
	} {
		text := example(t)
		require.Contains(t, text, c.was)
		got := ""
		err := behaviours.Read(strings.NewReader(strings.Replace(text, c.was, c.is, 1)), "example", func(b *behaviours.Behaviour) error {
			diff, err := Replay(b, 0)
			if diff != nil {
				got = diff.Error()
			}
			return err
		})
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

// A file of behaviours is read as it was written.
func TestFile(t *testing.T) {
	var out bytes.Buffer
	w := behaviours.NewWriter(&out)
	require.NoError(t, behaviours.Read(strings.NewReader(example(t)), "example", w.Write))
	require.NoError(t, w.Close())
	require.Equal(t, example(t), out.String())
	old := strings.Replace(example(t), `"version":2`, `"version":1`, 1)
	require.ErrorContains(t, behaviours.Read(strings.NewReader(old), "example", w.Write), "example:1: version 1 does not count its actions: want version 2")
}
