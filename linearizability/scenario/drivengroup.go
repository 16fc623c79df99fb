package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"purgelab/impl/consensus"
	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/linearizability/history"
	"purgelab/linearizability/invariant"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
	"purgelab/traces/replay"
)

// This file plays scenarios that lead a group through actions of the specification. What
// its clients ask and are told is a history. In the end the group comes to rest by itself,
// whoever has a session repeats its request, and all that a client can see is read.

// drivenGroup is a group that is led, and those who watch it.
type drivenGroup struct {
	*replay.GroupDrive
	r         *Result
	watch     *invariant.Checker
	now       int64
	committed op.Number
	in        op.Incarnation // of what is committed
	looked    []replica.View // by id, as of the last boot
	rec       history.Recorder
	asked     map[uint64]*driveCall // by token
	sessions  map[op.Session]*driveCall
	last      *driveCall // that was asked
	// ending is the first incarnation that has not been said to end, begins are those to
	// come, as the history has them; the first was invoked.
	ending    op.Incarnation
	begins    []*op.Request
	processes int
	agrees    bool // it is led through AgreedLog: a replica holds ops that it has told nobody of
}

// driveCall is a request of a client. One that has a session may send it more than once.
type driveCall struct {
	process int
	req     *op.Request
	since   op.Number // committed when it was asked
	reply   *op.Reply
	refused string
}

// Observe is what a replica tells.
func (d *drivenGroup) Observe(e observe.Event) {
	e.Time = d.now
	switch i := max(e.Incarnation, 1); {
	case e.Action == "NewIncarnation" && op.Incarnation(e.Count) > d.in:
		d.began(&e)
	case e.Action == "Commit" && i == d.in:
		d.committed = max(d.committed, e.Op)
	}
	d.r.Trace = append(d.r.Trace, e)
	d.watch.Observe(e)
}

// Booted implements replay.Watch.
func (d *drivenGroup) Booted(id int, r *replica.Replica) {
	d.looked[id] = r.View()
	d.watch.Booted(d.now, id, 0, r)
}

// Stepped implements replay.Watch. Who has just got its base, or become another member, is
// as after a boot.
func (d *drivenGroup) Stepped(id int, r *replica.Replica, answers []replica.Answer) {
	v := r.View()
	if was := &d.looked[id]; was.Member != v.Member || was.Copying && !v.Copying {
		d.Booted(id, r)
	}
	if !d.agrees {
		d.watch.Acknowledged(id, 0, v.Last)
	}
	d.watch.Stepped(d.now, id, 0, r)
	for i := range answers {
		d.answered(id, &answers[i], v.Facts.Applied)
	}
}

// Served implements replay.Watch.
func (d *drivenGroup) Served(id int, chunk []byte) { d.watch.Served(d.now, id, 0, chunk) }

// Promised implements replay.Watch.
func (d *drivenGroup) Promised(id int, n op.Number) { d.watch.Acknowledged(id, 0, n) }

// Asked implements replay.Watch.
func (d *drivenGroup) Asked(token uint64, req *op.Request) {
	c := &driveCall{process: d.processes, req: req, since: d.committed}
	if was := d.sessions[req.Session]; req.Session != 0 && was != nil {
		if c.process = was.process; was.reply == nil { // another copy
			was.since = min(was.since, d.committed) // that may be of another incarnation
			d.rec.Again(was.process)
			d.asked[token], d.last = was, was
			return
		}
	} else {
		d.processes++
	}
	if req.Session != 0 {
		d.sessions[req.Session] = c
	}
	d.asked[token], d.last = c, c
	d.watch.Invoked(c.process, req)
	d.rec.Invoke(c.process, d.now, req)
}

// answered takes an answer. Of a change that is refused nobody knows whether an attempt
// before had its effect.
func (d *drivenGroup) answered(id int, a *replica.Answer, applied op.Number) {
	c := d.asked[a.Token]
	if c == nil || c.reply != nil || c.refused != "" {
		return
	}
	if a.Reply.Code.Retriable() {
		if !c.req.Mutates() {
			c.refused = a.Reply.Code.String()
			d.rec.Fail(c.process, d.now, c.refused)
		}
		return
	}
	reply := a.Reply
	c.reply = &reply
	d.watch.Answered(d.now, id, c.req, c.reply, applied, c.since)
	d.rec.Answer(c.process, d.now, c.reply)
	d.watch.Returned(d.now, c.process, c.req, c.reply)
}

// Ending implements replay.Watch: to the history the incarnation that follows is an
// operation, which lasts until a replica is where that begins.
func (d *drivenGroup) Ending(i op.Incarnation) {
	if i < d.ending {
		return
	}
	d.ending = i + 1
	q := &op.Request{Kind: op.NewIncarnation}
	if d.r.Policy.Messages == replica.Replicated {
		q.MayLose |= op.LosesMessages
	}
	if d.r.Policy.Bookmarks == replica.Replicated {
		q.MayLose |= op.LosesBookmarks
	}
	if d.begins = append(d.begins, q); len(d.begins) == 1 {
		d.rec.Invoke(worldProcess, d.now, q)
	}
}

// Forced implements replay.Watch: what an operator gives up is known only when he does.
func (d *drivenGroup) Forced() {
	d.begins[len(d.begins)-1].MayLose |= op.LosesSynced
	d.watch.Forced(0)
}

// began: a replica is where an incarnation begins.
func (d *drivenGroup) began(e *observe.Event) {
	d.in, d.committed = op.Incarnation(e.Count), e.Op
	agreed, err := op.ParsePosition(e.Key)
	if err != nil {
		panic(err) // it was printed by the same package
	}
	d.rec.Answer(worldProcess, d.now, &op.Reply{
		Position: op.Position{Incarnation: d.in, Generation: e.Generation, Offset: -1}, Start: e.Start, End: e.End, Agreed: agreed,
	})
	if d.begins = d.begins[1:]; len(d.begins) > 0 {
		d.rec.Invoke(worldProcess, d.now, d.begins[0])
	}
}

// driveGroup plays the steps, lets the group come to rest, and judges.
func (r *Result) driveGroup(ctx context.Context, on defect.Set) {
	r.seen = r.Scenario.Replicas
	const more = 8 // clients, beside one for each step: that which registers, and those of the end
	d := &drivenGroup{r: r, watch: invariant.New(r.seen, 1, len(r.Scenario.Steps)+more), asked: map[uint64]*driveCall{}, sessions: map[op.Session]*driveCall{}, in: 1, looked: make([]replica.View, r.seen+1)}
	d.watch.Design(r.Design)
	d.watch.Promises(r.Policy.Messages == replica.Persisted, r.Policy.Bookmarks == replica.Persisted)
	if !slices.ContainsFunc(r.Scenario.Steps, func(s Step) bool { return s.act.Action == "Rejoin" }) {
		d.watch.Sound()
	}
	d.watch.Policy(r.Policy)
	moving := slices.ContainsFunc(r.Scenario.Steps, func(s Step) bool { return replay.Moves(s.act) })
	var err error
	if d.GroupDrive, err = replay.NewGroupDrive(r.seen, r.Design, r.Policy, on, moving, d); err != nil {
		r.Undecided = err.Error()
		return
	}
	if d.agrees = slices.ContainsFunc(r.Scenario.Steps, func(s Step) bool { return replay.OfAgreedLog(s.act.Action) }); d.agrees {
		d.Agree()
	}
	for i, step := range r.Scenario.Steps {
		d.now = int64(i) + 1
		r.Answers = append(r.Answers, d.take(step.act))
		r.places = append(r.places, -1)
		if r.Answers[i] != r.want(i) {
			r.Differ = append(r.Differ, i)
		}
	}
	d.now++
	err = d.rest()
	for _, v := range d.watch.Violations() {
		r.red(v.Property, v.String())
	}
	var unsettled *replay.UnsettledError
	if errors.As(err, &unsettled) {
		r.red("PurgeEventuallyApplied", cause(err))
	} else if err != nil {
		r.red("NoStuckReplica", cause(err))
	}
	r.judgeHistory(ctx, &d.rec)
}

// take takes an action and says what the replica that it is of then is: without one who
// leads, and how far its log is.
func (d *drivenGroup) take(a *behaviours.Act) string {
	d.last = nil
	err := d.Take(a)
	words := d.leading()
	if i, after := d.Incarnation(); a.Action == "NewIncarnation" {
		words = fmt.Sprintf("incarnation %d after op %d", i, after)
	}
	if a.Replica != 0 {
		words = d.holds(d.Member(a.Replica))
	}
	switch c := d.last; {
	case errors.Is(err, replay.ErrNotTaken) && a.Action == "Answer" && c != nil:
		return "no answer yet"
	case errors.Is(err, replay.ErrNotTaken):
		return "not taken; " + words
	case err != nil:
		return d.r.broke(err)
	case a.Action == "Answer" && c.reply != nil:
		return replyWords(d.r.Design, c.req, c.reply)
	}
	return words
}

func (d *drivenGroup) leading() string {
	if d.Leader() == 0 {
		return "nobody leads"
	}
	v := d.Member(d.Leader()).View()
	return fmt.Sprintf("r%d leads, op %d, committed %d", d.Leader(), d.Op(v.Last), d.Op(v.Committed))
}

// holds says what a replica of a group has.
func (d *drivenGroup) holds(m *replica.Replica) string {
	if m == nil {
		return "down"
	}
	v := m.View()
	words := "replays"
	switch {
	case v.Joining:
		words = "joins"
	case v.Role == consensus.Leader:
		words = "leads"
	case v.Serving:
		words = "serves"
	}
	if d.agrees {
		return fmt.Sprintf("%s, op %d, committed %d", words, d.Op(v.Last), d.Op(v.Committed))
	}
	return fmt.Sprintf("%s, op %d, %s", words, d.Op(v.Facts.Applied), contents(m, &v))
}

// rest says what keeps the group from rest; nil if it comes to it.
func (d *drivenGroup) rest() error {
	if err := d.Rest(); err != nil {
		return err
	}
	var ends []*op.Request
	for _, id := range slices.Sorted(maps.Keys(d.sessions)) {
		req := d.sessions[id].req
		next := *req
		next.Sequence++
		next.Payloads = []op.Payload{"and on"}
		ends = append(ends, req, &next)
	}
	ends = append(ends, &op.Request{Kind: op.ListOffsets, Which: op.EarliestOffset}, &op.Request{Kind: op.ListOffsets, Which: op.LatestOffset},
		&op.Request{Kind: op.Poll, Strategy: op.First, Max: 1000})
	for _, q := range ends {
		if was := d.sessions[q.Session]; q.Session != 0 && was.req.Sequence < q.Sequence && was.reply == nil {
			continue // one request at a time
		}
		d.now++
		if err := d.Ask(q); err != nil {
			return err
		}
	}
	var all []invariant.Subject
	for id := range d.r.seen {
		all = append(all, d.Member(id+1))
	}
	d.watch.Rest(d.now, 0, all)
	d.giveUp()
	return nil
}

// giveUp leaves open what nobody has answered.
func (d *drivenGroup) giveUp() {
	seen := map[int]bool{}
	for _, token := range slices.Sorted(maps.Keys(d.asked)) {
		c := d.asked[token]
		if seen[c.process] || c.reply != nil || c.refused != "" {
			continue
		}
		seen[c.process] = true
		if c.req.Mutates() {
			d.rec.Unknown(c.process, d.now, c.req.Intent, "gave up")
		} else {
			d.rec.Fail(c.process, d.now, "gave up")
		}
	}
}
