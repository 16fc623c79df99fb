package teeth

import "regexp"

// conditions are what the reason for rejecting the trace of a defect has to name: the
// condition of the specification that the bug breaks. A trace that is rejected for
// anything else shows something that nobody understands.
var conditions = compiled(map[string]string{
	"apply-past-purge":                     `(was told before as) purge`,
	"bookmark-generation-ignored":          `bookmarks are loaded, the disk holds`,
	"bookmark-unbounded":                   `bookmark at offset \d+: the end is`,
	"boundary-not-rebased":                 `the marker on the disk is`,
	"compact-past-checkpoint":              `are dropped: a checkpoint holds`,
	"complete-early":                       `the new generation's folder is not there`,
	"duplicate-purge-wipes":                `is settled already`,
	"future-bookmarks":                     `bookmarks are loaded, the disk holds`,
	"local-boundary":                       `Materialize leads to|the next op to apply is`,
	"marker-no-dirsync":                    `the marker on the disk is`,
	"old-generation-bookmarks-transferred": `bookmarks are loaded, the disk holds`,
	"older-offer-accepted":                 `takes the state as of op \d+: it has ops up to`,
	"purge-races-install":                  `takes the state as of op \d+: it has ops up to`,
	"replay-below-boundary":                `what the disk holds says|the disk gives evidence of`,
	"sessions-not-transferred":             `was told before as`,
	"stale-auto-commit":                    `bookmark at offset \d+: the end is`,
	"two-incarnations":                     `another replica told otherwise|op \d+ is not committed`,
	"delete-moves-bookmarks":               `the replica holds`,
	"deletion-not-replayed":                `(was told before as) delete`,
	"earliest-from-records":                `start is \d+ after it, Materialize leads to`,
	"start-not-replayed":                   `(was told before as) advance`,
	"whole-batch-deleted":                  `committed as|start is \d+ after it|start moves to`,
	"advanced-on-failure":                  `the purge stands at "none"`,
	"bookmark-no-dirsync":                  `bookmarks are loaded, the disk holds`,
	"commit-during-cleanup":                `while bookmarks are cleaned up`,
	"complete-before-cleanup":              `the purge stands at "clean"`,
	"completion-failure-ignored":           `on the disk, the event says|bookmarks are loaded`,
	"damaged-record-absent":                `what the disk holds says|on the disk, the event says|the floor is op \d+, the disk holds`,
	"dirsync-failure-ignored":              `bookmarks are loaded, the disk holds`,
	"floor-kept-across-incarnations":       `the floor is op \d+, the disk holds op 0`,
	"floor-kept-across-sequences":          `the floor is op \d+, the disk holds op 0`,
	"floor-not-kept":                       `the floor is op 0, the disk holds`,
	"held-dropped":                         `what was held during the purge before is not released`,
	"held-reordered":                       `the first change that is held is`,
	"older-generation-installed":           `takes the state as of op \d+ of generation \d+`,
	"retry-resets-again":                   `a purge of generation \d+ is under way|is reset already|the floor is op \d+, the disk holds`,
	"unlink-failure-ignored":               `bookmarks are loaded, the disk holds`,
})

func compiled(list map[string]string) map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	for name, says := range list {
		out[name] = regexp.MustCompile(says)
	}
	return out
}

// condition is what of it the reason names, without the values; empty: it names
// something else.
func condition(defect, reason string) string {
	r := conditions[defect]
	if r == nil {
		return ""
	}
	found := r.FindStringSubmatch(reason)
	if found == nil {
		return ""
	}
	return found[len(found)-1]
}
