package replay

import (
	"fmt"
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// This file leads a replica through a transfer. The leader for which the driver speaks
// has dropped what the replica needs, and offers what another replica has that was
// brought all ops up to one.

// coming is a state on its way to the replica.
type coming struct {
	shown  bool              // the behaviour tells of such states
	state  state             // zero: none is
	sender *transfer.Sender  // of the offer that the replica works on, nil: of none
	asked  *transfer.Request // what it asked for last
	// installed is the replica that an install has booted, for the Boot that comes next;
	// what it told of that is told then.
	installed *replica.Replica
	holding   bool
	told      []observe.Event
	leader    *driver // that who watches sees, nil: none
}

// state is what may be offered: as of an op, and under reset-record in a generation, of
// which the first reset found a journal that ended with the floor.
type state struct {
	op         int
	generation op.Generation
	floor      int
}

// stateOf is what an action offers.
func stateOf(a *behaviours.Act) state {
	x, ok := a.With["x"].(map[string]any)
	if !ok {
		x = a.With
	}
	return state{integer(x["n"]), op.Generation(integer(x["g"])), integer(x["floor"])}
}

// interrupted: the replica has stopped. What is staged stays.
func (c *coming) interrupted() {
	c.sender, c.asked, c.installed, c.holding, c.told = nil, nil, nil, false, nil
}

// withhold tells whether an event is to be told later, as those from an install on are: a
// replica tells of one when it has booted.
func (c *coming) withhold(e observe.Event) bool {
	if c.holding = c.holding || e.Action == "CommitInstall"; c.holding {
		c.told = append(c.told, e)
	}
	return c.holding
}

// tell tells what was withheld.
func (c *coming) tell(sink observe.Sink) {
	for _, e := range c.told {
		if sink != nil {
			sink.Observe(e)
		}
	}
	c.holding, c.told = false, nil
}

// offer offers a state, and tells whether the replica showed the action.
func (d *driver) offer(x state, action observe.Action) error {
	if err := d.has(x.op, 0); err != nil {
		return err
	}
	s, m, err := d.offering(x)
	if err != nil {
		return err
	}
	if err := d.known(x); err != nil {
		return err
	}
	d.tellOffer(m)
	if err := d.heartbeat(); err != nil {
		return err
	}
	// That it comes so late that the replica has the op already is for the manifest to tell.
	above := op.Number(len(d.log)) + d.r.View().Last + 2
	snapshot := &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		Index: ptr(uint64(above)), Term: ptr(d.term), ConfState: &raftpb.ConfState{Voters: []uint64{self, leader}},
	}}
	if err := d.hear(&raftpb.Message{Type: raftpb.MsgSnap.Enum(), Snapshot: snapshot}); err != nil {
		return err
	}
	d.coming.asked = nil
	d.coming.sender = s
	return d.shows(action, func() error { return d.give(&transfer.Message{Offer: m, ID: m.ID()}) })
}

// shows takes a step that must show the action.
func (d *driver) shows(action observe.Action, take func() error) error {
	seen := len(d.events)
	if err := take(); err != nil {
		return err
	}
	if !slices.ContainsFunc(d.events[seen:], func(e observe.Event) bool { return e.Action == action }) {
		return &missing{action}
	}
	return nil
}

// give brings a message of a transfer.
func (d *driver) give(m *transfer.Message) error {
	return d.step(replica.Input{Message: &replica.Message{From: leader, To: self, Incarnation: 1, Member: leader, Transfer: m}})
}

// resume makes the offer once more if a crash has come since.
func (d *driver) resume() error {
	if d.coming.sender != nil || d.coming.state.op == 0 {
		return nil
	}
	return d.offer(d.coming.state, "StageManifest")
}

func takeCommitElsewhere(d *driver, a *behaviours.Act) error {
	n := len(d.log) + 1
	if given, ok := a.With["n"]; ok {
		n = integer(given)
	}
	if err := d.has(n, 1); err != nil {
		return err
	}
	r, err := request(n, a.With["o"].(map[string]any))
	if err != nil {
		return err
	}
	if err := d.agreed(n, r); err != nil || d.design == replica.ResetRecord {
		return err
	}
	return d.known(state{op: len(d.log)})
}

func takeStageManifest(d *driver, a *behaviours.Act) error {
	if err := d.offer(stateOf(a), "StageManifest"); err != nil {
		return err
	}
	d.coming.state = stateOf(a)
	return nil
}

// takeCompact has the replica drop what a checkpoint has, and remove the files.
func takeCompact(d *driver, a *behaviours.Act) error {
	if int(d.r.View().Last)-1 == integer(a.With["n"]) {
		if err := d.succeeds(); err != nil {
			return err
		}
	}
	if err := d.step(replica.Input{Tick: true}); err != nil {
		return err
	}
	const most = 32 // no journal has as many files
	for range most {
		if err := d.step(replica.Input{Work: true, Job: replica.Trim}); err != nil {
			return err
		}
	}
	fs := d.disk.FS()
	home, err := d.homeOn(fs)
	if err != nil {
		return err
	}
	first, err := d.firstOf(fs, home)
	if err != nil {
		return err
	}
	if first != a.With["n"] {
		return &missing{a.Action}
	}
	return nil
}

func takeRefuseTransfer(d *driver, a *behaviours.Act) error {
	err := d.offer(stateOf(a), "RefuseTransfer")
	d.coming.sender = nil
	return err
}

// imaged takes a step, and keeps the disk as it was before the first call with a label:
// after one with another label, and of any label, if these are given, empty if not. If no
// such call is made it is the disk after the step.
func (d *driver) imaged(after, label vfs.Label, take func() error) error {
	passed := after == ""
	var image *crashfs.Disk
	d.disk.Arm(func(l vfs.Label, _ string) crashfs.Action {
		if passed && image == nil && (label == "" || l == label) {
			image = d.disk.Clone()
		}
		passed = passed || l == after
		return crashfs.Continue
	})
	err := take()
	d.disk.Arm(nil)
	if image == nil {
		image = d.disk.Clone()
	}
	image.Arm(nil)
	d.image = image
	return err
}

func takeStageChunk(d *driver, a *behaviours.Act) error {
	if err := d.resume(); err != nil {
		return err
	}
	return d.imaged("", "transfer.chunk.sync", d.bringChunk)
}

// bringChunk brings the chunk that is asked for.
func (d *driver) bringChunk() error {
	c := &d.coming
	if c.sender == nil || c.asked == nil || c.asked.Offer == 0 {
		return &missing{"StageChunk"}
	}
	q := c.asked
	c.asked = nil
	if m := c.sender.Request(leader, q); m != nil {
		return fmt.Errorf("offer %x is not held", q.Offer)
	}
	_, m, err := c.sender.Next()
	if err != nil {
		return err
	}
	return d.give(m)
}

func takeSyncPiece(d *driver, _ *behaviours.Act) error { return d.resume() }

func takeStageState(d *driver, a *behaviours.Act) error {
	if err := d.resume(); err != nil {
		return err
	}
	return d.until(replica.Stage, a.Action)
}

func takeCommitInstall(d *driver, a *behaviours.Act) error {
	if err := d.resume(); err != nil {
		return err
	}
	err := d.imaged("replica.member.dirsync", "", func() error { return d.until(replica.Install, a.Action) })
	if err != nil {
		return err
	}
	d.r, d.coming.installed = nil, d.r
	d.coming.state, d.coming.sender, d.parted = state{}, nil, unparted
	return nil
}

// refusedStaging are the disk calls of a transfer that can be refused without doubt about
// what the disk holds.
var refusedStaging = []string{"op=create label=transfer", "op=write label=transfer", "op=mkdir label=journal.begin"}

func takeDropTransfer(d *driver, a *behaviours.Act) error {
	x, v := d.coming.state, d.r.View()
	if held := d.shared() >= x.op; d.coming.sender == nil && (held || d.design == replica.ResetRecord && v.Facts.Generation > x.generation) {
		// It came to the op by itself, and gives up when it hears that this is committed; or
		// it has purged more.
		if held {
			if err := d.commit(x.op); err != nil {
				return err
			}
		}
		if err := d.step(replica.Input{Tick: true}); err != nil {
			return err
		}
	} else if err := d.dropped(); err != nil {
		return err
	}
	d.coming.state, d.coming.sender = state{}, nil
	return d.until(replica.Clear, "ReclaimOld")
}

// dropped has the disk refuse what comes next.
func (d *driver) dropped() error {
	if err := d.resume(); err != nil {
		return err
	}
	for _, call := range refusedStaging {
		rule, err := faultfs.Parse("fail-before times=0 " + call)
		if err != nil {
			return err
		}
		d.faults.Add(rule)
	}
	defer d.faults.Clear()
	if d.coming.asked != nil && d.coming.asked.Offer != 0 {
		return d.shows("DropTransfer", d.bringChunk)
	}
	return d.until(replica.Install, "DropTransfer")
}
