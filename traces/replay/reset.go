package replay

import (
	"fmt"
	"strings"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// opening is a boot that ends a cleanup, as far as the behaviour has come in it.
type opening struct {
	before *crashfs.Disk // as the boot found it
	last   vfs.Label     // the call after which it stands still; empty: before the cleanup
	times  int           // that this call was made
}

const (
	unlinkSegment  = "purge.segment.unlink"
	syncSegments   = "purge.segment.dirsync"
	unlinkBookmark = "purge.bookmark.unlink"
	syncBookmarks  = "purge.bookmark.dirsync"
)

// image is the disk in the middle of the boot, and whether the boot came there.
func (o *opening) image(d *driver) (disk *crashfs.Disk, there bool) {
	disk = o.before.Clone()
	made := 0
	disk.Arm(func(label vfs.Label, _ string) crashfs.Action {
		cleanup := label == unlinkBookmark || label == syncBookmarks
		if o.last == "" && cleanup {
			return crashfs.CrashBefore
		}
		if label == o.last {
			if made++; made == o.times {
				return crashfs.CrashAfter
			}
		}
		return crashfs.Continue
	})
	_, _ = d.open(disk) // it is stopped
	disk.Arm(nil)
	there = disk.Crashed()
	disk.ProcessCrash()
	return disk, there
}

func takeBootReset(d *driver, a *behaviours.Act) error {
	if d.coming.installed != nil {
		return takeBoot(d, a)
	}
	disk, err := d.readFlat(d.disk)
	if err != nil {
		return err
	}
	if integer(disk.reset["g"]) <= integer(disk.done) {
		return d.boot()
	}
	d.boots++
	d.opening = &opening{before: d.disk.Clone()}
	d.disk, _ = d.opening.image(d)
	return nil
}

// opened moves the boot under way on.
func (d *driver) opened(last vfs.Label, times int, action observe.Action) error {
	next := opening{d.opening.before, last, times}
	disk, there := next.image(d)
	if !there {
		return &missing{action}
	}
	*d.opening, d.disk = next, disk
	return nil
}

func takeJournal(d *driver, a *behaviours.Act) error {
	n := integer(a.With["n"])
	r, err := request(n, a.With["o"].(map[string]any))
	if err != nil {
		return err
	}
	if n > len(d.log) { // else it is committed elsewhere
		d.propose(r)
	}
	if err := d.agree(); err != nil {
		return err
	}
	return d.deliver(n, int(d.r.View().Committed)-1)
}

func takeFiltered(d *driver, a *behaviours.Act) error {
	if err := d.commit(integer(a.With["n"])); err != nil {
		return err
	}
	return d.once(replica.ApplyOne, "Filtered")
}

func takeMaterializeReset(d *driver, a *behaviours.Act) error {
	if err := d.commit(integer(a.With["n"])); err != nil {
		return err
	}
	return d.once(replica.ApplyOne, "Materialize")
}

func takeResetFrontier(d *driver, a *behaviours.Act) error {
	g := op.Generation(integer(a.With["g"]))
	d.intent = max(d.intent, g)
	if err := d.step(replica.Input{Intents: []replica.Intent{{Generation: g}}}); err != nil {
		return err
	}
	return d.until(replica.PurgeOn, "ResetFrontier")
}

func takePurgeStep(d *driver, a *behaviours.Act) error { return d.until(replica.PurgeOn, a.Action) }

func takeUnlinkBookmarks(d *driver, a *behaviours.Act) error {
	if d.opening != nil {
		return d.opened(unlinkBookmark, 1, a.Action)
	}
	_, err := d.work(replica.PurgeOn, "")
	return err
}

func takeSyncBookmarks(d *driver, a *behaviours.Act) error {
	if d.opening != nil {
		return d.opened(syncBookmarks, 2, a.Action)
	}
	return takePurgeStep(d, a)
}

func takePurgeCompleteReset(d *driver, a *behaviours.Act) error {
	if d.opening == nil {
		return takePurgeStep(d, a)
	}
	d.disk, d.opening = d.opening.before, nil
	d.boots--
	return d.boot()
}

func takeProcessCrashReset(d *driver, _ *behaviours.Act) error {
	d.opening = nil
	d.processCrash()
	return nil
}

// takePowerLossReset keeps what the state after it shows.
func takePowerLossReset(d *driver, a *behaviours.Act) error {
	was, is := d.was["disk"].(map[string]any), a.State["disk"].(map[string]any)
	now, err := d.readFlat(d.stopped())
	if err != nil {
		return err
	}
	on, err := d.onItsWay(a)
	if err != nil {
		return err
	}
	segments, bookmarks := segmentsIn(now.home), bookmarksIn(now.home)
	keep := keeping{}
	left := entriesOf(is["segs"])
	back := map[string]bool{} // names of files that are there again
	if !begins(left, entriesOf(was["segs"])) {
		back["seg-"] = true
	}
	keep.leave(&folder{segs: now.segs}, len(left), 0)
	writes := map[string]int{}                       // of a bookmark's file: how many changes are kept
	for k, f := range is["files"].(map[string]any) { //purgelab:unordered each goes under its own key
		old := was["files"].(map[string]any)[k]
		name := strings.TrimPrefix(k, "k")
		writes[name] = len(entriesOf(f)) - integer(old.(map[string]any)["synced"])
		if !begins(entriesOf(f), entriesOf(old)) {
			back[name] = true
		}
	}
	d.opening = nil
	d.powerLoss(func(c crashfs.Change) bool {
		in, name, _ := cutLast(c.Path)
		switch {
		case !on(c):
			return false
		case in == bookmarks:
			return back[name] || c.Nth < writes[name]
		case c.Path == bookmarks && c.From != "":
			return !back[c.From]
		case c.Path == bookmarks:
			return back[c.To] || len(entriesOf(is["files"].(map[string]any)["k"+c.To])) > 0
		case c.Path == segments && c.From != "":
			return !back["seg-"]
		}
		return back["seg-"] && strings.HasPrefix(c.Path, segments) || keep.change(c)
	})
	return nil
}

func cutLast(path string) (dir, name string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

func entriesOf(file any) []any { return file.(map[string]any)["es"].([]any) }

// begins tells whether list begins with some.
func begins(some, list []any) bool {
	return len(some) <= len(list) && differ("", some, list[:len(some)]) == nil
}

// refused are the disk calls of the steps of a purge, by what was done before; of the
// cleanup the first one while files are left.
var refused = map[string]string{
	"reset": unlinkSegment, "unlinked": syncSegments, "empty": "purge.reset", "clean": unlinkBookmark, "cleaned": "purge.gen",
}

// takeStepFails has the disk refuse one call.
func takeStepFails(d *driver, a *behaviours.Act) error {
	step, _ := a.With["step"].(string)
	label, ok := refused[step]
	if !ok {
		return &unfit{fmt.Sprintf("step %q: want one of a purge under way", step)}
	}
	home, err := d.homeOn(d.disk.FS())
	if err != nil {
		return err
	}
	if len(list(d.disk.FS(), bookmarksIn(home))) == 0 && step == "clean" {
		label = syncBookmarks
	}
	return d.failing(faultfs.FailBefore, label, a.Action)
}

// synced are the syncs of folders among them.
var synced = map[string]string{"unlinked": syncSegments, "clean": syncBookmarks}

// takeSyncFails: what the sync was for is lost, and the cache shows it. Both folders of
// bookmarks are one here, and the first of the two is where bookmarks are.
func takeSyncFails(d *driver, a *behaviours.Act) error {
	step, _ := a.With["step"].(string)
	label, ok := synced[step]
	if !d.variants.RetrySync || !ok {
		return &unfit{fmt.Sprintf("step %q: want one that ends with the sync of a folder, and the variant retry-sync", step)}
	}
	return d.failing(faultfs.NamesForget, label, a.Action)
}

// failing has one call of the purge fail, and the steps up to it taken.
func (d *driver) failing(how faultfs.Action, label string, action observe.Action) error {
	rule, err := faultfs.Parse(string(how) + " label=" + label)
	if err != nil {
		return err
	}
	hits := d.faults.Hits()
	d.faults.Add(rule)
	defer d.faults.Clear()
	for range 4 { // the step before it may have to find out that nothing is left to do
		if _, err := d.work(replica.PurgeOn, ""); err != nil || d.faults.Hits() > hits {
			return err
		}
	}
	return &missing{action}
}
