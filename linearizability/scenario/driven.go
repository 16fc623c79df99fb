package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
	"purgelab/traces"
	"purgelab/traces/behaviours"
	"purgelab/traces/replay"
)

// This file plays scenarios whose steps are actions of the specification. One replica is
// led through them: it is given ops by a leader that is not there, and it does the disk
// work that the next action is, and no other. Nobody asks it anything.

// readTake reads an action of the specification.
func readTake(r *reader, s *Scenario) (*behaviours.Act, error) {
	from := r.at
	var words []string
	for r.peek().text != "" {
		words = append(words, r.peek().text)
		r.at++
	}
	if len(words) == 0 {
		return nil, r.bad(r.peek().column, "want an action of the specification, got the end")
	}
	n := s.Replicas
	if n == 1 {
		n = 0
	}
	design := ""
	if len(s.Designs) > 0 {
		design = s.Designs[0].String()
	}
	a, at, err := replay.Action(words, design, n)
	if err != nil {
		return nil, r.bad(r.list[from+at].column, "%v", err)
	}
	s.driven = true
	return a, nil
}

// driven is a replica that is led, and those who watch it.
type driven struct {
	*replay.Drive
	r     *Result
	watch *invariant.Checker
	now   int64
	up    bool
	part  op.Partition // as which those who watch know it: another one when op numbers begin anew, or it is created again
}

// Observe is what the replica tells.
func (d *driven) Observe(e observe.Event) {
	if e.Time = d.now; e.Replica == 0 { // what the driver does to the replica
		e.Replica = 1
	}
	e.Partition = d.part
	d.r.Trace = append(d.r.Trace, e)
	d.watch.Observe(e)
}

// leaderShown tells whether those who watch see who leads the one replica, too.
func (s *Scenario) leaderShown() bool {
	return s.driven && slices.ContainsFunc(s.Steps, func(x Step) bool { return replay.NeedsLeader(x.act) })
}

// drive plays the steps, lets the replica come to rest, and judges.
func (r *Result) drive(on defect.Set) {
	r.seen = 1
	leader := r.Scenario.leaderShown()
	if leader {
		r.seen = 2
	}
	d := &driven{r: r, watch: invariant.New(r.seen, r.sequences(), 1)}
	d.watch.Design(r.Design)
	d.watch.Promises(r.Policy.Messages == replica.Persisted, r.Policy.Bookmarks == replica.Persisted)
	d.watch.Sound()
	d.watch.Policy(r.Policy)
	var err error
	if d.Drive, err = replay.NewDrive(r.Design, r.Scenario.Variants, r.Policy, on, d); err != nil {
		r.Undecided = err.Error()
		return
	}
	if leader {
		other, err := d.ShowLeader()
		if err != nil {
			r.Undecided = err.Error()
			return
		}
		d.watch.Booted(d.now, r.seen, 0, other)
	}
	for i, step := range r.Scenario.Steps {
		d.now = int64(i)
		r.Answers = append(r.Answers, d.take(step.act))
		r.places = append(r.places, -1)
		if r.Answers[i] != r.want(i) {
			r.Differ = append(r.Differ, i)
		}
	}
	stuck := d.rest()
	if stuck == "" && r.Policy == (replica.Policy{}) { // what it acknowledged is there when power fails, too
		d.take(&behaviours.Act{Event: observe.Event{Action: "PowerLoss"}, With: map[string]any{"keep": "none"}})
		stuck = d.rest()
	}
	for _, v := range d.watch.Violations() {
		r.red(v.Property, v.String())
	}
	if stuck != "" {
		r.red("NoStuckReplica", stuck)
	}
}

// red notes a violation, of each property the first one.
func (r *Result) red(property, reason string) {
	if !r.violates(property) {
		r.Red = append(r.Red, verdict.Result{Verdict: verdict.Fail, Property: property, Reason: reason})
	}
}

// take takes an action and says what the replica then is.
func (d *driven) take(a *behaviours.Act) string {
	err := d.Take(a)
	switch {
	case err != nil:
	case a.Action == "BeginSequence":
		err = d.beginsAnew()
	case a.Action == "Recreate":
		d.part++
	}
	d.look()
	for _, x := range d.Told() {
		d.watch.Invoked(0, x.Request)
		d.watch.Returned(d.now, 0, x.Request, &x.Reply)
	}
	switch {
	case errors.Is(err, replay.ErrNotTaken):
		return "not taken; " + d.holds()
	case err != nil:
		return d.r.broke(err)
	}
	return d.holds()
}

// broke says what an error in leading a replica is. If it is not the replica's, the play
// decides nothing.
func (r *Result) broke(err error) string {
	if replay.Stopped(err) {
		return "stops: " + cause(err)
	}
	r.Undecided = err.Error()
	return "undecided"
}

// cause is what is told of an error with which a replica stopped.
func cause(err error) string {
	var disk *replica.DiskError
	if errors.As(err, &disk) {
		return "its disk failed"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// look lets the watchers look at the replica.
func (d *driven) look() {
	m := d.Member()
	if m == nil {
		d.up = false
		return
	}
	if !d.up {
		d.up = true
		d.watch.Booted(d.now, 1, d.part, m)
	}
	d.watch.Acknowledged(1, d.part, m.View().Last)
	d.watch.Stepped(d.now, 1, d.part, m)
}

// holds says what the replica has; ops are counted as the specification does.
func (d *driven) holds() string {
	m := d.Member()
	if m == nil {
		return "down"
	}
	v := m.View()
	words := "replays"
	if v.Serving {
		words = "serves"
	}
	return fmt.Sprintf("%s, op %d, %s", words, max(v.Facts.Applied, 1)-1, contents(m, &v))
}

// rest boots the replica if it is down, and says what keeps it from rest; empty if it comes
// to it.
func (d *driven) rest() string {
	d.now++
	err := d.Up()
	d.look()
	if err == nil {
		err = d.Rest()
		d.look()
	}
	if err != nil {
		return "the replica stops: " + cause(err)
	}
	m := d.Member()
	if v := m.View(); !v.Serving || v.Facts.Applied != v.Committed || v.Purging {
		return fmt.Sprintf("the replica applied op %d of %d committed, serving: %v, purging: %v", v.Facts.Applied, v.Committed, v.Serving, v.Purging)
	}
	d.watch.Rest(d.now, d.part, []invariant.Subject{m})
	return ""
}

// sequences are how often op numbers begin.
func (r *Result) sequences() int {
	n := 1
	for _, x := range r.Scenario.Steps {
		if x.act.Action == "BeginSequence" || x.act.Action == "Recreate" {
			n++
		}
	}
	return n
}

// beginsAnew tells those who watch that op numbers begin anew.
func (d *driven) beginsAnew() error {
	g, err := d.PurgedTo()
	d.watch.SequenceLost(d.now, d.part, d.part+1, g)
	d.part++
	return err
}

// DrivenTrace is what the replicas of a scenario that leads them did.
func (r *Result) DrivenTrace() (*traces.Trace, error) {
	var out bytes.Buffer
	w := traces.NewWriter(&out, traces.Header{
		Design: r.Design.String(), Variant: r.Scenario.Variants.String(), Replicas: r.seen, Partitions: r.sequences(), Messages: r.Policy.Messages.String(), Bookmarks: r.Policy.Bookmarks.String(),
	})
	for _, e := range r.Trace {
		w.Observe(e)
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return traces.Read(&out, r.Scenario.Name)
}
