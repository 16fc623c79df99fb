package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// Drive leads a replica through actions as Replay does, and compares it with nothing:
// whether a replica that does not follow the specification does any harm is for others
// to judge.
type Drive struct {
	d     *driver
	table *Design
}

// NewDrive begins with an empty disk. What the replica does goes to sink.
func NewDrive(design replica.Design, variants replica.Variants, policy replica.Policy, defects defect.Set, sink observe.Sink) (*Drive, error) {
	d, err := newDriver(design, defects)
	if err != nil {
		return nil, err
	}
	d.policy, d.variants = policy, variants
	i := slices.IndexFunc(Table, func(t Design) bool { return t.Name == design.String() })
	d.sink = sink
	return &Drive{d, &Table[i]}, nil
}

// ShowLeader lets who watches see the leader, too, and what it offers: as replica 2.
func (v *Drive) ShowLeader() (*replica.Replica, error) {
	l, err := newDriver(v.d.design, 0)
	if err != nil {
		return nil, err
	}
	l.sink = elsewhere{v.d.sink}
	v.d.coming.leader = l
	if err := l.boot(); err != nil {
		return nil, err
	}
	return l.r, nil
}

// Member is the replica, nil while it is down.
func (v *Drive) Member() *replica.Replica { return v.d.r }

// ErrNotTaken is an action that the replica, as it is, does not take: what has to come
// before it did not.
var ErrNotTaken = errors.New("not taken")

// NeedsLeader tells whether nobody understands an action who does not see the leader.
func NeedsLeader(a *behaviours.Act) bool {
	return a.Action == "CommitElsewhere" || a.Action == "StageManifest" || a.Action == "RefuseTransfer"
}

// Take takes an action. Of a loss of power With["keep"] says what outlives it, as Left
// does. An error may be that with which the replica Stopped by itself, after which it is
// down and has lost all that was not synced; if it is not, nor ErrNotTaken, the driver failed.
func (v *Drive) Take(a *behaviours.Act) error {
	d := v.d
	d.told = nil
	i := slices.IndexFunc(v.table.Rows, func(r Row) bool { return r.Action == a.Action })
	if i < 0 {
		return fmt.Errorf("%w: %s is no action of %s", ErrNotTaken, a.Action, v.table.Name)
	}
	if d.able(a) != nil {
		return ErrNotTaken
	}
	ends := a.Action == "ProcessCrash" || a.Action == "PowerLoss" || a.Action == "BeginSequence"
	if o := d.opening; (ends || a.Action == "Recreate") && o != nil { // what the boot has done is told now
		d.opening = nil
		o.image(d)
	}
	var err error
	switch a.Action {
	case "PowerLoss":
		d.powerLoss(kept(fmt.Sprint(a.With["keep"])))
	case "Answer": // what it is is for others to judge
		var q *op.Request
		if q, err = question(a.With["q"].(map[string]any)); err == nil {
			_, err = d.read(q)
		}
	default:
		err = d.take(&v.table.Rows[i], a)
	}
	if err == nil && a.Action == "Materialize" {
		d.deletion(a)
	}
	if ends {
		d.sink.Observe(observe.Event{Action: a.Action})
	}
	d.follow()
	if err = outcome(err); Stopped(err) {
		d.opening = nil
		end := endOf(err)
		if end == "ProcessCrash" {
			d.processCrash()
		} else {
			d.powerLoss(kept("none"))
		}
		d.sink.Observe(observe.Event{Action: end})
	}
	return err
}

// outcome is what comes of an error in taking an action. What a replica does not do, or
// does otherwise, or refuses, is not taken.
func outcome(err error) error {
	var miss *missing
	var fault *unfit
	var diff *Difference
	if errors.As(err, &miss) || errors.As(err, &fault) || errors.As(err, &diff) || errors.Is(err, errRefused) {
		return ErrNotTaken
	}
	return err
}

// Stopped tells whether an error is that with which a replica stopped by itself.
func Stopped(err error) bool {
	var end *stopped
	return errors.As(err, &end)
}

// endOf is how one ends that stopped by itself. After a failed sync nobody knows what the
// disk has; what contradicts itself there does so at the next boot, too.
func endOf(err error) observe.Action {
	if errors.Is(err, corrupt.ErrCorrupt) {
		return "ProcessCrash"
	}
	return "PowerLoss"
}

// Told is what a client asked, and what it was answered.
type Told struct {
	Request *op.Request
	Reply   op.Reply
}

// Told is what clients were told in the last action.
func (v *Drive) Told() []Told { return v.d.told }

// deletion notes what is answered to who had records deleted, which is what the op says.
func (d *driver) deletion(a *behaviours.Act) {
	o, _ := a.With["o"].(map[string]any)
	f := d.r.View().Facts
	start := op.Offset(integer(o["o"]))
	if start < 0 {
		start = f.End
	}
	if o["k"] != "advance" || start > f.End {
		return
	}
	at := op.Position{Incarnation: f.Incarnation, Generation: f.Generation, Offset: start}
	d.told = append(d.told, Told{&op.Request{Kind: op.DeleteRecords}, op.Reply{Position: at}})
}

// Left says what outlived the last loss of power of what was not synced: none, all, or
// the names of changes.
func (v *Drive) Left() string {
	switch d := v.d; {
	case len(d.left) == 0:
		return "none"
	case d.lost == 0:
		return "all"
	default:
		return strings.Join(d.left, ",")
	}
}

// kept is the opposite of Left.
func kept(text string) func(crashfs.Change) bool {
	return func(c crashfs.Change) bool {
		return text == "all" || slices.Contains(strings.Split(text, ","), nameOf(c))
	}
}

// Up boots the replica if it is down, and ends a boot that is under way.
func (v *Drive) Up() error {
	d := v.d
	if d.opening != nil {
		d.disk, d.opening = d.opening.before, nil
	}
	if d.r != nil {
		return nil
	}
	return takeBoot(d, nil)
}

// Rest lets the replica, which is up, hear that all it was brought is committed, and do
// what it then has to do.
func (v *Drive) Rest() error {
	d := v.d
	d.image = nil
	if err := d.agree(); err != nil {
		return err
	}
	if n := len(d.log); n > 0 && !d.leads {
		if err := d.commit(n); err != nil {
			return err
		}
	}
	if d.intent > 0 {
		if err := d.step(replica.Input{Intents: []replica.Intent{{Generation: d.intent}}}); err != nil {
			return err
		}
	}
	// What a disk refused is tried again after some ticks: fewer than a follower waits.
	for range patience {
		if err := d.step(replica.Input{Tick: true}); err != nil {
			return err
		}
		if err := d.assent(); err != nil {
			return err
		}
		const most = 1000 // no replica of a scenario has more to do
		for n := 0; ; n++ {
			out, err := d.r.Step(replica.Input{Work: true})
			if err != nil {
				return err
			}
			if !out.Work {
				break
			}
			if n == most {
				return fmt.Errorf("replay: %d pieces of work and no end", most)
			}
		}
	}
	return nil
}

const patience = 15

// Follow is Replay that also writes down the actions, in a way that does not need the
// states: for Drive to take them with any defect, or with none.
func Follow(b *behaviours.Behaviour, defects defect.Set) (words []string, diff *Difference, err error) {
	diff, err = follow(b, defects, func(d *driver, a *behaviours.Act) {
		if a.Action == "Init" {
			return
		}
		line := Words(a)
		if a.Action == "PowerLoss" {
			line += " keep=" + (&Drive{d: d}).Left()
		}
		words = append(words, line)
	})
	if err != nil {
		return nil, nil, err
	}
	for _, a := range b.Acts[len(words)+1:] { // not followed to here
		line := Words(&a)
		if a.Action == "PowerLoss" {
			line += " keep=none"
		}
		words = append(words, line)
	}
	return words, diff, nil
}
