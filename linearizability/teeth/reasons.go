package teeth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"purgelab/linearizability/check"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// named is what the judge may call a defect that clients see, and why that is the promise
// that it breaks.
type named struct {
	classes []judge.Class
	why     string
}

// reasons are those of every defect that a history has to catch. A class that is not here
// is a wrong name for what happened.
var reasons = map[string]named{
	"apply-past-purge":               {[]judge.Class{judge.LostAppend, judge.PositionReused, judge.StartBack}, "ops behind the purge are skipped with it: appends and deletions that were acknowledged are not there"},
	"bookmark-generation-ignored":    {[]judge.Class{judge.OldBookmark, judge.FreshSkipped}, "a stored bookmark of the old generation is used in the new one, and may lie beyond its end"},
	"bookmark-unbounded":             {[]judge.Class{judge.FreshSkipped}, "a bookmark beyond the end skips what comes there"},
	"boundary-outlives":              {[]judge.Class{judge.LostAppend, judge.PositionReused, judge.StartBack}, "the boundary of the old incarnation hides what is appended or deleted in the new one, and its place is given again"},
	"checksum-ignored":               {[]judge.Class{judge.PositionReused}, "a message is read that nobody wrote there"},
	"duplicate-purge-wipes":          {[]judge.Class{judge.LostAppend, judge.PositionReused, judge.StaleRead}, "the repeated purge takes what was appended after the first, and the end falls"},
	"incarnation-ignored":            {[]judge.Class{judge.StaleRead, judge.Gap, judge.PositionReused, judge.RetriedTwice}, "what was asked of the old partition is done in the new one, of which the answers of the old say nothing"},
	"intent-repeated":                {[]judge.Class{judge.RetriedTwice}, "a purge that was sent twice begins two generations"},
	"local-boundary":                 {[]judge.Class{judge.LostAppend, judge.PositionReused}, "a replica discards more than the others, or less"},
	"namesake-bookmarks":             {[]judge.Class{judge.FreshSkipped}, "bookmarks of a deleted partition are those of its namesake"},
	"offset-at-proposal":             {[]judge.Class{judge.PositionReused, judge.LostAppend}, "two appends get one offset, or one gets an offset that is not the end"},
	"repeat-executed":                {[]judge.Class{judge.RetriedTwice, judge.FreshSkipped, judge.BookmarkRewound}, "a repeat is executed; that of a poll moves the bookmark on, beyond what was read, that of a delete takes a later one"},
	"replay-below-boundary":          {[]judge.Class{judge.PurgedReturned, judge.PositionReused, judge.RetriedTwice, judge.FreshSkipped, judge.LostAppend, judge.OldBookmark}, "ops of before the purge are carried out again: messages, bookmarks and deletions come back"},
	"sessions-lost-at-purge":         {[]judge.Class{judge.RetriedTwice}, "a session is forgotten, so no repeat could be told"},
	"stale-auto-commit":              {[]judge.Class{judge.FreshSkipped, judge.OldBookmark}, "progress that was computed before the purge is applied after it"},
	"stale-read":                     {[]judge.Class{judge.StaleRead, judge.PurgedReturned, judge.LostAppend, judge.StartBack}, "who does not lead any more answers as of long ago"},
	"delete-moves-bookmarks":         {[]judge.Class{judge.FreshSkipped}, "a bookmark is moved that nobody moved"},
	"deletion-not-replayed":          {[]judge.Class{judge.BookmarkRewound}, "a bookmark that was deleted is there again"},
	"earliest-from-records":          {[]judge.Class{judge.StartBack}, "the start is that of a record instead of the one that was asked for"},
	"end-from-records":               {[]judge.Class{judge.LatestRegressed, judge.LostAppend}, "the end falls with the records"},
	"read-moved":                     {[]judge.Class{judge.FreshSkipped}, "a read begins after the offset that was asked for"},
	"start-not-replayed":             {[]judge.Class{judge.StartBack, judge.FreshSkipped}, "the start is a lower one after a restart, and polls by next begin elsewhere"},
	"start-not-stored":               {[]judge.Class{judge.StartBack}, "the start is a lower one"},
	"whole-batch-deleted":            {[]judge.Class{judge.LostAppend, judge.StartBack, judge.FreshSkipped}, "more goes than anybody asked for, and polls by next begin after it"},
	"advanced-on-failure":            {[]judge.Class{judge.PurgedReturned, judge.Gap, judge.LostAppend}, "a generation begins with what the old one left"},
	"bookmark-no-dirsync":            {[]judge.Class{judge.OldBookmark}, "an unlinked bookmark is there again after a power loss"},
	"complete-before-cleanup":        {[]judge.Class{judge.OldBookmark, judge.PositionReused}, "a bookmark is left behind for good, or the reset is done again"},
	"damaged-record-absent":          {[]judge.Class{judge.StaleRead, judge.LostAppend, judge.PositionReused}, "the generations begin at 0 again"},
	"dirsync-failure-ignored":        {[]judge.Class{judge.OldBookmark, judge.BookmarkRewound}, "an unlinked bookmark is there again, in another generation or after it was answered that there is none"},
	"floor-kept-across-incarnations": {[]judge.Class{judge.LostAppend}, "the floor of the old incarnation hides what is appended in the new one"},
	"floor-kept-across-sequences":    {[]judge.Class{judge.StaleRead, judge.LostAppend}, "the floor of lost ops hides the new ones, purges among them"},
	"floor-not-kept":                 {[]judge.Class{judge.PurgedReturned, judge.LostAppend, judge.PositionReused}, "ops of before the purge are carried out again, deletions among them, where others are"},
	"retry-resets-again":             {[]judge.Class{judge.LostAppend, judge.PositionReused}, "the second reset takes what was appended after the first, whose place is given again"},
	"unlink-failure-ignored":         {[]judge.Class{judge.OldBookmark, judge.BookmarkRewound, judge.FreshSkipped}, "a bookmark that could not be unlinked is used in a later generation"},
}

// Reasons is what the judge said of the runs that show a defect to clients.
type Reasons struct {
	Defect  string              `json:"defect"`
	Runs    int                 `json:"runs"` // made
	Red     int                 `json:"red"`  // histories that are right without the defect
	Classes map[judge.Class]int `json:"classes"`
	// Unnamed are the runs whose history only the search found wrong.
	Unnamed []string      `json:"unnamed,omitempty"`
	Right   []judge.Class `json:"right"`
	Why     string        `json:"why"`
	// Wrong is a reason of another class, with the run that has it.
	Wrong string `json:"wrong,omitempty"`
}

// ReasonsOf makes runs of each defect that histories have to catch, until so many
// histories are wrong. Progress is called now and then, one call at a time.
func ReasonsOf(ctx context.Context, list []Tooth, runs, reds, jobs int, progress func(done, all int)) ([]Reasons, error) {
	var told []Tooth
	for _, t := range list {
		if t.must(History) {
			told = append(told, t)
		}
	}
	out := make([]Reasons, len(told))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	var mu sync.Mutex
	done := 0
	for i := range told {
		g.Go(func() (err error) {
			out[i], err = told[i].reasons(ctx, runs, reds)
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done, len(told))
			return err
		})
	}
	return out, g.Wait()
}

func (t *Tooth) reasons(ctx context.Context, runs, reds int) (Reasons, error) {
	x := reasons[t.Name]
	out := Reasons{Defect: t.Name, Classes: map[judge.Class]int{}, Right: x.classes, Why: x.why}
	for seed := uint64(1); seed <= uint64(runs) && out.Red < reds && ctx.Err() == nil; seed++ {
		r, err := run.Run(ctx, t.settings(seed))
		if err != nil {
			return out, err
		}
		out.Runs++
		if _, red := r.Violates(check.Property); !red {
			continue
		}
		s := t.settings(seed)
		s.Defect = ""
		alone, err := run.Run(ctx, s)
		if err != nil {
			return out, err
		}
		if _, red := alone.Violates(check.Property); red {
			continue // it shows what the design violates by nature
		}
		for i := range r.Checked {
			out.note(&r.Checked[i], r.Settings.Replay())
		}
	}
	return out, ctx.Err()
}

func (out *Reasons) note(c *check.Result, replay string) {
	switch {
	case c.Verdict != verdict.Fail:
		return
	case c.Class == "":
		out.Unnamed = append(out.Unnamed, replay)
	case !slices.Contains(out.Right, c.Class):
		out.Wrong = fmt.Sprintf("%s\n%s", c.Reason, replay)
	}
	out.Red++
	if c.Class != "" {
		out.Classes[c.Class]++
	}
}

// Verdict is fail if a reason names another promise, and undecided if there was none.
func (out *Reasons) Verdict() verdict.Verdict {
	switch {
	case out.Wrong != "":
		return verdict.Fail
	case len(out.Classes) == 0:
		return verdict.Undecided
	}
	return verdict.Pass
}

// ReasonTable is what docs/judging.md has of them.
func ReasonTable(list []Reasons) string {
	var b strings.Builder
	b.WriteString("| defect | reasons that the judge gave, of so many wrong histories | since |\n|---|---|---|\n")
	red, none := 0, 0
	for i := range list {
		x := &list[i]
		red, none = red+x.Red, none+len(x.Unnamed)
		var said []string
		for _, c := range x.Right {
			if n := x.Classes[c]; n > 0 {
				said = append(said, fmt.Sprintf("%s %d", c, n))
			}
		}
		if n := len(x.Unnamed); n > 0 {
			said = append(said, fmt.Sprintf("none %d", n))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", x.Defect, strings.Join(said, ", "), x.Why)
	}
	fmt.Fprintf(&b, "\n%d of %d wrong histories have a reason.\n", red-none, red)
	return b.String()
}
