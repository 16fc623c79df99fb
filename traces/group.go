package traces

import (
	"fmt"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Unseen steps of a new incarnation: see groupBuilder.begin.
const Propose observe.Action = "Propose"

// groupSteps makes the steps of a group piece: its events, the unseen
// completions of purges and beginnings of incarnations, and without crashes of
// replicas that were down.
func groupSteps(p Piece, a *agreed) []step {
	b := groupBuilder{agreed: a, at: make([]groupReplica, p.Replicas+1)}
	for i := range b.at {
		b.at[i] = groupReplica{crash: -1, blank: true}
	}
	for _, l := range p.Lines {
		b.add(l)
	}
	return b.out
}

type groupReplica struct {
	running    bool
	crash      int // index of the crash before the boot to come, or -1
	generation op.Generation
	// Of transfers: the home that it was last known to use, whether the boot to come is
	// of an install, and whether it has booted nothing yet.
	home      string
	installed bool
	blank     bool
}

type groupBuilder struct {
	agreed *agreed
	at     []groupReplica
	out    []step
	line   int // of the incarnation that the group is in
	told   map[op.Number]bool
}

func (b *groupBuilder) add(l Line) {
	s, r := step{Line: l}, &b.at[l.Replica]
	crash := l.Action == ProcessCrash || l.Action == PowerLoss
	if !crash {
		switch i := b.agreed.find(l.Incarnation); {
		case i > b.line:
			b.begin(i, l)
		case i < b.line:
			b.ended(l)
			return
		}
	}
	now := &b.agreed.lines[b.line]
	switch l.Action {
	case ProcessCrash, PowerLoss:
		if !r.running {
			again(b.out, r.crash, l)
			return
		}
		r.running, r.crash = false, len(b.out)
	case StageManifest:
		if !r.running { // of a CopyState
			return
		}
	case CommitInstall:
		r.generation, r.home, r.installed = l.Generation, l.Key, true
	case CopyState:
		r.generation, r.blank = l.Generation, false
	case Boot:
		if r.installed { // one with the install
			r.installed = false
			return
		}
		if b.line > 0 && r.blank && r.crash < 0 && l.Applied > firstOp {
			b.out = append(b.out, copied(l))
			r.generation = l.Generation
		}
		if l.Key != r.home && r.crash >= 0 {
			b.insert(r.crash, unseen(b.out[r.crash].Line, observe.Event{Action: CommitInstall,
				Op: l.Applied, Generation: l.Generation, Applied: l.Applied, Start: l.Start, End: l.End}))
			r.generation = l.Generation
		}
		r.home, r.blank = l.Key, false
		if l.Kind == "complete" && l.Generation != r.generation && r.crash >= 0 {
			crash := b.out[r.crash].Line
			b.insert(r.crash, step{Unseen: true, Line: Line{Number: crash.Number, Event: observe.Event{
				Time: crash.Time, Replica: l.Replica, Partition: l.Partition, Action: PurgeComplete,
				Op: l.Op, Generation: l.Generation, Applied: l.Op,
			}}})
		}
		r.running, r.crash, r.generation = true, -1, l.Generation
	case PurgeComplete:
		r.generation = l.Generation
	case Rejoin:
		*r = groupReplica{crash: -1, blank: true}
	case PurgeDuplicate:
		s.Asked = now.commits[l.Op].Generation
	case Commit:
		// The first telling of an op that was not told in the incarnation before.
		if b.line > 0 && l.Op <= now.base && l.Op > now.known && !b.told[l.Op] {
			s.Old, b.told[l.Op] = true, true
		}
	case NewIncarnation:
		s.agree(l.Event)
		s.Last = op.Number(b.agreed.before(l.Event, s.Agreed.Incarnation))
	}
	b.out = append(b.out, s)
}

// begin puts before a line what makes it the first of an incarnation: that it goes
// on from the one before, all replicas beginning with empty disks, and, since the log
// holds from the beginning what will be committed, what it adds.
func (b *groupBuilder) begin(i int, l Line) {
	for b.line++; ; b.line++ {
		now := &b.agreed.lines[b.line]
		e := observe.Event{Time: l.Time, Replica: l.Replica, Partition: l.Partition, Incarnation: now.incarnation,
			Action: NewIncarnation, Kind: now.began.Kind, Op: now.base, Last: now.kept, Count: int(now.incarnation)}
		s := step{Unseen: true, Line: Line{Number: l.Number, Event: e}}
		s.agree(now.began)
		e.Action = Propose
		b.out = append(b.out, s, step{Unseen: true, reads: words("r op l"), Line: Line{Number: l.Number, Event: e}})
		if b.line == i {
			break
		}
	}
	for r := range b.at {
		b.at[r] = groupReplica{crash: -1, blank: true}
	}
	b.told = map[op.Number]bool{}
}

// ended takes an event of an incarnation that has ended, or that nobody lived in: a machine that has not heard
// of that may boot in it, and replay what it has, but not take part.
func (b *groupBuilder) ended(l Line) {
	lived := b.agreed.find(l.Incarnation) >= 0 // else replicas may replay what they go on from
	answered := l.Action == Answer && (l.Kind == "poll" || l.Kind == "get-bookmark" || l.Kind == "list-offsets")
	if answered || l.Action == Joined || lived && (l.Action == BecomeLeader || l.Action == Commit) {
		b.out = append(b.out, step{Line: l, Ended: true})
	}
}

func (b *groupBuilder) insert(i int, s step) {
	b.out = append(b.out, step{})
	copy(b.out[i+1:], b.out[i:])
	b.out[i] = s
	for r := range b.at {
		if b.at[r].crash >= i {
			b.at[r].crash++
		}
	}
}

// agreedLog is the log of a group piece, a sequence per incarnation.
func agreedLog(_ Piece, a *agreed) [][]string {
	var out [][]string
	for i := range a.lines {
		out = append(out, a.lines[i].log())
	}
	return out
}

// agreedOp writes the op that has the effect of a Materialize; of an op that no
// replica came to, the zero event, only the number counts.
func agreedOp(e observe.Event) string {
	switch e.Kind {
	case "append":
		return fmt.Sprintf(`[k |-> "append", id |-> "nobody", n |-> %d]`, e.Count)
	case "store":
		return fmt.Sprintf(`[k |-> "store", key |-> "%s", g |-> -1, o |-> %d]`, e.Key, e.Offset)
	case "delete":
		return fmt.Sprintf(`[k |-> "delete", key |-> "%s"]`, e.Key)
	case "advance":
		return fmt.Sprintf(`[k |-> "advance", o |-> %d]`, e.Offset)
	}
	return `[k |-> "other"]`
}

// agreedRules are those of the events that only the group makes, where all that it
// does is in one agreed log.
var agreedRules = []Rule{
	{Action: Rejoin,
		Group: words("r g ap st en"),
		Spec:  "OrderedGroup!Rejoin", Code: "impl/replica: Open"},
	{Action: ChangeMembers, Needs: words("op count"),
		Group: words("r op n g ap st en"),
		Code:  "impl/replica: changed"},
	{Action: Joined, Needs: words("op"),
		Group: words("r op g ap st en"),
		Code:  "impl/replica: changed"},
	{Action: NewIncarnation, Needs: words("op count key"), May: words("kind"), Kinds: []string{"", "forced"},
		Group: words("r op l n k u ai ag ao g ap st en"),
		Spec:  "OrderedGroup!NewIncarnation", Code: "impl/replica: line"},
	{Action: BecomeLeader, Needs: words("term"),
		Group: words("r t g ap st en"),
		Spec:  "OrderedGroup!BecomeLeader", Code: "impl/replica: followRole"},
	{Action: Answer, Needs: words("kind"), May: words("key offset count"),
		Group: words("r k key o n g ap st en"),
		Spec:  "OrderedGroup!Answer", Code: "impl/replica: served"},
}
