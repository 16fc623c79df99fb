package traces

import (
	"fmt"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// groupSteps makes the steps of a group piece: its events, the unseen
// completions of purges, and without crashes of replicas that were down.
func groupSteps(p Piece, commits map[op.Number]observe.Event) []step {
	type replica struct {
		running    bool
		crash      int // index of the crash before the boot to come, or -1
		generation op.Generation
	}
	at := make([]replica, p.Replicas+1)
	for i := range at {
		at[i].crash = -1
	}
	var out []step
	insert := func(i int, s step) {
		out = append(out, step{})
		copy(out[i+1:], out[i:])
		out[i] = s
		for r := range at {
			if at[r].crash >= i {
				at[r].crash++
			}
		}
	}
	for _, l := range p.Lines {
		s, r := step{Line: l}, &at[l.Replica]
		switch l.Action {
		case ProcessCrash, PowerLoss:
			if !r.running {
				continue
			}
			r.running, r.crash = false, len(out)
		case Boot:
			if l.Kind == "complete" && l.Generation != r.generation && r.crash >= 0 {
				crash := out[r.crash].Line
				insert(r.crash, step{Unseen: true, Line: Line{Number: crash.Number, Event: observe.Event{
					Time: crash.Time, Replica: l.Replica, Partition: l.Partition, Action: PurgeComplete,
					Op: l.Op, Generation: l.Generation, Applied: l.Op,
				}}})
			}
			r.running, r.crash, r.generation = true, -1, l.Generation
		case PurgeComplete:
			r.generation = l.Generation
		case Rejoin:
			r.crash, r.generation = -1, 0
		case PurgeDuplicate:
			s.Asked = commits[l.Op].Generation
		}
		out = append(out, s)
	}
	return out
}

// agreedLog is the committed log of a group piece as TLA+ records, from op 1:
// of each op what the first replica that came to it told of its effect. Every
// other telling has to agree, which is TLC's to judge.
func agreedLog(p Piece, commits map[op.Number]observe.Event) []string {
	effect, completed := map[op.Number]observe.Event{}, map[op.Number]bool{}
	for _, l := range p.Lines {
		switch l.Action {
		case Materialize:
			if _, ok := effect[l.Op]; !ok {
				effect[l.Op] = l.Event
			}
		case PurgeComplete:
			completed[l.Op] = true
		}
	}
	log := []string{`[k |-> "other"]`}
	var settled op.Generation
	for n := op.Number(firstOp + 1); ; n++ {
		c, ok := commits[n]
		if !ok {
			return log
		}
		if c.Kind == "purge" {
			// One that was passed without a new generation, though it asked for
			// a higher one, expected another position.
			k := "purge"
			if c.Generation > settled {
				if !completed[n] && passed(p, n) {
					k = "settle"
				}
				settled = c.Generation
			}
			log = append(log, fmt.Sprintf(`[k |-> "%s", g |-> %d]`, k, c.Generation))
			continue
		}
		log = append(log, agreedOp(effect[n]))
	}
}

func passed(p Piece, n op.Number) bool {
	for _, l := range p.Lines {
		if l.Action == PurgeDuplicate && l.Op == n {
			return true
		}
	}
	return false
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
		Group: words("r"),
		Spec:  "OrderedGroup!Rejoin", Code: "impl/replica: Open"},
	{Action: ChangeMembers, Needs: words("op count"), Code: "impl/replica: changed"},
	{Action: Joined, Needs: words("op"), Code: "impl/replica: changed"},
	{Action: NewIncarnation, May: words("op count key"), Code: "impl/replica: line"},
	{Action: BecomeLeader, Needs: words("term"),
		Group: words("r t"),
		Spec:  "OrderedGroup!BecomeLeader", Code: "impl/replica: followRole"},
	{Action: Answer, Needs: words("kind"), May: words("key offset count"),
		Group: words("r k key o n g ap st en"),
		Spec:  "OrderedGroup!Answer", Code: "impl/replica: served"},
}
