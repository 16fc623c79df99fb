package scenario

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/linearizability/check"
	"purgelab/linearizability/history"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// Result is what came of one scenario in one way.
type Result struct {
	Scenario *Scenario
	Way
	// Defective: the defect that the file names was on.
	Defective bool
	// Answers are one per step.
	Answers []string
	// Differ are the steps that did not answer what they had to.
	Differ []int
	// Red are the properties that are violated, the first one first; Undecided is
	// why nobody can say that all others hold.
	Red       []verdict.Result
	Undecided string
	History   []history.Event
	Trace     []observe.Event // of a replica that is led
	seen      int             // replicas that a trace shows of which one is led
	places    []int           // per step: of the answer to it in History; -1: none
}

// Met tells whether everything is as the file says: the answers, and that nothing
// is violated or, with the defect, the property that it names is.
func (r *Result) Met() bool { return r.Trouble() == "" }

// Trouble is the first thing that is not as the file says, empty if all is.
func (r *Result) Trouble() string {
	s := r.Scenario
	if len(r.Differ) > 0 {
		i := r.Differ[0]
		return fmt.Sprintf("%s:%d: %s: want %q, got %q", s.File, s.Steps[i].Line, s.Steps[i].Text, r.want(i), r.Answers[i])
	}
	if !r.Defective {
		for _, x := range r.unlisted() {
			return fmt.Sprintf("%s: violated: %s: %s", s.File, x.Property, x.Reason)
		}
		if len(s.Listed) > 0 && !r.violates(s.Listed[0]) {
			return fmt.Sprintf("%s: want %s to be violated, as listed", s.File, s.Listed[0])
		}
		if r.Undecided != "" {
			return fmt.Sprintf("%s: undecided: %s", s.File, r.Undecided)
		}
		return ""
	}
	if r.violates(s.Red) {
		return ""
	}
	got := "nothing"
	if len(r.Red) > 0 {
		got = r.Red[0].Property
	}
	return fmt.Sprintf("%s: with the defect %s: want %s to be violated, got %s", s.File, s.Defect, s.Red, got)
}

// unlisted is what is violated and not by nature of the design.
func (r *Result) unlisted() (list []verdict.Result) {
	for _, x := range r.Red {
		if !slices.Contains(r.Scenario.Listed, x.Property) {
			list = append(list, x)
		}
	}
	return list
}

func (r *Result) violates(property string) bool {
	return slices.ContainsFunc(r.Red, func(x verdict.Result) bool { return x.Property == property })
}

func (r *Result) want(i int) string {
	if r.Defective {
		return r.Scenario.Steps[i].Wrong
	}
	return r.Scenario.Steps[i].Want
}

// Play plays a scenario in one of its ways.
func Play(ctx context.Context, s *Scenario, way Way, defective bool) *Result {
	r := &Result{Scenario: s, Way: way, Defective: defective}
	var on defect.Set
	if defective {
		on = s.Defects()
	}
	if s.driven {
		if s.Replicas > 1 {
			r.driveGroup(ctx, on)
		} else {
			r.drive(on)
		}
		return r
	}
	w := newWorld(s, way, on)
	w.settle()
	for _, x := range w.all {
		w.until(patienceTicks, func() bool { return x.leader() != 0 })
	}
	w.settle()
	for i, step := range s.Steps {
		w.place = -1
		r.Answers = append(r.Answers, step.do(w))
		r.places = append(r.places, w.place)
		if r.Answers[i] != r.want(i) {
			r.Differ = append(r.Differ, i)
		}
	}
	stuck := w.finish()
	r.judge(ctx, w, stuck)
	return r
}

// finish mends everything, lets the cluster come to rest and reads all that a
// client can see. It says what keeps it from rest.
func (w *world) finish() (stuck string) {
	for _, x := range w.all {
		for _, c := range x.clients {
			x.giveUp(c)
		}
	}
	w.heal()
	for _, n := range w.nodes[1:] {
		n.disk.Arm(nil)
		n.faults.Clear()
		w.restart(n)
	}
	for _, x := range w.all {
		if stuck = x.rest(); stuck != "" {
			return stuck
		}
	}
	return ""
}

// rest is finish of one partition.
func (w *world) rest() (stuck string) {
	if w.deleted {
		return ""
	}
	if w.until(patienceTicks, func() bool { stuck = w.atRest(); return stuck == "" }); stuck != "" || w.lost() {
		return stuck
	}
	reader := w.clients[len(w.clients)-1]
	reader.believes = w.latest
	for _, q := range []op.Request{
		{Kind: op.ListOffsets, Which: op.EarliestOffset}, {Kind: op.ListOffsets, Which: op.LatestOffset},
		{Kind: op.Poll, Strategy: op.First, Max: 1000},
	} {
		w.ask(reader, &q, 0)
	}
	var members []invariant.Subject
	for _, n := range w.nodes[1:] {
		switch {
		case n.member != nil:
			members = append(members, n.member)
		case w.mayRefuse(n):
			members = append(members, nil)
		default:
			return w.atRest()
		}
	}
	w.watch.Rest(w.now, w.shard, members)
	return ""
}

// atRest says what is not at rest, empty if all is.
func (w *world) atRest() string {
	if w.restless {
		return "the replicas keep each other busy without end"
	}
	leader := w.leader()
	for _, n := range w.nodes[1:] {
		switch {
		case w.mayRefuse(n) && !n.refusesTyped():
			return fmt.Sprintf("replica %d does not refuse by a typed error: %v", n.id, n.ended)
		case !w.mayRefuse(n) && n.member == nil:
			return fmt.Sprintf("replica %d is down: %v", n.id, n.ended)
		}
	}
	if w.lost() {
		return ""
	}
	if leader == 0 {
		return "nobody leads"
	}
	lead := w.nodes[leader].member.View()
	for _, n := range w.nodes[1:] {
		if w.mayRefuse(n) {
			continue
		}
		v := n.member.View()
		f := v.Facts
		if v.Joining || v.Sealed || v.Copying || n.incarnation != w.latest {
			return fmt.Sprintf("replica %d has not joined its group in incarnation %d", n.id, w.latest)
		}
		if !v.Serving || v.Purging || f.Applied != v.Committed || v.Committed != lead.Committed || v.Last != lead.Last {
			return fmt.Sprintf("replica %d applied op %d of %d committed, journal ends at op %d; the leader has committed %d", n.id, f.Applied, v.Committed, v.Last, lead.Committed)
		}
		if k := len(w.intents); k > 0 && f.Settled < w.intents[k-1].Generation {
			return fmt.Sprintf("replica %d settled purge %d of %d", n.id, f.Settled, w.intents[k-1].Generation)
		}
	}
	return ""
}

// mayRefuse: the file says that the replica refuses in the end. A defect may make
// that another one, or none.
func (w *world) mayRefuse(n *node) bool {
	return w.defects == 0 && w.id == 0 && slices.Contains(w.s.Refuses, n.id)
}

// lost: so many refuse that the others cannot go on.
func (w *world) lost() bool {
	return w.defects == 0 && w.id == 0 && 2*len(w.s.Refuses) >= w.s.Replicas && len(w.s.Refuses) > 0
}

// options say how the history is judged.
func (r *Result) options() (o check.Options) {
	if !r.Design.Intents() {
		o.Semantics.Numbering = model.Continue
	}
	return o
}

// judge asks those who watched, and porcupine.
func (r *Result) judge(ctx context.Context, w *world, stuck string) {
	for _, v := range w.watch.Violations() {
		r.red(v.Property, v.String())
	}
	if stuck != "" {
		r.red("NoStuckReplica", stuck)
	}
	for i, step := range r.Scenario.Steps {
		got, _ := strconv.Atoi(r.Answers[i])
		if want, err := strconv.Atoi(step.Want); step.counts && err == nil && got > want {
			r.red(Reclaimed, fmt.Sprintf("%s: %d are there, want %d", step.Text, got, want))
		}
	}
	r.judgeHistory(ctx, &w.rec)
}

// judgeHistory asks whether the history is linearizable.
func (r *Result) judgeHistory(ctx context.Context, rec *history.Recorder) {
	r.History = rec.Events()
	ops, err := rec.Ops()
	if err != nil {
		r.Undecided = err.Error()
		return
	}
	v, _, err := check.Check(ctx, ops, r.options())
	switch {
	case err != nil:
		r.Undecided = err.Error()
	case v.Verdict == verdict.Fail:
		r.red(check.Property, v.Reason)
	case v.Verdict == verdict.Undecided:
		r.Undecided = v.Reason
	}
}
