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
	for _, design := range []replica.Design{replica.Ordered, replica.Advance} {
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
		})
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

// Every label of a replica's disk calls is met by the workload, and every kind
// strikes.
func TestWorkloadMeetsEveryCall(t *testing.T) {
	r, err := Run(Options{Images: 4, Again: 1, Every: 16, Second: 1 << 30})
	require.NoError(t, err)
	require.Empty(t, r.Reds)
	for k := range kinds {
		require.Positive(t, r.First[k], k)
	}
	labels := map[string]bool{}
	for _, c := range r.Calls {
		labels[string(c.Label)] = true
	}
	for _, want := range []string{
		"journal.roll.create", "journal.append.write", "journal.sync", "segment.roll.create", "segment.append.write", "segment.sync", "segment.reclaim",
		"bookmark.create", "bookmark.append.write", "bookmark.sync", "checkpoint.names", "checkpoint.record.rename",
		"purge.begin.rename", "purge.switch.mkdir", "purge.switch.checkpoint.rename", "purge.complete.dirsync", "purge.reclaim.file", "purge.reclaim.folder",
	} {
		require.True(t, labels[want], want)
	}
}
