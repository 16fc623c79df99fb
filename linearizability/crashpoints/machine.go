package crashpoints

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/linearizability/check"
	"purgelab/linearizability/history"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// machine is one replica on one disk, its one client, and the judges of one case.
type machine struct {
	o      Options
	disk   *crashfs.Disk
	set    *faultfs.Set
	member *replica.Replica // nil: down
	boots  uint64
	now    int64
	token  uint64
	reply  *op.Reply // to token
	steps  int

	rec     history.Recorder
	process int
	watch   *invariant.Checker

	points  []*Point // not yet struck; the first one is armed
	struck  int
	broken  error // why the case is red before the judges are asked
	calls   [][]crashfs.Call
	images  [2]imageList // of the power loss of each point
	ended   int          // calls on the log when the workload was over
	settled bool         // the first fault and what followed from it are over
}

type imageList struct {
	list []crashfs.Image
	all  bool
}

// stepLimit ends a case that does not come to an end.
const stepLimit = 20_000

func newMachine(o Options, points []*Point) *machine {
	m := &machine{o: o, disk: crashfs.New(), set: faultfs.NewSet(), points: points, watch: invariant.New(1, 1, 1), calls: make([][]crashfs.Call, 1)}
	m.watch.Design(o.Design)
	m.set.Hit = func(*faultfs.Error) { m.strike() }
	fs := m.disk.FS()
	m.broken = errors.Join(fs.Mkdir("machine", dir), fs.SyncDir("machine", "."), replica.Format(replica.Config{ID: 1, Cluster: 1, FS: fs, Dir: dir}))
	m.disk.LogCalls(true)
	m.arm(0)
	return m
}

const dir = "p0"

// arm makes the next point strike; skip are calls already on the log.
func (m *machine) arm(skip int) {
	m.disk.Arm(nil)
	m.set.Clear()
	if len(m.points) == 0 {
		return
	}
	p := m.points[0]
	if r, ok := p.rule(); ok {
		m.set.Add(r)
		return
	}
	left := p.Call + 1 + skip
	action := crashfs.CrashBefore
	if p.Kind.after() {
		action = crashfs.CrashAfter
	}
	m.disk.Arm(func(vfs.Label, string) crashfs.Action {
		if left--; left == 0 {
			return action
		}
		return crashfs.Continue
	})
}

// strike notes that the armed point broke a call, and arms the next.
func (m *machine) strike() {
	p := m.points[0]
	m.points = m.points[1:]
	skip := 0
	if p.Kind == FailAfter {
		skip = 1 // the call that fails is made all the same
	}
	m.keepCalls()
	m.struck++
	m.arm(skip)
}

// keepCalls closes the list of calls up to the strike and begins the next.
func (m *machine) keepCalls() {
	m.calls[m.struck] = m.disk.Calls()
	m.calls = append(m.calls, nil)
	m.disk.LogCalls(true)
}

// Observe implements observe.Sink.
func (m *machine) Observe(e observe.Event) {
	e.Time, e.Replica = m.now, 1
	m.watch.Observe(e)
}

// down ends the replica. A machine that crashed does so as its point says; one
// whose replica stopped because its disk failed is restarted.
func (m *machine) down(err error) {
	m.member = nil
	power := true
	var disk *replica.DiskError
	switch {
	case (errors.Is(err, vfs.ErrCrashed) || m.disk.Crashed()) && len(m.points) > 0:
		p := m.points[0]
		if power = p.Kind.power(); power {
			i := m.struck
			if p.Image == nil {
				l := &m.images[i]
				l.list, l.all = m.disk.Images(m.o.Images, rand.New(rand.NewPCG(uint64(p.Call), 1)))
				p.Image = l.list[0]
			}
			m.strike()
			m.disk.PowerLossAs(p.Image)
		} else {
			m.strike()
			m.disk.ProcessCrash()
		}
	case errors.As(err, &disk):
		m.disk.PowerLoss(rand.New(rand.NewPCG(m.boots, 2)))
	default:
		m.broken = fmt.Errorf("refuses: %w", err)
		return
	}
	action := observe.Action("ProcessCrash")
	if power {
		action = "PowerLoss"
	}
	m.Observe(observe.Event{Action: action})
}

// lose is a power loss that keeps nothing.
func (m *machine) lose() {
	m.member = nil
	m.disk.PowerLossAs(nil)
	m.Observe(observe.Event{Action: "PowerLoss"})
}

// boot opens the replica until it stays up.
func (m *machine) boot() {
	for m.member == nil && m.broken == nil {
		m.boots++
		if m.steps++; m.steps > stepLimit {
			m.broken = errors.New("stuck: it does not stay up")
			return
		}
		r, err := replica.Open(replica.Config{
			ID: 1, Members: []int{1}, Cluster: 1, FS: m.set.Wrap(m.disk.FS()), Dir: dir,
			HeartbeatTicks: 1, ElectionTicks: 2, CheckpointOps: 5, Sessions: 16, SegmentBytes: 260, JournalBytes: 900,
			Rand: rand.New(rand.NewPCG(m.boots, 3)), Sink: m, Defects: m.o.Defects, Design: m.o.Design, Variants: m.o.Variants,
		})
		if err != nil {
			m.down(err)
			continue
		}
		m.member = r
		m.watch.Booted(m.now, 1, 0, r)
	}
}

// step gives one input; the replica may be down afterwards.
func (m *machine) step(in replica.Input) (work bool) {
	if m.steps++; m.steps > stepLimit && m.broken == nil {
		m.broken = errors.New("stuck: no end after many steps")
	}
	in.Now = m.now
	out, err := m.member.Step(in)
	if err != nil {
		m.down(err)
		return false
	}
	for i := range out.Answers {
		if a := &out.Answers[i]; a.Token == m.token {
			reply := a.Reply
			m.reply = &reply
		}
	}
	v := m.member.View()
	m.watch.Acknowledged(1, 0, v.Committed)
	m.watch.Stepped(m.now, 1, 0, m.member)
	return out.Work
}

// settle does all work that is left; false if the replica went down.
func (m *machine) settle() bool {
	for m.broken == nil && m.step(replica.Input{Work: true}) {
	}
	return m.member != nil && m.broken == nil
}

func (m *machine) tick() bool {
	m.now += 10
	m.step(replica.Input{Tick: true})
	return m.member != nil && m.settle()
}

// do asks until there is an answer that is not a promise of no effect. What may
// have taken effect is asked again under its own number, but for a registration,
// which has none.
func (m *machine) do(req *op.Request) op.Reply {
	if m.broken != nil {
		return op.Reply{}
	}
	m.rec.Invoke(m.process, m.now, req)
	m.watch.Invoked(0, req)
	for m.broken == nil {
		m.boot()
		if m.broken != nil {
			break
		}
		m.token++
		m.reply = nil
		m.step(replica.Input{Request: &replica.Request{Token: m.token, Op: req}})
		up := m.member != nil && m.settle()
		for up && m.reply == nil && m.broken == nil {
			up = m.tick()
		}
		if m.reply == nil {
			if req.Kind == op.Register && m.broken == nil {
				m.rec.Unknown(m.process, m.now, 0, "it stopped")
				m.process++
				m.rec.Invoke(m.process, m.now, req)
			}
			continue
		}
		if m.reply.Code.Retriable() {
			if up {
				m.tick()
			}
			continue
		}
		m.rec.Answer(m.process, m.now, m.reply)
		m.watch.Returned(m.now, 0, req, m.reply)
		reply := *m.reply
		m.rest()
		return reply
	}
	return op.Reply{}
}

// rest lets the machine finish what it began; after the first fault that ends
// the recovery.
func (m *machine) rest() {
	for m.broken == nil {
		m.boot()
		if m.broken == nil && m.settle() {
			if v := m.member.View(); v.Serving && v.Idle && !v.Purging && v.Facts.Applied == v.Committed {
				break
			}
			m.tick()
		}
	}
	if m.struck == 1 && !m.settled {
		m.settled = true
		m.calls[1] = m.disk.Calls()
	}
}

// judge ends a case.
func (m *machine) judge() (red string) {
	if m.broken == nil {
		m.watch.Rest(m.now, 0, []invariant.Subject{m.member})
	}
	// What a replica shows from inside names the cause of what follows from it.
	if vs := m.watch.Violations(); len(vs) > 0 {
		return vs[0].String()
	}
	if m.broken != nil {
		return m.broken.Error()
	}
	ops, err := m.rec.Ops()
	if err != nil {
		return err.Error()
	}
	var how check.Options
	if m.o.Design == replica.Advance {
		how.Semantics.Numbering = model.Continue
	}
	r, _, err := check.Check(context.Background(), ops, how)
	if err != nil || r.Verdict != verdict.Pass {
		return fmt.Sprintf("%s: %s %v", r.Property, r.Reason, err)
	}
	return ""
}
