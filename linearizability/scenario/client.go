package scenario

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/replica"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// mainClient asks what names no client.
const mainClient = "main"

// client has a session, which it opens before its first numbered request.
type client struct {
	index    int // for the invariants
	process  int // in the history; another one after an unknown outcome
	session  op.Session
	sequence op.Sequence
	last     *op.Request // numbered request, for a repeat
	open     *call
	// believes is the incarnation that the client means, once it has asked: it
	// learns from an answer that there is another.
	believes op.Incarnation
}

// call is a request that waits for its answer.
type call struct {
	client *client
	req    *op.Request
	via    int // ask this replica alone; 0: whoever leads
	token  uint64
	at     int   // who was asked last
	sent   int64 // when; 0: not yet
	asked  op.Number
	reply  *op.Reply
	// incarnation that the client believed in when it asked.
	incarnation op.Incarnation
	delayed     bool // on its way
	copies      int  // sent, and not answered
}

// resendMillis is after how long a request is sent again.
const resendMillis = 400

// ask gives a request to the cluster and waits for the answer.
func (w *world) ask(c *client, req *op.Request, via int) string {
	w.begin(c, req, via, false)
	return w.end(c)
}

// numbered requests carry a session, a purge by intent its intent.
func (w *world) numbered(r *op.Request) bool {
	return r.Mutates() && r.Kind != op.Register && !(r.Kind == op.Purge && w.design.Intents())
}

// begin sends a request. A client does one thing at a time.
func (w *world) begin(c *client, req *op.Request, via int, delayed bool) {
	if c.open != nil {
		w.end(c)
	}
	req.Partition = w.shard
	if w.numbered(req) && req.Session == 0 {
		if c.session == 0 {
			w.ask(c, &op.Request{Kind: op.Register}, via)
		}
		if c.session == 0 && c.believes == w.latest { // it has just learned that there is another one
			w.ask(c, &op.Request{Kind: op.Register}, via)
		}
		c.sequence++
		req.Session, req.Sequence = c.session, c.sequence
		c.last = req
	}
	if req.Kind == op.Purge && w.design.Intents() && req.Intent == 0 {
		w.intend(req)
	}
	w.send(&call{client: c, req: req, via: via, asked: w.committed, incarnation: w.means(c, req), delayed: delayed})
}

// means is the incarnation that a request of a client is for. Where there may be
// another one later, the request says so.
func (w *world) means(c *client, req *op.Request) op.Incarnation {
	if w.plane == nil {
		return w.latest
	}
	if c.believes == 0 {
		c.believes = w.latest
	}
	if req.Incarnation == 0 {
		req.Incarnation = c.believes
	}
	return req.Incarnation
}

// intend is the metadata plane: it gives the purge the next generation, and every
// machine that is up hears of it.
func (w *world) intend(req *op.Request) {
	in := replica.Intent{Generation: 1, Expected: req.Expected}
	if n := len(w.intents); n > 0 {
		in.Previous = w.intents[n-1].Generation
		in.Generation = in.Previous + 1
	}
	w.intents = append(w.intents, in)
	req.Intent = in.Generation
	for _, n := range w.nodes[1:] {
		w.step(n, replica.Input{Intents: []replica.Intent{in}})
	}
}

func (w *world) send(k *call) {
	w.token++
	k.token = w.token
	k.client.open = k
	w.calls = append(w.calls, k)
	w.watch.Invoked(k.client.index, k.req)
	w.rec.Invoke(k.client.process, w.now, k.req)
	w.attempt(k)
}

// attempt sends a request once, if there is somebody to ask. A registration is
// sent once only, since it has no number, and so is what one replica is asked.
func (w *world) attempt(k *call) {
	if w.deleted && !k.delayed {
		k.reply = &op.Reply{Code: op.UnknownPartition}
		w.calls = slices.DeleteFunc(w.calls, func(x *call) bool { return x == k })
		return
	}
	to := k.via
	if to == 0 {
		to = w.leader()
	}
	if k.delayed || to == 0 || w.nodes[to].member == nil || k.sent > 0 && (k.req.Kind == op.Register || k.via != 0) {
		return
	}
	k.at, k.sent = to, w.now+1
	if k.copies++; k.copies > 1 && w.plane != nil {
		w.rec.Again(k.client.process)
	}
	w.step(w.nodes[to], replica.Input{Request: &replica.Request{Token: k.token, Incarnation: k.incarnation, Op: k.req}})
}

// arrive lets a delayed request go on.
func (w *world) arrive(c *client) string {
	if c.open != nil {
		c.open.delayed = false
		w.attempt(c.open)
	}
	return ""
}

// resend asks again where nobody answered, or somebody else leads now.
func (w *world) resend() {
	for _, k := range append([]*call{}, w.calls...) {
		lost := k.sent == 0 || w.nodes[k.at].member == nil || w.now-k.sent > resendMillis
		if k.reply == nil && (lost || k.via == 0 && w.leader() != k.at) {
			w.attempt(k)
		}
	}
}

// answered takes a reply. One that promises no effect is asked again, unless one
// replica was to be asked.
func (w *world) answered(n *node, a *replica.Answer) {
	for i, k := range w.calls {
		if k.token != a.Token {
			continue
		}
		k.copies--
		if a.Reply.Code.Retriable() && k.via == 0 {
			k.sent = 0
			return
		}
		reply := a.Reply
		k.reply = &reply
		if k.incarnation == n.incarnation { // another one answers only that it is not it
			w.watch.Answered(w.now, n.id, k.req, &reply, n.member.View().Facts.Applied, k.asked)
		}
		w.calls = append(w.calls[:i], w.calls[i+1:]...)
		return
	}
}

// end waits for the answer of a client's open call and records it.
func (w *world) end(c *client) string {
	k := c.open
	if k == nil {
		return "nothing was begun"
	}
	defer func() { w.place = w.rec.Last() }()
	if !w.until(patienceTicks, func() bool { return k.reply != nil }) {
		w.giveUp(c)
		return "unknown"
	}
	c.open = nil
	if k.reply.Code == op.UnknownPartition || k.reply.Code == op.StaleIncarnation && k.incarnation < w.latest {
		w.missed(c, k)
		return w.words(k.req, k.reply)
	}
	if !history.Judged(k.reply.Code) {
		w.rec.Fail(c.process, w.now, k.reply.Code.String())
		return k.reply.Code.String()
	}
	w.rec.Answer(c.process, w.now, k.reply)
	w.watch.Returned(w.now, c.index, k.req, k.reply)
	if k.req.Kind == op.Register {
		c.session, c.sequence = k.reply.Session, 0
	}
	return w.words(k.req, k.reply)
}

// missed ends a call on an incarnation that is over. It had no effect, unless it was
// sent before, or is carried out by those who know its intent. That the partition goes on
// in a later one is an answer.
func (w *world) missed(c *client, k *call) {
	if w.plane != nil {
		c.believes, c.session = max(c.believes, k.reply.Position.Incarnation), 0
	}
	if w.plane != nil && k.req.Mutates() && k.req.Kind != op.Register && (k.copies > 0 || k.req.Intent != 0) {
		w.rec.Unknown(c.process, w.now, k.req.Intent, k.reply.Code.String())
		c.process, c.last = w.processes, nil
		w.processes++
		return
	}
	if w.plane != nil && k.reply.Code == op.StaleIncarnation {
		w.rec.Answer(c.process, w.now, k.reply)
		w.watch.Returned(w.now, c.index, k.req, k.reply)
		return
	}
	w.rec.Fail(c.process, w.now, k.reply.Code.String())
}

// giveUp leaves the outcome unknown: of a mutation nobody can tell any more.
func (w *world) giveUp(c *client) {
	k := c.open
	if k == nil {
		return
	}
	c.open = nil
	for i := range w.calls {
		if w.calls[i] == k {
			w.calls = append(w.calls[:i], w.calls[i+1:]...)
			break
		}
	}
	if !k.req.Mutates() {
		w.rec.Fail(c.process, w.now, "gave up")
		return
	}
	w.rec.Unknown(c.process, w.now, k.req.Intent, "gave up")
	c.process, c.session, c.last = w.processes, 0, nil
	w.processes++
}

// words is a reply as files show it.
func (w *world) words(q *op.Request, a *op.Reply) string { return replyWords(w.design, q, a) }

func replyWords(d replica.Design, q *op.Request, a *op.Reply) string {
	at := a.Position.Offset
	switch a.Code {
	case op.OK:
	case op.OffsetOutOfRange, op.InvalidOffset, op.StaleGeneration, op.StaleIncarnation, op.Mismatch:
		return fmt.Sprintf("%s, start %d, end %d", a.Code, a.Start, a.End)
	default:
		return a.Code.String()
	}
	switch q.Kind {
	case op.Append:
		return span(at, len(q.Payloads))
	case op.Poll:
		if len(a.Records) == 0 {
			return fmt.Sprintf("nothing at %d", at)
		}
		var b strings.Builder
		b.WriteString(span(at, len(a.Records)) + ":")
		for _, r := range a.Records {
			fmt.Fprintf(&b, " %s", r.Payload)
		}
		return b.String()
	case op.GetBookmark:
		if !a.Found {
			return "none"
		}
		return fmt.Sprint(at)
	case op.ListOffsets:
		return fmt.Sprint(at)
	case op.DeleteRecords:
		return fmt.Sprintf("start %d", at)
	case op.Purge:
		if d.Intents() {
			return fmt.Sprintf("generation %d", a.Position.Generation)
		}
		return fmt.Sprintf("start %d", at)
	}
	return "ok"
}

func span(from op.Offset, n int) string {
	if n == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d..%d", from, from+op.Offset(n)-1)
}

// keyName is a bookmark's owner as files write it.
func keyName(k op.Key) string {
	if k.Kind == op.Group {
		return fmt.Sprintf("g%d", k.ID)
	}
	return fmt.Sprintf("c%d", k.ID)
}
