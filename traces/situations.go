package traces

import (
	"slices"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Situations that matter to a purge, by name.
const (
	incarnationBegan  = "a new incarnation"
	committedLost     = "a new incarnation lacks what was committed"
	rejoined          = "a suspect member joins anew and votes again"
	allDown           = "every replica down at once"
	mixedPolicies     = "messages and bookmarks under different policies"
	duplicateElected  = "a duplicate purge after a change of leader"
	settledOnly       = "a purge that expects another position settles its intent only"
	electedAmid       = "a change of leader while a replica purges"
	crashedAgain      = "a crash while a purge that a boot found begun is finished"
	repeatedAcross    = "a repeated append across a purge"
	repeatedBeyond    = "a repeated append across a deletion of some records"
	recordOutlives    = "a purge record of an older incarnation"
	floorOutlives     = "a floor of an older incarnation is kept"
	heldDuringCleanup = "a change of a bookmark is held and then released"
	purgeAmidTransfer = "a purge committed while a transfer is under way"
	deletedAmid       = "a deletion of records committed while a transfer is under way"
	installEndsPurge  = "an install in the place of a purge that was begun"
	installCrash      = "a crash while a transfer is under way"
	offerRefused      = "an offer is refused"
)

func crashAfter(a observe.Action) string {
	if a == Boot {
		return "a crash before Serve"
	}
	return "a crash after " + string(a)
}

// situation is one that traces of some designs can show.
type situation struct {
	name    string
	designs []*design
	needs   observe.Action // that its traces have to have; empty: no particular one
}

// situations are all, those of crashes between durable steps of a purge first.
var situations = func() []situation {
	logged, reset := []*design{&ordered, &advance}, []*design{&resetRecord}
	out := []situation{
		{crashAfter(PurgeBegin), []*design{&ordered}, ""},
		{crashAfter(PurgeSwitch), []*design{&ordered}, ""},
		{crashedAgain, []*design{&ordered}, ""},
		{crashAfter(Boot), reset, ""},
	}
	for _, s := range stages {
		if s.action != PurgeComplete {
			out = append(out, situation{crashAfter(s.action), reset, ""})
		}
	}
	return append(out,
		situation{electedAmid, []*design{&ordered, &resetRecord}, ""},
		situation{duplicateElected, []*design{&ordered}, ""},
		situation{settledOnly, []*design{&ordered}, ""},
		situation{repeatedAcross, designs, ""},
		situation{repeatedBeyond, logged, ""},
		situation{heldDuringCleanup, reset, ""},
		situation{mixedPolicies, designs, ""},
		situation{allDown, designs, ""},
		situation{rejoined, logged, ""},
		situation{incarnationBegan, logged, ""},
		situation{committedLost, logged, ""},
		situation{recordOutlives, reset, ""},
		situation{floorOutlives, reset, ""},
		situation{purgeAmidTransfer, []*design{&ordered, &resetRecord}, StageManifest},
		situation{deletedAmid, logged, StageManifest},
		situation{installEndsPurge, []*design{&ordered}, StageManifest},
		situation{installCrash, designs, StageManifest},
		situation{offerRefused, designs, RefuseTransfer},
	)
}()

// in tells whether the situation is one of a design, and why no trace of it can show
// it, if none can.
func (s *situation) in(d *design) (never string, ok bool) {
	if !slices.Contains(s.designs, d) {
		return "", false
	}
	if s.needs != "" && !d.speaksOf(s.needs) {
		never = "transfers are not in a trace of this design"
	}
	return never, true
}

// shownBy lists the situations that a trace shows, each as often as it does.
func shownBy(t *Trace) []string {
	var w watcher
	m, b := t.Header.Messages == replicated, t.Header.Bookmarks == replicated
	if m != b {
		w.saw(mixedPolicies)
	}
	for p := range t.Header.Partitions {
		a := agreedOf(t, op.Partition(p))
		w.log(a, t.Header.Design == advance.name)
		w.commits = a.lines[len(a.lines)-1].commits
		w.at = make([]watched, t.Header.Replicas+1)
		for _, l := range t.Lines {
			if l.Partition == op.Partition(p) {
				w.line(l.Event, m || b)
			}
		}
	}
	return w.out
}

// watcher goes through the events of a partition.
type watcher struct {
	at      []watched // by replica, from 1
	commits map[op.Number]observe.Event
	out     []string
}

// watched is what is known of one replica.
type watched struct {
	booted, up, joining, moving, held bool
	amid                              bool // a purge is begun and not complete, as far as is known
	// Since the boot, under reset-record: the last op at the last reset, and sizes of the
	// batches appended after it.
	reset    op.Number
	appended map[int]bool
}

func (w *watcher) saw(what string) { w.out = append(w.out, what) }

func (w *watcher) line(e observe.Event, volatile bool) {
	r := &w.at[e.Replica]
	switch e.Action {
	case ProcessCrash, PowerLoss:
		if r.up && r.moving {
			w.saw(installCrash)
		}
		was := r.up
		*r = watched{booted: r.booted, joining: r.joining, amid: r.amid}
		if was && len(w.at) > 2 && !slices.ContainsFunc(w.at, func(x watched) bool { return x.up }) {
			w.saw(allDown)
		}
	case Boot:
		if !r.booted && e.Generation > 0 && volatile {
			// Its op numbers are the first, and yet there was a purge.
			w.saw(recordOutlives)
			if e.Op > 0 {
				w.saw(floorOutlives)
			}
		}
		r.booted, r.up, r.amid = true, true, e.Kind == "begun"
	case Rejoin:
		r.joining = true
	case Joined:
		if r.joining {
			w.saw(rejoined)
		}
		r.joining = false
	case BecomeLeader:
		if slices.ContainsFunc(w.at, func(x watched) bool { return x.up && x.amid }) {
			w.saw(electedAmid)
		}
	case Commit, ResetRecord: // under reset-record no op is one
		r.amid = r.amid || e.Action == ResetRecord
		if (e.Kind == "purge" || e.Action == ResetRecord) && slices.ContainsFunc(w.at, func(x watched) bool { return x.moving }) {
			w.saw(purgeAmidTransfer)
		}
		if e.Kind == "advance" && slices.ContainsFunc(w.at, func(x watched) bool { return x.moving }) {
			w.saw(deletedAmid)
		}
		if e.Action == ResetRecord {
			r.reset, r.appended = e.Applied, map[int]bool{}
		}
	case Materialize:
		if c := w.commits[e.Op]; r.reset > 0 && e.Op > r.reset && c.Kind == "append" {
			if e.Kind == "other" && !r.appended[c.Count] {
				w.saw(repeatedAcross)
			}
			r.appended[c.Count] = true
		}
	case Hold:
		r.held = true
	case Release:
		if r.held {
			w.saw(heldDuringCleanup)
		}
		r.held = false
	case Refuse:
		r.held = false
	case StageManifest:
		r.moving = true
	case CommitInstall:
		if r.amid {
			w.saw(installEndsPurge)
		}
		r.moving, r.amid = false, false
	case DropTransfer:
		r.moving = false
	case RefuseTransfer:
		w.saw(offerRefused)
	case PurgeComplete:
		r.amid = false
	default:
		r.amid = r.amid || isStage(e.Action)
	}
}

// isStage tells whether the action is a durable step of a purge that leaves it
// unfinished.
func isStage(a observe.Action) bool {
	return a == PurgeBegin || a == PurgeSwitch ||
		a != PurgeComplete && slices.ContainsFunc(stages, func(x stageStep) bool { return x.action == a })
}

// crashesIn lists between which durable steps one replica crashes. Steps that only the
// next boot tells are among them.
func crashesIn(steps []step) []string {
	var out []string
	last, found := observe.Action(""), false // found: the last boot found a purge begun, which is not complete
	for i := range steps {
		switch s := &steps[i]; s.Action {
		case ProcessCrash, PowerLoss:
			out = append(out, crashAfter(last))
			if found {
				out = append(out, crashedAgain)
			}
			found = false
		case Boot:
			last, found = Boot, s.Kind == "begun"
		case Serve, PurgeComplete:
			last, found = s.Action, found && s.Action == Serve
		default:
			if isStage(s.Action) {
				last = s.Action
			}
		}
	}
	return out
}

// log goes through what was agreed on, incarnation by incarnation. Where deleting all is
// what a purge is, it counts as one.
func (w *watcher) log(a *agreed, deletes bool) {
	for i := range a.lines {
		l := &a.lines[i]
		if i > 0 {
			w.saw(incarnationBegan)
			if len(a.lines[i-1].commits) > int(l.kept)-firstOp {
				w.saw(committedLost)
			}
		}
		var settled op.Generation
		var carried bool           // the purge that settled it was carried out
		var term uint64            // of that purge
		var across string          // what the last op that removed messages makes of a repetition
		appended := map[int]bool{} // sizes of the batches appended since
		for n := op.Number(firstOp + 1); ; n++ {
			c, ok := l.commits[n]
			if !ok {
				break
			}
			did := l.effects[n]
			switch {
			case n <= l.kept && i > 0: // counted before
			case c.Kind == "purge" && c.Generation <= settled && carried && c.Term > term:
				w.saw(duplicateElected)
			case c.Kind == "purge" && c.Generation > settled && did.Action == PurgeDuplicate:
				w.saw(settledOnly)
			case c.Kind == "append" && did.Kind == "other" && across != "" && !appended[c.Count]:
				// It has no effect, so it was there before, as large, and not since.
				w.saw(across)
			}
			if n == l.kept {
				term = 0 // terms begin anew
			}
			switch {
			case c.Kind == "purge" && c.Generation > settled:
				settled, term, carried = c.Generation, c.Term, did.Action == PurgeComplete
				if carried {
					across = repeatedAcross
					clear(appended)
				}
			case did.Kind == "advance":
				across = repeatedBeyond
				if deletes && did.Start == did.End {
					across = repeatedAcross
				}
				clear(appended)
			case did.Kind == "append":
				appended[did.Count] = true
			}
		}
	}
}
