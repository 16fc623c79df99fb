package replay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/record"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

const (
	dir    = "p0" // of the partition
	self   = 1    // the replica that is driven
	leader = 2    // the one that the driver speaks for
)

var identity = record.Identity{Cluster: 1, Partition: 0, Replica: self, Incarnation: 1}

// place is where the files of a partition lie on a disk, and whose they say that they are.
// One that is created again under the same name has another.
type place struct {
	dir      string
	identity record.Identity
}

var firstPlace = place{dir, identity}

// next is that of who comes after it.
func (p place) next() place {
	p.identity.Incarnation++
	p.dir = fmt.Sprintf("%s-i%d", dir, p.identity.Incarnation)
	return p
}

// make makes the folder.
func (p place) make(fs vfs.FS) error {
	format := replica.Config{ID: self, Cluster: p.identity.Cluster, Incarnation: p.identity.Incarnation, FS: fs, Dir: p.dir}
	if err := errors.Join(fs.Mkdir("replay.mkdir", p.dir), fs.SyncDir("replay.mkdir", "."), replica.Format(format)); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

// driver leads one replica through a behaviour: it is its machine, which it stops and
// boots, its disk, of which it chooses what outlives a loss of power, and the leader
// from which it gets ops.
type driver struct {
	place
	design    replica.Design
	defects   defect.Set
	policy    replica.Policy
	variants  replica.Variants
	losses    uint64 // of power
	disk      *crashfs.Disk
	r         *replica.Replica // nil: down
	boots     uint64
	log       []proposal // of who leads, as the specification has it: op n is log[n-1], and op n+1 here
	parted    int        // the op above which the replica may hold what the log has not
	term      uint64     // of who leads
	cut       int        // ops that the replica holds, and drops for the next one
	committed int        // ops of the log that are known to be
	events    []observe.Event
	sink      observe.Sink // nil: nobody else listens
	answers   []replica.Answer
	purged    progress
	was       map[string]any    // the specification's state before the action
	opening   *opening          // nil: no boot is under way
	faults    *faultfs.Set      // of the disk
	intent    op.Generation     // the highest one that the replica was told
	left      []string          // what the last loss of power left of what was not synced
	lost      int               // and how much it took
	coming    coming            // a state on its way
	leads     bool              // the replica does
	sent      []*raftpb.Message // and sent these, not answered yet
	asked     op.Sequence       // the last number of a request
	told      []Told            // in the last action
	// image, if not nil, is the disk in the middle of the last action: where a crash that
	// comes next finds it.
	image *crashfs.Disk
}

func newDriver(design replica.Design, defects defect.Set) (*driver, error) {
	d := &driver{place: firstPlace, design: design, defects: defects, disk: crashfs.New(), faults: faultfs.NewSet(), parted: unparted, term: firstTerm}
	return d, d.make(d.disk.FS())
}

// Observe keeps what the replica tells.
func (d *driver) Observe(e observe.Event) {
	d.events = append(d.events, e)
	if d.sink != nil && d.opening == nil && !d.coming.withhold(e) {
		d.sink.Observe(e)
	}
}

// boot opens the replica.
func (d *driver) boot() error {
	d.boots++
	d.events = d.events[:0]
	r, err := d.open(d.disk)
	if err != nil {
		return &stopped{self, err}
	}
	d.r = r
	return nil
}

// open opens the replica on a disk, the same way each time in one boot.
func (d *driver) open(disk *crashfs.Disk) (*replica.Replica, error) {
	cfg := replica.Config{
		ID: self, Members: []int{self, leader}, Cluster: d.identity.Cluster, Incarnation: d.identity.Incarnation, Design: d.design, FS: d.faults.Wrap(disk.FS()), Dir: d.dir,
		HeartbeatTicks: 5, ElectionTicks: 30, CheckpointOps: 1 << 20, Sessions: 1, Policy: d.policy, Variants: d.variants, BootID: 1 + d.losses,
		JournalBytes: 1, Compact: replica.Compaction{Bytes: 1}, // every op is in a file of its own: any number can be dropped
		Rand: rand.New(rand.NewPCG(1, d.boots)), Sink: d, Defects: d.defects,
	}
	cfg.Transfer = replica.TransferOptions{ChunkBytes: 1, Window: 1} // a chunk for each batch
	if d.design == replica.Advance {
		cfg.SegmentBytes = 1 // a file for each batch
	}
	return replica.Open(cfg)
}

// processCrash ends the program.
func (d *driver) processCrash() {
	d.end()
	d.disk.ProcessCrash()
}

// end ends the program where the last action had come to.
func (d *driver) end() {
	d.r = nil
	if d.image != nil {
		d.disk = d.image
	}
	d.leads, d.sent = false, nil
	d.coming.interrupted()
}

// powerLoss ends it, and leaves of the disk what is stable and what keep wants.
func (d *driver) powerLoss(keep func(crashfs.Change) bool) {
	d.end()
	d.losses++
	d.left, d.lost = nil, 0
	d.disk.PowerLossKeeping(func(c crashfs.Change) bool {
		kept := keep(c)
		if name := nameOf(c); !kept {
			d.lost++
		} else if !slices.Contains(d.left, name) {
			d.left = append(d.left, name)
		}
		return kept
	})
}

// nameOf names a change that is not synced: of names path+name, path-name or
// path-name+name; of bytes path and where the write ends.
func nameOf(c crashfs.Change) string {
	if !c.Names() {
		return fmt.Sprintf("%s:%d", c.Path, c.End)
	}
	name := c.Path
	if c.From != "" {
		name += "-" + c.From
	}
	if c.To != "" {
		name += "+" + c.To
	}
	return name
}

// step gives one input.
func (d *driver) step(in replica.Input) error {
	out, err := d.r.Step(in)
	if err != nil {
		err = &stopped{self, err}
	}
	d.answers = append(d.answers, out.Answers...)
	for _, m := range out.Messages {
		if d.leads && m.Raft != nil {
			d.sent = append(d.sent, m.Raft)
		}
		if m.Transfer != nil && m.Transfer.Request != nil {
			d.coming.asked = m.Transfer.Request
		}
	}
	return err
}

// work has one kind of work done once, and tells whether it showed the action.
func (d *driver) work(j replica.Job, action observe.Action) (bool, error) {
	seen := len(d.events)
	if err := d.step(replica.Input{Work: true, Job: j}); err != nil {
		return false, err
	}
	for _, e := range d.events[seen:] {
		if e.Action == action {
			return true, nil
		}
	}
	return false, nil
}

// until has one kind of work done until it shows the action.
func (d *driver) until(j replica.Job, action observe.Action) error {
	const most = 32 // no step of a replica takes as many
	for range most {
		if done, err := d.work(j, action); done || err != nil {
			return err
		}
	}
	return &missing{action}
}

// missing: the implementation did not take an action.
type missing struct{ action observe.Action }

func (m *missing) Error() string { return fmt.Sprintf("%s is not taken", m.action) }

// agree does the work of consensus that there is.
func (d *driver) agree() error {
	for d.r.View().Agreeing {
		if err := d.step(replica.Input{Work: true, Job: replica.Agree}); err != nil {
			return err
		}
	}
	return nil
}

// tell brings a message of the other replica, and does what consensus has to do then.
func (d *driver) tell(m *raftpb.Message) error {
	m.From, m.To = ptr[uint64](leader), ptr[uint64](self)
	if err := d.step(replica.Input{Message: &replica.Message{From: leader, To: self, Incarnation: d.identity.Incarnation, Raft: m}}); err != nil {
		return err
	}
	return d.agree()
}

func ptr[T any](v T) *T { return &v }

// read asks a read, and answers what the client gets.
func (d *driver) read(req *op.Request) (op.Reply, error) {
	d.answers = d.answers[:0]
	d.r.Look(replica.Request{Token: 1, Op: req})
	if err := d.until(replica.ReadOn, "Answer"); err != nil {
		return op.Reply{}, err
	}
	reply := d.answers[0].Reply
	d.told = append(d.told, Told{req, reply})
	return reply, nil
}
