package crashpoints

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
)

var full = flag.Bool("crash-points", false, "run the whole matrix and print its counts")

func TestMatrix(t *testing.T) {
	cases := 0
	for _, design := range []replica.Design{replica.Ordered, replica.ResetRecord, replica.Advance} {
		t.Run(design.String(), func(t *testing.T) {
			o := Options{Design: design, Images: 8, Again: 4, Every: 9, Second: 37}
			if *full {
				o = Options{Design: design, Images: 16, Again: 4, Every: 1, Second: 41}
				if design == replica.Advance {
					o.Second = 53
				}
			}
			r, err := Run(o)
			require.NoError(t, err)
			if *full {
				r.Print(os.Stdout)
			}
			require.Empty(t, r.Reds)
			cases += r.Cases
		})
	}
	if *full {
		t.Logf("%d cases", cases)
		require.Greater(t, cases, 20_000)
	}
}

// Bugs that show only when a machine fails turn the matrix red. These three need
// no more than the power loss at the end of every case.
func TestTeeth(t *testing.T) {
	for name, property := range map[string]string{
		"marker-no-dirsync":           "GenerationMonotone",
		"bookmark-generation-ignored": "BookmarkBound",
		"replay-below-boundary":       "BoundaryScope",
	} {
		d, err := defect.Parse(name)
		require.NoError(t, err)
		r, err := Run(Options{Images: 16, Every: 1, Second: 1 << 30, Stop: 1, Defects: d})
		if err != nil {
			t.Logf("%s: %v", name, err)
			require.ErrorContains(t, err, property, name)
			continue
		}
		require.NotEmpty(t, r.Reds, name)
		t.Logf("%s: %d cases: %s", name, r.Cases, r.Reds[0])
		require.Contains(t, r.Reds[0].Reason, property, name)
	}
}

// The same for the bugs of reset-record.
func TestTeethOfResetRecord(t *testing.T) {
	for name, property := range map[string]string{
		"bookmark-no-dirsync":     "NoResurrectedBookmark",
		"complete-before-cleanup": "CompletionLast",
		"floor-not-kept":          "BoundaryScope",
		"retry-resets-again":      "RetryIdempotent",
	} {
		d, err := defect.Parse(name)
		require.NoError(t, err)
		r, err := Run(Options{Design: replica.ResetRecord, Images: 16, Again: 1, Every: 1, Second: 1 << 30, Stop: 1, Defects: d})
		if err != nil {
			require.ErrorContains(t, err, property, name)
			continue
		}
		require.NotEmpty(t, r.Reds, name)
		t.Logf("%s: %d cases: %s", name, r.Cases, r.Reds[0])
		require.Contains(t, r.Reds[0].Reason, property, name)
	}
}

// A failed sync of a directory that is taken again and believed turns the matrix red for
// the other designs.
func TestTriedSyncOfADirectory(t *testing.T) {
	for _, d := range []defect.Set{0, defect.SyncRetried} {
		o := Options{Images: 4, Again: 1, Second: 1 << 30, Stop: 1, Defects: d}
		calls := play(o, nil).disk.Calls()
		total := &Report{}
		for i, c := range calls {
			if c.Op == "syncdir" {
				r := &Report{}
				r.unit(&o, pointAt(NamesForget, calls, i))
				total.add(r)
			}
		}
		require.Greater(t, total.Cases, 10)
		require.Equal(t, d != 0, len(total.Reds) > 0, "%v", total.Reds)
	}
}

// The variant of reset-record that takes a failed sync again loses by it what the
// design keeps: the sync of a folder of bookmarks fails and loses the removals, the
// next one succeeds, and the power fails when the purge is complete.
func TestTriedSyncOfAFolder(t *testing.T) {
	for _, retry := range []bool{false, true} {
		o := Options{Design: replica.ResetRecord, Variants: replica.Variants{RetrySync: retry}, Images: 16, Again: 4, Second: 1, Stop: 1}
		calls := play(o, nil).disk.Calls()
		total := &Report{}
		for i, c := range calls {
			if c.Label == "purge.bookmark.dirsync" {
				r := &Report{}
				r.unit(&o, pointAt(NamesForget, calls, i))
				total.add(r)
			}
		}
		require.Greater(t, total.Cases, 100)
		if !retry {
			require.Empty(t, total.Reds)
			continue
		}
		require.NotEmpty(t, total.Reds)
		require.Contains(t, total.Reds[0].Reason, "NoResurrectedBookmark")
	}
}

// Every label of a replica's disk calls is met by the workload, and every kind
// strikes.
func TestWorkloadMeetsEveryCall(t *testing.T) {
	always := []string{
		"journal.roll.create", "journal.append.write", "journal.sync", "segment.roll.create", "segment.append.write", "segment.sync", "segment.reclaim",
		"bookmark.create", "bookmark.sync", "checkpoint.record.rename",
	}
	for design, labels := range map[replica.Design][]string{
		replica.Ordered: {
			"bookmark.append.write", "checkpoint.names",
			"purge.begin.rename", "purge.switch.mkdir", "purge.switch.checkpoint.rename", "purge.complete.dirsync", "purge.reclaim.file", "purge.reclaim.folder",
		},
		replica.ResetRecord: {
			"bookmark.write", "bookmark.reclaim", "checkpoint.segments", "checkpoint.bookmarks", "purge.frontier.rename", "purge.segment.unlink", "purge.segment.dirsync",
			"purge.reset.rename", "purge.bookmark.unlink", "purge.bookmark.dirsync", "purge.gen.rename",
		},
		replica.Advance: {"bookmark.append.write", "checkpoint.names"},
	} {
		o := Options{Design: design, Images: 4, Again: 1, Every: 16, Second: 1 << 30}
		r, err := Run(o)
		require.NoError(t, err)
		require.Empty(t, r.Reds)
		for k := range kinds {
			require.Positive(t, r.First[k], k)
		}
		seen := map[string]bool{}
		for _, c := range r.Calls {
			seen[string(c.Label)] = true
		}
		for _, want := range append(labels, always...) {
			require.True(t, seen[want], want)
		}
	}
}
