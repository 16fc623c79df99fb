package traces

import (
	"purgelab/impl/observe"
	"purgelab/model/op"
)

// step is one event as TLC gets it.
type step struct {
	Line
	// Unseen steps are not in the file. A crash may fall after the effect of a
	// durable step and before the replica could report it; the next boot then
	// finds the effect. Such a step is put before the crash, where the
	// specification has to allow it.
	Unseen bool
	// Asked is the generation that the purge op of the step asked for.
	Asked op.Generation
}

// commitsOf indexes what the partition agreed on, by op.
func commitsOf(t *Trace, p op.Partition) map[op.Number]observe.Event {
	out := map[op.Number]observe.Event{}
	for _, l := range t.Lines {
		if l.Partition == p && l.Action == Commit {
			if _, ok := out[l.Op]; !ok {
				out[l.Op] = l.Event
			}
		}
	}
	return out
}

// localSteps makes the steps of a local piece: its events, the unseen ones, and
// without crashes of a replica that was down already.
func localSteps(p Piece, commits map[op.Number]observe.Event) []step {
	b := localBuilder{commits: commits, crash: -1, recorded: -1}
	for _, l := range p.Lines {
		b.add(l)
	}
	return b.out
}

// localBuilder follows what is known to be durable, to see at a boot what the
// crash before it must have left.
type localBuilder struct {
	commits map[op.Number]observe.Event
	out     []step
	running bool
	crash   int           // index of the crash before the boot to come, or -1
	now     observe.Event // the latest event that shows the replica's state
	marker  observe.Event // the marker: Kind, Op
	saved   op.Number     // op of the checkpoint in use

	// recorded is the index of the last Checkpoint since the boot whose op the
	// event did not tell, or -1. Any op above the checkpoint before explains
	// it; the next boot shows which it was.
	recorded int
}

func (b *localBuilder) add(l Line) {
	s := step{Line: l}
	switch l.Action {
	case ProcessCrash, PowerLoss:
		if !b.running {
			return
		}
		b.running, b.crash = false, len(b.out)
	case Boot:
		b.boot(l)
	case PurgeBegin:
		b.marker = observe.Event{Kind: "begun", Op: l.Op}
	case PurgeComplete:
		b.marker = observe.Event{Kind: "complete", Op: l.Op}
		b.saved, b.recorded = l.Op, -1
	case PurgeDuplicate:
		s.Asked = b.commits[l.Op].Generation
	case Checkpoint:
		if l.Op == 0 {
			s.Op = b.saved + 1
			b.recorded = len(b.out)
		} else {
			b.recorded = -1
		}
		b.saved = s.Op
	}
	if b.running {
		era := b.now.Generation
		b.now = l.Event
		switch l.Action {
		case PurgeBegin, PurgeSwitch, PurgeDuplicate, Reclaim:
			b.now.Generation = era // they tell another generation
		}
	}
	b.out = append(b.out, s)
}

func (b *localBuilder) boot(l Line) {
	first := b.crash < 0
	b.running = true
	defer func() { b.crash, b.recorded = -1, -1 }()
	if first {
		b.saved, b.marker = l.Applied, l.Event
		return
	}
	switch {
	case l.Kind == "begun" && l.Op == b.now.Applied+1 && (b.marker.Kind != "begun" || b.marker.Op != l.Op):
		b.unseen(observe.Event{Action: PurgeBegin, Op: l.Op, Generation: b.commits[l.Op].Generation})
	case l.Kind == "complete" && b.marker.Kind == "begun" && b.marker.Op == l.Op:
		b.unseen(observe.Event{Action: PurgeComplete, Op: l.Op, Generation: l.Generation, Applied: l.Op})
		b.saved = l.Op
	}
	if l.Applied != b.saved && l.Generation == b.now.Generation {
		if r := b.recorded; r >= 0 && l.Applied <= b.out[r].Applied {
			b.out[r].Op = l.Applied
		} else if l.Applied > b.saved {
			b.unseen(observe.Event{Action: Checkpoint, Op: l.Applied})
		}
	}
	b.saved, b.marker = l.Applied, l.Event
}

// unseen puts a step before the latest crash. Its line is that of the crash,
// and unless the step begins an era it leaves the state as it was.
func (b *localBuilder) unseen(e observe.Event) {
	at := b.out[b.crash].Line
	e.Time, e.Replica, e.Partition = at.Time, at.Replica, at.Partition
	if e.Action != PurgeComplete {
		e.Applied, e.Start, e.End = b.now.Applied, b.now.Start, b.now.End
	}
	if e.Action == Checkpoint {
		e.Generation = b.now.Generation
	}
	s := step{Line: Line{Number: at.Number, Event: e}, Unseen: true}
	b.out = append(b.out, step{})
	copy(b.out[b.crash+1:], b.out[b.crash:])
	b.out[b.crash] = s
	b.crash++
}
