package traces

import (
	"fmt"
	"slices"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// agreed is what the replicas of a partition agreed on, as its trace tells: one line
// of ops per incarnation, each of which begins with a part of the one before.
type agreed struct {
	lines   []agreedLine
	unlived []agreedLine // of incarnations that nobody lived in
	eras    eras         // of reset-record
	led     []int        // lines on which a replica began to lead
}

// agreedLine is the line of one incarnation.
type agreedLine struct {
	incarnation op.Incarnation // 0 of the first
	// base is the last op that it goes on with from the ones before; up to kept its
	// ops are those of the line before.
	// Of those, the line before told up to known: of the others one of its members
	// had kept what nobody lived to tell.
	base, kept, known op.Number
	// began is the first event that tells how it began; zero if none does.
	began observe.Event

	// By op, of the whole line: what was committed, and the first telling of what it
	// did. A purge that was completed did one.
	commits, effects map[op.Number]observe.Event
	own              map[op.Number]observe.Event // of commits, those told in this incarnation
}

// agreedOf reads the lines of a partition.
func agreedOf(t *Trace, p op.Partition) *agreed {
	a := &agreed{lines: []agreedLine{newLine(0)}}
	if t.Header.Design == resetRecord.name {
		a.eras = erasOf(t, p)
	}
	began := map[op.Incarnation]observe.Event{}
	for _, l := range t.Lines {
		if l.Partition != p {
			continue
		}
		at := a.find(l.Incarnation)
		if at < 0 {
			a.lines = append(a.lines, newLine(l.Incarnation))
			slices.SortFunc(a.lines, func(x, y agreedLine) int { return int(x.incarnation) - int(y.incarnation) })
			at = a.find(l.Incarnation)
		}
		line := &a.lines[at]
		switch l.Action {
		case BecomeLeader:
			a.led = append(a.led, l.Number)
		case Commit:
			if _, ok := line.own[l.Op]; !ok {
				line.own[l.Op] = l.Event
			}
		case Materialize, PurgeComplete, PurgeDuplicate:
			if e, ok := line.effects[l.Op]; !ok || l.Action == PurgeComplete && e.Action == PurgeDuplicate {
				line.effects[l.Op] = l.Event
			}
		case NewIncarnation:
			if i := op.Incarnation(l.Count); began[i].Count == 0 {
				began[i] = l.Event
			}
		}
	}
	a.lines[0].commits = a.lines[0].own
	a.prune(began)
	for i := 1; i < len(a.lines); i++ {
		a.lines[i].goOn(&a.lines[i-1], began[a.lines[i].incarnation])
	}
	for i := len(a.lines) - 1; i > 0; i-- {
		a.lines[i-1].learn(&a.lines[i])
	}
	return a
}

// prune sets aside the lines of incarnations that ended before anybody lived in them:
// the next one does not go on from those.
func (a *agreed) prune(began map[op.Incarnation]observe.Event) {
	for i := len(a.lines) - 2; i > 0; i-- {
		if l := a.lines[i]; began[l.incarnation].Count == 0 {
			a.lines = slices.Delete(a.lines, i, i+1)
			l.goOn(&a.lines[i-1], observe.Event{})
			a.unlived = append(a.unlived, l)
		}
	}
}

// before is the incarnation that one goes on from; as it says itself where that is the
// first, which has no number here.
func (a *agreed) before(e observe.Event, says op.Incarnation) op.Incarnation {
	if at := a.find(op.Incarnation(e.Count)); at > 1 {
		return a.lines[at-1].incarnation
	}
	return max(1, min(says, op.Incarnation(e.Count)-1))
}

func newLine(i op.Incarnation) agreedLine {
	return agreedLine{incarnation: i, own: map[op.Number]observe.Event{}, effects: map[op.Number]observe.Event{}}
}

// goOn finds out what a line has from the one before.
func (l *agreedLine) goOn(before *agreedLine, began observe.Event) {
	if l.began, l.base = began, began.Op; l.base == 0 {
		// It ends before any replica came to where it begins: all that is told of it
		// was there before, and what is not told of it may be.
		l.base = firstOp
		for _, told := range []map[op.Number]observe.Event{before.commits, l.own, l.effects} {
			for n := range told {
				l.base = max(l.base, n)
			}
		}
	}
	for l.kept = firstOp; l.kept < l.base; l.kept++ {
		was, ok := before.commits[l.kept+1]
		now, told := l.own[l.kept+1]
		if !ok || told && sameCommit(was) != sameCommit(now) {
			break
		}
	}
	for l.known = l.kept; l.kept < l.base && len(before.commits) == int(l.kept)-firstOp; l.kept++ {
		now, told := l.own[l.kept+1]
		if !told {
			break
		}
		before.commits[l.kept+1] = now
	}
	l.commits = map[op.Number]observe.Event{}
	for n := op.Number(firstOp + 1); ; n++ {
		c, ok := l.own[n]
		if !ok && n <= l.base {
			c, ok = before.commits[n]
		}
		if !ok {
			return
		}
		l.commits[n] = c
		if _, ok := l.effects[n]; !ok && n <= l.kept {
			if e, ok := before.effects[n]; ok {
				l.effects[n] = e
			}
		}
	}
}

// learn takes from the line after it what no replica told in its own time: an op
// that was agreed on and did not come to be materialized.
func (l *agreedLine) learn(after *agreedLine) {
	for n := op.Number(firstOp + 1); n <= after.kept; n++ {
		if _, ok := l.effects[n]; !ok {
			if e, ok := after.effects[n]; ok {
				l.effects[n] = e
			}
		}
	}
}

// find is the index of the line of an incarnation, or -1.
func (a *agreed) find(i op.Incarnation) int {
	return slices.IndexFunc(a.lines, func(l agreedLine) bool { return l.incarnation == i })
}

// in is what was agreed on, as an incarnation sees it.
func (a *agreed) in(i op.Incarnation) *agreedLine {
	if at := a.find(i); at >= 0 {
		return &a.lines[at]
	}
	for k := range a.unlived {
		if a.unlived[k].incarnation == i {
			return &a.unlived[k]
		}
	}
	return &agreedLine{}
}

// log is what a line adds to what it keeps of the one before.
func (l *agreedLine) log() []string { return l.ops()[l.kept:] }

// ops are those of the whole line from op 1 on, as TLA+ records: of each op what the
// first replica that came to it told of its effect. Every other telling has to agree,
// which is TLC's to judge.
func (l *agreedLine) ops() []string {
	out := []string{`[k |-> "other"]`}
	var settled op.Generation
	for n := op.Number(firstOp + 1); ; n++ {
		c, ok := l.commits[n]
		if !ok {
			return out
		}
		did := l.effects[n]
		text := agreedOp(did)
		if c.Kind == "purge" {
			// One that was passed without a new generation, though it asked for
			// a higher one, expected another position.
			k := "purge"
			if c.Generation > settled {
				if did.Action == PurgeDuplicate {
					k = "settle"
				}
				settled = c.Generation
			}
			text = fmt.Sprintf(`[k |-> "%s", g |-> %d]`, k, c.Generation)
		}
		out = append(out, text)
	}
}
