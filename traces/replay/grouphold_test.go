package replay

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/traces/behaviours"
)

// heldOf counts where replicas of a group have something to lose: a comparison of what is
// empty shows nothing. Of advance, whose deletions are ops like others, none are purges.
func heldOf(list []*behaviours.Behaviour) map[string]int {
	n := map[string]int{"bookmarks after a boot": 0}
	if list[0].Design != "advance" {
		n["purges of messages"], n["purges of bookmarks"] = 0, 0
	}
	for _, b := range list {
		booted := map[string]bool{}
		for i := 1; i < len(b.Acts); i++ {
			a := &b.Acts[i]
			r, _ := a.With["r"].(string)
			switch a.Action {
			case "Boot":
				booted[r] = true
			case "PurgeLocally", "PurgeComplete":
				before := b.Acts[i-1].State["rep"].(map[string]any)[r].(map[string]any)
				if hasMessages(before) {
					n["purges of messages"]++
				}
				if hasBookmark(before) {
					n["purges of bookmarks"]++
				}
			}
			if booted[r] && hasBookmark(a.State["rep"].(map[string]any)[r].(map[string]any)) {
				n["bookmarks after a boot"]++
			}
		}
	}
	return n
}

// hasMessages tells whether a replica of a specification has messages from its start on.
func hasMessages(f map[string]any) bool {
	if msgs, ok := f["msgs"].([]any); ok {
		return len(msgs) > integer(f["start"])
	}
	return integer(f["end"]) > integer(f["start"])
}

// bookmarkIn is the record of the bookmark of a replica that runs, nil if it has none.
func bookmarkIn(f map[string]any) map[string]any {
	bm := f["bm"].(map[string]any)
	if k, ok := bm["k1"].(map[string]any); ok {
		bm = k
	}
	if f["up"] != true || integer(bm["o"]) < 0 {
		return nil
	}
	return bm
}

func hasBookmark(f map[string]any) bool { return bookmarkIn(f) != nil }

// misplaced is red unless a bookmark that is said to be elsewhere is found.
func misplaced(t *testing.T, list []*behaviours.Behaviour) {
	for _, b := range list {
		for i := range b.Acts {
			rep := b.Acts[i].State["rep"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(rep)) {
				bm := bookmarkIn(rep[name].(map[string]any))
				if bm == nil {
					continue
				}
				short := *b
				short.Acts = b.Acts[:i+1]
				was := bm["o"]
				bm["o"] = float64(integer(was) + 7)
				diff, err := Replay(&short, 0)
				bm["o"] = was
				require.NoError(t, err)
				require.NotNil(t, diff)
				require.True(t, strings.HasPrefix(diff.Field, "rep."+name+".bm"), diff.Field)
				return
			}
		}
	}
	t.Fatal("nobody ever has a bookmark")
}
