package traces

import (
	"slices"
	"sort"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// resetSteps makes the steps of a local piece of the design reset-record: its
// events, an op of the journal each its own, and the unseen ones.
func resetSteps(p Piece, a *agreed) []step {
	b := resetBuilder{applied: applied(p), crash: -1, did: "none", told: a.eras, led: a.led}
	for i, l := range p.Lines {
		b.add(i, l)
	}
	return b.out
}

// resetBuilder follows the purge under way and what is on the disk, to see at a
// boot what the crash before it must have left.
type resetBuilder struct {
	staging
	told    eras
	led     []int // lines on which a replica of the group began to lead
	applied materialized
	out     []step
	running bool
	crash   int           // index of the crash before the boot to come, or -1
	now     observe.Event // the latest event that shows the replica's state

	last  op.Number // of the journal
	saved op.Number // op of the checkpoint
	// The generation that is reset, one whose reset was begun, and the one that
	// is complete.
	gen, resetting, done op.Generation
	// did is the step of the purge under way that was taken last, in the words of
	// the specification.
	did string
	// early are holds of a purge that is known and not begun. The specification
	// takes both in one step, so they come after the first step of the purge.
	early []step
	held  int
}

// stageStep is a step of a purge: where the purge stands before it, and after.
type stageStep struct {
	action      observe.Action
	before, did string
}

// stages are the steps of a purge in order.
var stages = []stageStep{
	{ResetFrontier, "none", "reset"},
	{UnlinkSegments, "reset", "unlinked"},
	{SyncSegments, "unlinked", "empty"},
	{ResetRecord, "empty", "clean"},
	{UnlinkBookmarks, "clean", "clean"},
	{SyncBookmarks, "clean", "cleaned"},
	{PurgeComplete, "cleaned", "none"},
}

func (b *resetBuilder) add(i int, l Line) {
	s := step{Line: l}
	switch l.Action {
	case Journal:
		b.journal(i, l, l.Op, l.Last)
		return
	case ProcessCrash, PowerLoss:
		if !b.running {
			again(b.out, b.crash, l)
			return
		}
		b.running, b.crash, b.early, b.held = false, len(b.out), nil, 0
		s.Last = b.last
	case Boot:
		b.boot(i, &s.Line)
	case Checkpoint:
		b.saved = l.Op
	case StageManifest:
		b.out = append(b.out, b.take(l, b.told)...)
		return
	case StageState:
		b.whole = true
	case DropTransfer:
		b.op = 0
	case CommitInstall:
		b.op, b.home, b.early, b.held, b.did = 0, l.Key, nil, 0, "none"
	case Hold:
		if b.did == "none" && b.gen == b.done {
			b.early = append(b.early, s)
			return
		}
		b.held++
	case Release, Refuse:
		if b.held == 0 && len(b.early) > 0 {
			b.early = b.early[1:]
			return
		}
		b.held--
	case StepFails, SyncFails, RecordNotSynced:
		if l.Action == StepFails && b.did == "none" {
			return // its first step: nothing was begun
		}
		b.failed(l)
	case RetryPurge:
		b.did = "clean"
	default:
		b.stage(l.Event)
	}
	if b.running {
		era := b.now.Generation
		b.now = l.Event
		if b.now.Generation = era; l.Action == ResetRecord || l.Action == Boot {
			b.now.Generation = l.Generation
		}
	}
	b.out = append(b.out, s)
	if l.Action == ResetFrontier {
		b.held += len(b.early)
		b.out, b.early = append(b.out, b.early...), nil
	}
}

// stage notes a step of the purge under way.
func (b *resetBuilder) stage(e observe.Event) {
	i := slices.IndexFunc(stages, func(x stageStep) bool { return x.action == e.Action })
	if i < 0 {
		return
	}
	b.did = stages[i].did
	switch e.Action {
	case ResetFrontier:
		b.resetting, b.saved = e.Generation, e.Applied
	case ResetRecord:
		b.gen, b.resetting = e.Generation, 0
	case PurgeComplete:
		b.done = e.Generation
	}
}

// failed notes that the purge was given up. A record may be in place all the same.
func (b *resetBuilder) failed(l Line) {
	if l.Action == RecordNotSynced {
		switch b.did {
		case "none":
			b.resetting, b.saved = l.Generation, l.Applied
		case "empty":
			b.gen, b.resetting = l.Generation, 0
		case "cleaned":
			b.done = l.Generation
		}
	}
	b.did = "none"
}

// journal makes a step of each op from first to last. How many began to lead before it
// says whether another leader may have replaced what was there.
func (b *resetBuilder) journal(i int, l Line, first, last op.Number) {
	leaders := sort.SearchInts(b.led, l.Number)
	for n := first; n <= last; n++ {
		e := l
		e.Event = observe.Event{Time: l.Time, Replica: l.Replica, Partition: l.Partition, Action: Journal, Op: n, Last: last, Count: leaders,
			Applied: l.Applied, Start: l.Start, End: l.End}
		b.out = append(b.out, step{Line: e, Does: b.does(n, i)})
	}
	b.last = last
}

// does is what op n turns out to be when it is materialized after line i; what is
// filtered, or never comes to be applied, may be anything.
func (b *resetBuilder) does(n op.Number, i int) string {
	e, _ := b.applied.after(n, i)
	return agreedOp(e)
}

func (b *resetBuilder) boot(i int, l *Line) {
	b.running = true
	if moved := b.crash >= 0 && l.Key != b.home; moved {
		// All of the new home is durable: a power loss is no more than a crash.
		b.out = append(b.out[:b.crash], b.installed(b.out[b.crash].Line, b.now, l.Key)...)
	} else if b.crash >= 0 {
		b.found(i, l)
	}
	b.home = l.Key
	b.did = "none"
	b.crash, b.last, b.saved = -1, l.Last, l.Applied
	b.gen, b.resetting, b.done = l.Generation, l.Resetting, l.Generation
	if l.Kind == "begun" {
		b.did, b.done = "clean", l.Generation-1 // or any that is lower
	}
}

// found puts before the crash what the boot shows and no event before it told.
func (b *resetBuilder) found(i int, l *Line) {
	rest := slices.Clone(b.out[b.crash:])
	b.out = b.out[:b.crash]
	crash := &rest[0]
	defer func() { b.out = append(b.out, rest...) }()
	crash.Last, crash.Count, crash.Kind = l.Last, l.Count, l.Kind
	crash.Generation, crash.Applied, crash.Resetting = l.Generation, l.Applied, l.Resetting
	unseen := func(e observe.Event) {
		e.Time, e.Replica, e.Partition = crash.Time, crash.Replica, crash.Partition
		if e.Action != Materialize {
			e.Applied, e.Start, e.End = b.now.Applied, b.now.Start, b.now.End
		}
		b.out = append(b.out, step{Unseen: true, Line: Line{Number: crash.Number, Event: e}})
	}
	number := crash.Number
	if l.Last > b.last {
		from := len(b.out)
		b.journal(i, Line{Number: number, Event: crash.Event}, b.last+1, l.Last)
		for k := from; k < len(b.out); k++ {
			b.out[k].Unseen = true
		}
	}
	// until takes the steps of the purge up to and with the one named.
	until := func(last observe.Action, g op.Generation) {
		for _, x := range stages {
			if x.before != b.did || x.action == UnlinkBookmarks && last == ResetRecord {
				continue
			}
			e := observe.Event{Action: x.action, Generation: g, Op: l.Op}
			if x.action == ResetFrontier {
				e.Op = l.Last
			}
			if x.action == ResetRecord {
				b.now.Start, b.now.End, b.now.Generation = 0, 0, g
			}
			unseen(e)
			if b.stage(b.out[len(b.out)-1].Event); x.action == last {
				return
			}
		}
	}
	switch complete := l.Kind == "complete"; {
	case l.Generation > b.gen:
		until(ResetRecord, l.Generation)
		if complete {
			until(PurgeComplete, l.Generation)
		}
	case complete && l.Generation > b.done:
		if b.did == "none" {
			unseen(observe.Event{Action: RetryPurge, Generation: l.Generation})
			b.did = "clean"
		}
		until(PurgeComplete, l.Generation)
	case l.Resetting > max(b.gen, b.resetting):
		until(ResetFrontier, l.Resetting)
	}
	if e, ok := b.applied.unreported(&l.Event, b.now.Applied, i); ok {
		unseen(e)
		b.now.Applied, b.now.Start, b.now.End = e.Applied, e.Start, e.End
	}
	if l.Applied > b.saved {
		unseen(observe.Event{Action: Checkpoint, Op: l.Applied, Generation: b.now.Generation})
	}
	crash.Front = l.Front
}
