package scenario

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"purgelab/impl/corrupt"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
)

// stopped takes a replica down that cannot go on. If its machine crashed under it,
// as was armed, it may be started again; and if its disk failed, too, but after a
// power loss only, since a cache may show what the disk has not. Otherwise it
// refuses for good.
func (w *world) stopped(n *node, err error) {
	var disk *replica.DiskError
	switch {
	case errors.Is(err, vfs.ErrCrashed) && n.disk.Crashed():
		w.down(n, n.power, nil)
	case errors.As(err, &disk):
		w.down(n, true, nil)
		n.ended = err
	case len(w.all) > 1: // the others go on
		w.ends(n, "ProcessCrash")
		n.ended = err
	default:
		w.down(n, false, nil)
		n.ended = err
	}
}

// refuses: the replica stopped for a reason that no restart takes away.
func (n *node) refuses() bool {
	var disk *replica.DiskError
	return n.ended != nil && !errors.As(n.ended, &disk)
}

// refusesTyped: and it says what is wrong with its disk.
func (n *node) refusesTyped() bool {
	var forgot *replica.ForgottenError
	return n.refuses() && (errors.Is(n.ended, corrupt.ErrCorrupt) || errors.As(n.ended, &forgot))
}

// down ends the replicas of a machine. Of what a power loss finds unsynced nothing
// stays but what keep says.
func (w *cluster) down(n *node, power bool, keep crashfs.Image) {
	n.disk.Arm(nil)
	n.up = false
	n.downs++
	action := observe.Action("ProcessCrash")
	if power {
		action = "PowerLoss"
		n.disk.PowerLossAs(keep)
	} else {
		n.disk.ProcessCrash()
	}
	for _, x := range w.all {
		x.ends(x.nodes[n.id], action)
	}
	if !power {
		return
	}
	n.losses++
	n.dark = true
	for _, x := range w.all {
		x.lostPower(x.nodes[n.id])
	}
}

// ends takes the replica of one partition down.
func (w *world) ends(n *node, action observe.Action) {
	n.member, n.work = nil, false
	sink{w, n.id, w.shard}.Observe(observe.Event{Action: action})
}

// arm crashes a machine at the nth disk call from now on whose label begins so.
func (w *world) arm(n *node, power, after bool, label string, nth int) {
	n.power, n.left = power, nth
	n.disk.Arm(func(l vfs.Label, _ string) crashfs.Action {
		if !strings.HasPrefix(string(l), label) {
			return crashfs.Continue
		}
		if n.left--; n.left != 0 {
			return crashfs.Continue
		}
		if after {
			return crashfs.CrashAfter
		}
		return crashfs.CrashBefore
	})
}

// keepAll are more decisions than a disk of a scenario ever has open.
func keepAll(d *crashfs.Disk) crashfs.Image {
	return slices.Repeat(crashfs.Image{true}, d.Decisions())
}

// isolate cuts a replica off from all others.
func (w *world) isolate(id int) {
	for other := 1; other <= w.s.Replicas; other++ {
		if other != id {
			w.cut[id][other], w.cut[other][id] = true, true
		}
	}
}

func (w *world) heal() {
	for _, row := range w.cut {
		clear(row)
	}
}

// memberOf counts the members of the group that a machine has been.
func (w *world) memberOf(n *node) string {
	switch {
	case n.member == nil:
		return "down"
	case n.member.View().Joining:
		return fmt.Sprintf("%d, joining", n.members+1)
	}
	return fmt.Sprint(n.members + 1)
}

// look says what a replica holds.
func (w *world) look(n *node) string {
	switch {
	case n.refuses():
		return "refuses"
	case n.ended != nil:
		return "stopped"
	case w.deleted:
		return "deleted"
	case n.member == nil:
		return "down"
	}
	v := n.member.View()
	var b strings.Builder
	switch {
	case v.Sealed:
		return "sealed"
	case v.Copying:
		return "copying"
	case v.Joining:
		b.WriteString("joining, ")
	}
	if w.plane != nil && n.incarnation > 1 {
		fmt.Fprintf(&b, "incarnation %d, ", n.incarnation)
	}
	b.WriteString(contents(n.member, &v))
	return b.String()
}

// contents says what a replica holds of its partition.
func contents(m *replica.Replica, v *replica.View) string {
	var b strings.Builder
	f := &v.Facts
	if f.Generation > 0 {
		fmt.Fprintf(&b, "generation %d, ", f.Generation)
	}
	fmt.Fprintf(&b, "start %d, end %d:", f.Start, f.End)
	recs, err := m.Records(f.Start, int(f.End-f.Start))
	if err != nil {
		return fmt.Sprintf("%s cannot read: %v", b.String(), err)
	}
	for _, r := range recs {
		fmt.Fprintf(&b, " %s", r.Payload)
	}
	if len(recs) == 0 {
		b.WriteString(" nothing")
	}
	for _, m := range m.Bookmarks() {
		fmt.Fprintf(&b, ", %s at %d", keyName(m.Key), m.Position.Offset)
	}
	return b.String()
}

// count is how many files a pattern matches on a disk, a torn one not more than a
// whole one. The machine may be down.
func (w *world) count(n *node, pattern string) string {
	fs, total := n.disk.FS(), 0
	var walk func(folder string)
	walk = func(folder string) {
		names, err := fs.List(folder)
		if err != nil {
			return
		}
		for _, name := range names {
			full := path.Join(folder, name)
			if strings.HasSuffix(name, "/") {
				walk(full)
			} else if ok, _ := path.Match(pattern, full); ok {
				total++
			}
		}
	}
	walk(".")
	return fmt.Sprint(total)
}
