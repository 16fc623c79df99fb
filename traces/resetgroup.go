package traces

import (
	"fmt"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// RequestPurge is an action of the metadata plane, which is not in a trace: what a
// replica purges for counts as known from the beginning.
const RequestPurge observe.Action = "RequestPurge"

// resetGroupSteps makes the steps of a group piece of the design reset-record. The
// specification folds the durable steps of a purge and of a boot: what a replica
// replays to come to where it was is left out, and a reset that no event told is
// put before the crash.
func resetGroupSteps(p Piece, _ *agreed) []step {
	b := resetGroup{at: make([]resetReplica, p.Replicas+1), leader: 1}
	for i := range b.at {
		b.at[i].crash, b.at[i].applied = -1, firstOp
	}
	b.ask(p)
	for _, l := range p.Lines {
		b.add(l)
	}
	return b.out
}

// ask puts the highest intent that any replica purges for at the beginning.
func (b *resetGroup) ask(p Piece) {
	e := observe.Event{Action: RequestPurge, Replica: 1, Partition: p.Partition}
	for _, l := range p.Lines {
		if l.Action == ResetRecord || l.Action == Boot {
			e.Generation = max(e.Generation, l.Generation)
		}
	}
	if e.Generation > 0 {
		b.out = append(b.out, step{Unseen: true, reads: words("r g"), Line: Line{Number: p.Lines[0].Number, Event: e}})
	}
}

type resetReplica struct {
	running    bool
	crash      int // index of the last crash, or -1
	applied    op.Number
	generation op.Generation
	// Of transfers: the home that it was last known to use, and whether the boot to
	// come is of an install.
	home      string
	installed bool
}

type resetGroup struct {
	at     []resetReplica
	out    []step
	leader int
}

func (b *resetGroup) add(l Line) {
	s, r := step{Line: l}, &b.at[l.Replica]
	switch l.Action {
	case ProcessCrash, PowerLoss:
		if !r.running {
			return
		}
		r.running, r.crash = false, len(b.out)
	case CommitInstall:
		r.applied, r.generation, r.home, r.installed = l.Op, l.Generation, l.Key, true
	case Boot:
		if r.installed { // one with the install
			r.installed = false
			return
		}
		if l.Key != r.home && r.crash >= 0 {
			b.insert(r.crash, unseen(b.out[r.crash].Line, observe.Event{Action: CommitInstall,
				Op: l.Applied, Generation: l.Generation, Applied: l.Applied, Start: l.Start, End: l.End}))
			r.applied, r.generation = l.Applied, l.Generation
		}
		r.home = l.Key
		if l.Generation > r.generation && r.crash >= 0 {
			crash := b.out[r.crash].Line
			b.insert(r.crash, step{Unseen: true, Line: Line{Number: crash.Number, Event: observe.Event{
				Time: crash.Time, Replica: l.Replica, Partition: l.Partition, Action: ResetRecord,
				Op: l.Op, Generation: l.Generation, Applied: r.applied,
			}}})
		}
		r.running, r.generation = true, l.Generation
	case ResetRecord:
		r.generation = l.Generation
	case Materialize, Filtered:
		if l.Op <= r.applied {
			return // replayed
		}
		r.applied = l.Op
	case BecomeLeader:
		b.leader = l.Replica
	case Commit:
		// A replica may come to an op after the leader that committed it went down.
		if at := &b.at[b.leader]; !at.running && at.crash >= 0 {
			s.Old = true // what the replica has is told of a later moment
			b.insert(at.crash, s)
			return
		}
	}
	b.out = append(b.out, s)
}

func (b *resetGroup) insert(i int, s step) {
	b.out = append(b.out, step{})
	copy(b.out[i+1:], b.out[i:])
	b.out[i] = s
	for r := range b.at {
		if b.at[r].crash >= i {
			b.at[r].crash++
		}
	}
}

// resetLog is the committed log of a group piece from op 1, each op as it was
// asked for. An append that no replica executed repeats another one, and what was no
// store and does one is an auto-commit poll: of the key that it was told with first.
func resetLog(p Piece, a *agreed) [][]string {
	commits := a.in(0).commits
	executed, polls := map[op.Number]bool{}, map[op.Number]string{}
	for _, l := range p.Lines {
		if l.Kind == "append" && (l.Action == Materialize || l.Action == Filtered) {
			executed[l.Op] = true
		}
		if l.Kind == "store" && l.Action == Materialize && polls[l.Op] == "" {
			polls[l.Op] = l.Key
		}
	}
	log := []string{`[k |-> "other"]`}
	for n := op.Number(firstOp + 1); ; n++ {
		c, ok := commits[n]
		if !ok {
			return [][]string{log}
		}
		switch {
		case c.Kind == "other" && polls[n] != "":
			log = append(log, fmt.Sprintf(`[k |-> "poll", key |-> "%s"]`, polls[n]))
		case c.Kind == "append" && !executed[n]:
			log = append(log, `[k |-> "other"]`)
		case c.Kind == "append":
			log = append(log, fmt.Sprintf(`[k |-> "append", n |-> %d]`, c.Count))
		case c.Kind == "store":
			log = append(log, fmt.Sprintf(`[k |-> "store", key |-> "%s", o |-> %d]`, c.Key, c.Offset))
		default:
			log = append(log, agreedOp(c))
		}
	}
}
