package traces

import (
	"strings"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// era is a generation of reset-record as one replica has it: with its own floor. What
// the ops above the floor did is the same on all replicas that have the same era, and
// may not be on those that have another.
type era struct {
	generation op.Generation
	floor      op.Number
}

// eras says what ops did, by the era in which they were executed: the first telling of
// each. Every other one has to agree, which is TLC's to judge.
type eras map[era]map[op.Number]observe.Event

// erasOf reads the lines of a partition.
func erasOf(t *Trace, p op.Partition) eras {
	out := eras{}
	at := make([]era, t.Header.Replicas+1)
	for _, l := range t.Lines {
		if l.Partition != p {
			continue
		}
		switch now := &at[l.Replica]; l.Action {
		case ResetRecord, Boot:
			*now = era{l.Generation, l.Op}
		case Materialize:
			if out[*now] == nil {
				out[*now] = map[op.Number]observe.Event{}
			}
			if _, told := out[*now][l.Op]; !told {
				out[*now][l.Op] = l.Event
			}
		}
	}
	return out
}

// ops are those above the floor of an era up to op n, as TLA+ records.
func (e eras) ops(of era, n op.Number) []string {
	var out []string
	for k := of.floor + 1; k <= n; k++ {
		out = append(out, agreedOp(e[of][k]))
	}
	return out
}

// keys are the owners of the bookmarks that these ops change.
func (e eras) keys(of era, n op.Number) []string {
	var out []string
	for k := of.floor + 1; k <= n; k++ {
		out = append(out, e[of][k].Key)
	}
	return out
}

// staging follows the home that a replica of reset-record fills.
type staging struct {
	op    op.Number // of the offer, 0: none
	era   era
	whole bool
	home  string // the present home
	lists int    // offers so far: each has a list of ops
}

// take makes the steps of a StageManifest. What is left of another pull is dropped
// before it; a pull that goes on is one more of the same.
func (g *staging) take(l Line, told eras) []step {
	var out []step
	if g.op != 0 {
		out = append(out, unseen(l, observe.Event{Action: DropTransfer, Op: g.op}))
	}
	g.lists++
	g.op, g.era, g.whole = l.Op, era{l.Generation, l.Boundary}, false
	l.Offset = op.Offset(g.lists)
	return append(out, step{Line: l, Keys: told.keys(g.era, l.Op)})
}

// installed makes the steps of an install that no event told, since the crash came
// right after its record.
func (g *staging) installed(crash Line, now observe.Event, home string) []step {
	var out []step
	if !g.whole {
		out = append(out, unseen(crash, observe.Event{Action: StageState, Op: g.op, Generation: now.Generation, Applied: now.Applied, Start: now.Start, End: now.End}))
	}
	out = append(out, unseen(crash, observe.Event{Action: CommitInstall, Op: g.op, Generation: g.era.generation}))
	g.op, g.home = 0, home
	return out
}

// stagedOps are the ops of each offer that is staged in a local piece.
func stagedOps(p Piece, a *agreed) [][]string {
	var out [][]string
	for _, l := range p.Lines {
		if l.Action == StageManifest {
			out = append(out, a.eras.ops(era{l.Generation, l.Boundary}, l.Op))
		}
	}
	return out
}

// resetMoveRules are those of moveRules as reset-record has them: it begins no
// incarnation from a state, and an offer says which era it is of.
func resetMoveRules() []Rule {
	var out []Rule
	for _, r := range moveRules {
		switch r.Spec = strings.NewReplacer("TransferGroup!", "TransferResetGroup!", "Transfer!", "TransferReset!").Replace(r.Spec); r.Action {
		case StageManifest:
			r.Local = words("op l o g b ap st en")
		case CommitInstall:
			r.Local = words("op l g")
		case CopyState:
			continue
		}
		out = append(out, r)
	}
	return out
}
