package traces

import (
	"sort"

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
	// Agreed, of a NewIncarnation, is up to where the one before is known to agree.
	Agreed op.Position
	// Old, of a Commit: of an op with which the incarnation goes on, or one that is put
	// where it must have been.
	Old bool
	// Ended: the event is of an incarnation that has ended. Nothing explains it.
	Ended bool
	// Keys, of a StageManifest of reset-record, are owners of bookmarks in what is staged.
	Keys []string
	// Does, of an op that comes into a journal, is the op as a TLA+ record.
	Does string
	// reads are the fields of the record that the trace module reads.
	reads []string
}

// agree takes the position up to which two incarnations are known to agree.
func (s *step) agree(e observe.Event) {
	if at, err := op.ParsePosition(e.Key); err == nil {
		s.Agreed = at
	} else {
		s.Agreed = op.Position{Offset: -1} // nobody told it
	}
}

// localSteps makes the steps of a local piece: its events, the unseen ones, and
// without crashes of a replica that was down already.
func localSteps(p Piece, a *agreed) []step {
	line := a.in(p.Incarnation)
	b := localBuilder{incarnation: p.Incarnation, commits: line.commits, applied: applied(p), crash: -1,
		moving: moving{line: line, ops: op.Number(len(line.ops())), known: firstOp, later: p.Incarnation > 0, blank: true}}
	for i, l := range p.Lines {
		b.add(i, l)
	}
	return b.out
}

// localBuilder follows what is known to be durable, to see at a boot what the
// crash before it must have left.
type localBuilder struct {
	moving
	incarnation op.Incarnation
	commits     map[op.Number]observe.Event
	applied     materialized
	out         []step
	running     bool
	crash       int           // index of the crash before the boot to come, or -1
	now         observe.Event // the latest event that shows the replica's state
	marker      observe.Event // the marker: Kind, Op
	saved       op.Number     // op of the checkpoint in use
	lowest      op.Offset     // base of the first segment; design advance
}

func (b *localBuilder) add(i int, l Line) {
	s := step{Line: l}
	// A crash is told by whoever makes it, and of no incarnation.
	if l.Incarnation < b.incarnation && l.Action != ProcessCrash && l.Action != PowerLoss {
		s.Ended = true // it had gone on in a later one, and does not go back
		b.out = append(b.out, s)
		return
	}
	switch l.Action {
	case ProcessCrash, PowerLoss:
		if !b.running {
			again(b.out, b.crash, l)
			return
		}
		b.running, b.crash = false, len(b.out)
	case Boot:
		b.boot(i, &s.Line)
	case Materialize:
		b.knows(l.Op)
	case PurgeBegin:
		b.marker = observe.Event{Kind: "begun", Op: l.Op}
		b.knows(l.Op)
	case PurgeComplete:
		b.marker = observe.Event{Kind: "complete", Op: l.Op}
		b.saved = l.Op
	case PurgeDuplicate:
		s.Asked = b.commits[l.Op].Generation
		b.knows(l.Op)
	case CopyState:
		steps := b.begins(l)
		b.out = append(b.out, steps[:len(steps)-1]...)
	case StageManifest:
		if b.running { // else it is a part of CopyState
			b.out = append(b.out, b.staging(l)...)
		}
		return
	case StageState:
		b.whole = true
	case DropTransfer:
		b.staged = 0
	case CommitInstall:
		b.staged, b.home = 0, l.Key
	case Checkpoint:
		b.saved = l.Op
	case Reclaim:
		b.lowest = l.Offset
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

func (b *localBuilder) boot(i int, l *Line) {
	first := b.crash < 0
	b.running = true
	defer func() {
		b.crash, b.blank, b.home = -1, false, l.Key
		b.lowest, b.saved, b.marker = l.Offset, l.Applied, l.Event
	}()
	if first && b.blank && b.later && l.Applied > firstOp {
		b.out = append(b.out, b.begins(*l)...)
	}
	moved := !first && l.Key != b.home
	if moved {
		// All of the new home is durable: a power loss is no more than a crash.
		b.out = append(b.out[:b.crash], b.installed(b.out[b.crash].Line, b.now, l.Key)...)
	}
	if first || moved {
		if k := len(b.out); k > 0 && (b.out[k-1].Action == CommitInstall || b.out[k-1].Action == CopyState) {
			b.out[k-1].Offset = l.Offset // where the segments begin that came
		}
		return
	}
	switch {
	case l.Kind == "begun" && l.Op == b.now.Applied+1 && (b.marker.Kind != "begun" || b.marker.Op != l.Op):
		b.unseen(observe.Event{Action: PurgeBegin, Op: l.Op, Generation: b.commits[l.Op].Generation})
	case l.Kind == "complete" && b.marker.Kind == "begun" && b.marker.Op == l.Op:
		b.unseen(observe.Event{Action: PurgeComplete, Op: l.Op, Generation: l.Generation, Applied: l.Op})
		b.saved = l.Op
	}
	if e, ok := b.applied.unreported(&l.Event, b.now.Applied, i); ok {
		b.unseen(e)
		b.now.Applied, b.now.Start, b.now.End = e.Applied, e.Start, e.End
	}
	if l.Applied > b.saved && l.Generation == b.now.Generation {
		b.unseen(observe.Event{Action: Checkpoint, Op: l.Applied})
	}
	if l.Offset > b.lowest {
		b.unseen(observe.Event{Action: Reclaim, Offset: l.Offset})
	}
	b.out[b.crash].Front, b.out[b.crash].Offset = l.Front, l.Offset // what a power loss left
}

// unseen puts a step before the latest crash. Its line is that of the crash,
// and unless the step begins an era it leaves the state as it was.
func (b *localBuilder) unseen(e observe.Event) {
	at := b.out[b.crash].Line
	e.Time, e.Replica, e.Partition = at.Time, at.Replica, at.Partition
	if e.Action != PurgeComplete && e.Action != Materialize {
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

// materialized says at which lines of a piece an op was materialized, and as what.
type materialized struct {
	lines []Line
	at    map[op.Number][]int
}

func applied(p Piece) materialized {
	m := materialized{lines: p.Lines, at: map[op.Number][]int{}}
	for i, l := range p.Lines {
		if l.Action == Materialize {
			m.at[l.Op] = append(m.at[l.Op], i)
		}
	}
	return m
}

// after is the first materialization of op n after line i.
func (m *materialized) after(n op.Number, i int) (observe.Event, bool) {
	at := m.at[n]
	if k := sort.SearchInts(at, i); k < len(at) {
		return m.lines[at[k]].Event, true
	}
	return observe.Event{}, false
}

// unreported is the op after the last one applied before a crash, if the boot at
// line i shows that it was written: what it was, replay tells. If nothing tells it,
// what the boot found counts as not told.
func (m *materialized) unreported(boot *observe.Event, last op.Number, i int) (observe.Event, bool) {
	if boot.Front != last+1 || boot.Applied > last || boot.Front == boot.Op {
		return observe.Event{}, false
	}
	e, ok := m.after(boot.Front, i)
	if !ok {
		boot.Front = 0
	}
	return e, ok
}

// again notes a crash of a replica that is down already: a machine that loses power
// then has lost it, as far as the disk knows.
func again(out []step, crash int, l Line) {
	if crash >= 0 && l.Action == PowerLoss {
		out[crash].Action = PowerLoss
	}
}
