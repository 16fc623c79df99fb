package traces

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// toy is a group of replicas as naive as can be: one agreed log, and replicas
// that apply it at their own pace and crash between any two durable steps. It
// knows nothing of how the implementation does things, only what is legal, and
// serves to try the trace modules.
type toy struct {
	r       *rand.Rand
	w       *Writer
	time    int64
	log     []observe.Event // committed; log[i] is op i+2
	settled op.Generation   // by the log
	end     op.Offset       // after the log
	start   op.Offset
	marks   map[string]op.Offset
	gen     op.Generation
	effects []observe.Event // of log[i]
	reps    []*toyReplica
	said    op.Number
	term    uint64
}

type toyReplica struct {
	id          int
	up, serving bool
	leads       bool
	applied     op.Number
	gen         op.Generation
	start, end  op.Offset
	front       op.Number // highest op that the disk gives evidence of
	marks       map[string]bool
	stage       int // of the purge in progress; after a boot its steps are done again

	// On disk.
	marker observe.Event // kind, op, generation
	saved  toySaved
}

type toySaved struct {
	applied    op.Number
	start, end op.Offset
	gen        op.Generation
	marks      map[string]bool
}

func newToy(seed uint64, replicas int, buf *bytes.Buffer) *toy {
	t := &toy{r: rand.New(rand.NewPCG(seed, 1)), marks: map[string]op.Offset{}, said: firstOp}
	t.w = NewWriter(buf, Header{Design: "ordered", Replicas: replicas, Partitions: 1})
	for i := 1; i <= replicas; i++ {
		p := &toyReplica{id: i, marker: observe.Event{Kind: "none"}, saved: toySaved{applied: firstOp}, front: firstOp}
		t.reps = append(t.reps, p)
		t.boot(p)
	}
	t.lead(t.reps[0])
	return t
}

func (t *toy) emit(p *toyReplica, e observe.Event) {
	t.time += int64(t.r.IntN(3))
	e.Time, e.Replica = t.time, p.id
	if e.Action != ProcessCrash && e.Action != PowerLoss {
		e.Applied, e.Start, e.End = p.applied, p.start, p.end
		if e.Generation == 0 {
			e.Generation = p.gen
		}
	}
	t.w.Observe(e)
}

// lead lets a replica begin to lead, in a term of its own, which an op without effect
// begins.
func (t *toy) lead(p *toyReplica) {
	t.term++
	p.leads = true
	t.emit(p, observe.Event{Action: BecomeLeader, Term: t.term})
	n := op.Number(len(t.log) + firstOp + 1)
	t.log = append(t.log, observe.Event{Action: Commit, Op: n, Term: t.term, Kind: "other"})
	t.effects = append(t.effects, observe.Event{Action: Materialize, Op: n, Kind: "other"})
}

// agree adds a random op with its effect to the log.
func (t *toy) agree() {
	n := op.Number(len(t.log) + firstOp + 1)
	key := fmt.Sprintf("consumer-%d", 1+t.r.IntN(2))
	c := observe.Event{Action: Commit, Op: n, Term: t.term, Kind: "other"}
	e := observe.Event{Action: Materialize, Op: n, Kind: "other"}
	switch t.r.IntN(10) {
	case 0, 1, 2, 3:
		c.Kind, c.Count = "append", 1+t.r.IntN(3)
		e.Kind, e.Count, e.Offset = "append", c.Count, t.end
		t.end += op.Offset(c.Count)
	case 4, 5:
		at := op.Offset(t.r.IntN(int(t.end) + 3))
		c.Kind, c.Key, c.Offset = "store", key, at
		if at < t.end {
			e.Kind, e.Key, e.Offset = "store", key, at
			t.marks[key] = at
		}
	case 6:
		c.Kind, c.Key = "delete", key
		if _, ok := t.marks[key]; ok {
			e.Kind, e.Key = "delete", key
			delete(t.marks, key)
		}
	case 7:
		c.Kind, c.Offset = "advance", -1
		if t.end > t.start {
			e.Kind, e.Offset = "advance", t.end
			t.start = t.end
		}
	case 8:
		c.Kind, c.Generation = "purge", op.Generation(t.r.IntN(int(t.gen)+3))+1
		e = observe.Event{Action: PurgeDuplicate, Op: n, Kind: "other"}
		if c.Generation > t.settled {
			t.settled = c.Generation
			if t.r.IntN(4) == 0 {
				e.Generation = c.Generation // expected another position
				break
			}
			e = observe.Event{Action: PurgeComplete, Op: n, Generation: c.Generation}
			t.gen, t.start, t.end, t.marks = c.Generation, 0, 0, map[string]op.Offset{}
		}
	}
	t.log, t.effects = append(t.log, c), append(t.effects, e)
}

func (t *toy) boot(p *toyReplica) {
	p.up, p.serving, p.stage = true, false, 0
	p.applied, p.gen, p.start, p.end = p.saved.applied, p.saved.gen, p.saved.start, p.saved.end
	p.marks = maps.Clone(p.saved.marks)
	if p.marks == nil {
		p.marks = map[string]bool{}
	}
	e := observe.Event{Action: Boot, Kind: p.marker.Kind, Op: p.marker.Op, Front: p.front, Count: len(p.marks)}
	t.emit(p, e)
}

// apply takes the next step of replica p: a durable step of a purge is one.
func (t *toy) apply(p *toyReplica) {
	i := int(p.applied) - firstOp
	if i >= len(t.log) {
		return
	}
	c, e := t.log[i], t.effects[i]
	t.emit(p, c)
	if e.Action != PurgeComplete {
		p.applied = e.Op
		switch e.Kind {
		case "append":
			p.end += op.Offset(e.Count)
			p.front = max(p.front, e.Op)
		case "store":
			p.marks[e.Key] = true
			p.front = max(p.front, e.Op)
		case "delete":
			delete(p.marks, e.Key)
			p.front = max(p.front, e.Op)
		case "advance":
			p.start = e.Offset
		}
		t.emit(p, e)
		return
	}
	silent := func() bool { return t.r.IntN(8) == 0 } // the crash comes before the report
	did := observe.Event{Op: e.Op, Generation: e.Generation}
	switch p.stage {
	case 0:
		did.Action = PurgeBegin
		p.marker = observe.Event{Kind: "begun", Op: e.Op, Generation: e.Generation}
		p.front = max(p.front, e.Op)
	case 1:
		did.Action = PurgeSwitch
	case 2:
		did.Action = PurgeComplete
		p.marker.Kind = "complete"
		p.saved, p.front, p.marks = toySaved{applied: e.Op, gen: e.Generation}, e.Op, map[string]bool{}
	}
	if silent() {
		t.crash(p)
		return
	}
	if p.stage++; p.stage == 3 {
		p.stage, p.applied, p.gen, p.start, p.end = 0, e.Op, e.Generation, 0, 0
	}
	t.emit(p, did)
}

func (t *toy) crash(p *toyReplica) {
	p.up, p.leads = false, false
	if t.r.IntN(2) == 0 {
		t.emit(p, observe.Event{Action: ProcessCrash})
		return
	}
	p.front = max(p.saved.applied, p.marker.Op)
	t.emit(p, observe.Event{Action: PowerLoss})
}

func (t *toy) step() {
	p := t.reps[t.r.IntN(len(t.reps))]
	switch k := t.r.IntN(40); {
	case k < 12:
		t.agree()
	case !p.up:
		t.boot(p)
	case k == 12:
		t.crash(p)
	case k == 13 && p.marker.Kind != "begun" && p.applied > p.saved.applied:
		p.saved = toySaved{p.applied, p.start, p.end, p.gen, maps.Clone(p.marks)}
		p.front = max(p.front, p.applied)
		if t.r.IntN(6) == 0 {
			t.crash(p)
			return
		}
		t.emit(p, observe.Event{Action: Checkpoint, Op: p.applied})
	case k == 14:
		t.emit(p, observe.Event{Action: Reclaim})
	case k == 15 && p.serving && !p.leads:
		t.lead(p)
	case k == 15 && p.serving && p.end > p.start:
		t.emit(p, observe.Event{Action: Answer, Kind: "poll", Offset: p.start, Count: int(p.end - p.start)})
	case !p.serving && p.applied >= p.front && p.marker.Kind != "begun":
		p.serving = true
		t.emit(p, observe.Event{Action: Serve})
	default:
		t.apply(p)
	}
}

// toyTrace is a legal trace of about n events.
func toyTrace(t testing.TB, seed uint64, replicas, n int) *Trace {
	var buf bytes.Buffer
	w := newToy(seed, replicas, &buf)
	for w.w.Len() < n {
		w.step()
	}
	require.NoError(t, w.w.Close())
	tr, err := Read(&buf, fmt.Sprintf("toy-%d.ndjson", seed))
	require.NoError(t, err)
	return tr
}
