// Package workload chooses what clients ask for. It knows more than a client
// could: it remembers what every client learned, so that it can aim operations
// at each other. Every choice comes from one generator that is handed in.
//
// One file per family of operations; each has a function that samples a request
// and one that learns from the reply. The biases, because plain random choice
// finds little:
//
//   - A purge opens a race: for the next operations of that partition appends,
//     stores, auto-commits, deletes and polls come without a pause.
//   - After a fault every client first reads from the start.
//   - Positions are kept when their era has passed, and used again.
//   - Offsets are drawn near the edges: start, end, one beside them, far out.
//   - Few keys, so that clients meet at a bookmark.
//   - Purges and deletions may expect a position: the current one or an old one.
//   - Runs differ in their mix: in some an operation is rare, in others frequent;
//     eras last from a few operations to the whole run.
//
// Payloads are unique, so a record tells which append stored it.
package workload

import (
	"math/rand/v2"
	"strconv"

	"purgelab/model/op"
)

// Options describe a workload.
type Options struct {
	Clients    int
	Partitions int
	// Ops is how many operations all clients issue together.
	Ops int
	// Bare makes every position that is sent an offset only; otherwise none is.
	Bare bool
	// Unknown bounds the mutations whose outcome may stay unknown: further
	// operations are given unlimited patience.
	Unknown int
	// MaxThink is the longest pause between two operations of a client, in
	// microseconds; 0 means no pause.
	MaxThink int64
	// Accepted is how many of 100 purges end when their intent is committed, and
	// not only when they are applied; one in four of those purges every partition,
	// if there are several one in two.
	Accepted int
	// Recreate is how many times a partition is created again. The new one is
	// asked for the positions of its namesake too.
	Recreate int
	// Swarm, if not nil, draws which operations are left out of the run. Appends and one
	// way to drop messages stay.
	Swarm *rand.Rand
}

// Workload is the state of one run.
type Workload struct {
	o          Options
	rand       *rand.Rand
	partitions []partition
	mix        []family // families with the weights of this run
	calm, race int      // sums of the weights
	issued     int
	renewals   int
	unknown    int // outcomes that may become unknown: patience given out and not come back
	payloads   int
	// unconditional: purges expect no position.
	unconditional bool
	reread        []int // per client: partitions still to be read after a fault
}

// partition is what is known of one partition.
type partition struct {
	id         op.Partition
	era        op.Position // offset unused
	start, end op.Offset
	old        []op.Position // positions once seen, a bounded sample
	times      []op.Timestamp
	race       int // operations left of the race that a purge opened
	settled    int // operations since the last purge
}

const (
	consumers = 3
	groups    = 2
	maxOld    = 24
)

// New prepares a workload.
func New(o Options, r *rand.Rand) *Workload {
	w := &Workload{o: o, rand: r, reread: make([]int, o.Clients)}
	w.partitions = make([]partition, o.Partitions)
	for i := range w.partitions {
		w.partitions[i] = partition{id: op.Partition(i), era: op.Position{Incarnation: 1}}
	}
	w.drawMix()
	return w
}

// Choice is one operation with the pause before it and how long to wait for its
// answer (0: for ever), both in microseconds.
type Choice struct {
	Request         *op.Request
	Think, Patience int64
	// Accepted: a purge ends when its intent is committed. Topic: it is one of
	// every partition, and ends so.
	Accepted, Topic bool
	// Recreate: instead of the request, create its partition again; InTwo: delete
	// it first.
	Recreate, InTwo bool
	// NoAck: the answer is not awaited (ack=none).
	NoAck bool
}

// WithoutConditions makes purges expect no position, for a system that cannot.
func (w *Workload) WithoutConditions() { w.unconditional = true }

// Issued is how many operations were chosen.
func (w *Workload) Issued() int { return w.issued }

// Fault tells that something was broken or mended: clients look at everything
// again soon.
func (w *Workload) Fault() {
	for i := range w.reread {
		w.reread[i] = w.o.Partitions
	}
}

// family is one kind of operation with its weight in a calm phase and in a race.
type family struct {
	calm, race int
	sample     func(*Workload, *partition) *op.Request
}

var families = []family{
	{26, 24, sampleAppend},
	{24, 24, samplePoll},
	{12, 16, sampleStore},
	{4, 5, sampleDeleteBookmark},
	{8, 8, sampleGetBookmark},
	{9, 8, sampleListOffsets},
	{9, 9, sampleDeleteRecords},
	{6, 4, samplePurge},
}

// drawMix draws the weights of a run: each family at a third, at its usual
// weight, or at double; appends and polls never less than usual.
func (w *Workload) drawMix() {
	for i, f := range families {
		third := 1 + w.rand.IntN(6) // 1: a third, 2 to 4: usual, 5, 6: double
		switch {
		case third == 1 && i > 1:
			f.calm, f.race = max(1, f.calm/3), f.race/3
		case third > 4:
			f.calm, f.race = 2*f.calm, 2*f.race
		}
		w.mix = append(w.mix, f)
	}
	if w.o.Swarm != nil {
		w.leaveOut(w.o.Swarm)
	}
	for _, f := range w.mix {
		w.calm, w.race = w.calm+f.calm, w.race+f.race
	}
}

// leaveOut leaves out each operation in half of the runs, until appends and a purge or a
// deletion are left.
func (w *Workload) leaveOut(r *rand.Rand) {
	all := w.mix
	for left := false; !left; {
		w.mix = nil
		for i := range all {
			f := all[i]
			switch {
			case i == 0: // appends
			case r.IntN(2) == 0:
				continue
			case i >= len(all)-2: // deletions and purges, the last two
				left = true
				f.race = max(1, f.race)
			}
			w.mix = append(w.mix, f)
		}
	}
}

// Next chooses the next operation of a client; false when all are issued.
func (w *Workload) Next(client int) (Choice, bool) {
	if w.issued >= w.o.Ops {
		return Choice{}, false
	}
	w.issued++
	if n := w.reread[client]; n > 0 {
		w.reread[client] = n - 1
		return Choice{Request: &op.Request{Kind: op.Poll, Partition: w.partitions[n-1].id, Strategy: op.First, Max: 100}, Patience: w.patience(false)}, true
	}
	p := &w.partitions[w.rand.IntN(len(w.partitions))]
	var c Choice
	if w.renewals < w.o.Recreate && w.rand.IntN(max(1, w.o.Ops/(2*w.o.Recreate))) == 0 {
		w.renewals++
		return Choice{Request: &op.Request{Partition: p.id}, Recreate: true, InTwo: w.rand.IntN(2) == 0}, true
	}
	if p.race > 0 {
		p.race--
		c.Request = w.pick(p, w.race, func(f *family) int { return f.race })
	} else {
		c.Request = w.pick(p, w.calm, func(f *family) int { return f.calm })
		if w.o.MaxThink > 0 {
			c.Think = w.rand.Int64N(w.o.MaxThink)
		}
	}
	p.settled++
	if c.Request.Kind == op.Purge {
		p.race, p.settled = 4*w.o.Clients, 0
	}
	if w.noAck(c.Request) {
		c.NoAck = true
		return c, true
	}
	c.Patience = w.patience(c.Request.Mutates())
	if c.Request.Kind == op.Purge && w.o.Accepted > 0 {
		w.acknowledge(&c)
	}
	return c, true
}

func (w *Workload) pick(p *partition, total int, weight func(*family) int) *op.Request {
	n := w.rand.IntN(total)
	for i := range w.mix {
		f := &w.mix[i]
		if n -= weight(f); n < 0 {
			return f.sample(w, p)
		}
	}
	panic("workload: weights do not add up")
}

// patience lets one mutation in six be given up soon, so that its outcome may
// stay unknown, as long as the bound on those allows.
func (w *Workload) patience(mutates bool) int64 {
	const ms = 1000
	if !mutates {
		return 200*ms + w.rand.Int64N(1500*ms)
	}
	if w.rand.IntN(6) != 0 || w.unknown >= w.o.Unknown {
		return 0
	}
	w.unknown++
	return 5*ms + w.rand.Int64N(400*ms)
}

// noAck sends one in 24 appends and bookmark mutations without awaiting its
// answer, as long as the bound on unknown outcomes allows.
func (w *Workload) noAck(r *op.Request) bool {
	switch r.Kind {
	case op.Append, op.StoreBookmark, op.DeleteBookmark:
		if w.unknown < w.o.Unknown && w.rand.IntN(24) == 0 {
			w.unknown++
			return true
		}
	}
	return false
}

// acknowledge chooses when a purge ends. One that expects a position and ends
// when it is accepted has an unknown outcome, of which there may be few.
func (w *Workload) acknowledge(c *Choice) {
	if w.rand.IntN(100) >= w.o.Accepted {
		return
	}
	conditional := c.Request.Expected != nil
	c.Accepted = !conditional || c.Patience > 0
	often := 4 // one in so many
	if len(w.partitions) > 1 {
		often = 2
	}
	c.Topic = !conditional && w.rand.IntN(often) == 0
}

// Learn takes the answer to a request. known is false when its outcome stayed
// unknown, patience what it was given.
func (w *Workload) Learn(r *op.Request, reply *op.Reply, known bool, patience int64) {
	if known && patience > 0 && r.Mutates() {
		w.unknown-- // it was answered in time after all
	}
	if !known || r.Kind == op.Register {
		return
	}
	p := w.partition(r.Partition)
	if p == nil {
		return // it was created again, under another number
	}
	switch r.Kind {
	case op.Append:
		learnAppend(p, r, reply)
	case op.Poll:
		learnPoll(w, p, r, reply)
	case op.GetBookmark:
		if reply.Found {
			w.keep(p, reply.Position)
		}
	case op.ListOffsets:
		learnListOffsets(p, r, reply)
	case op.DeleteRecords:
		learnDeleteRecords(p, reply)
	case op.Purge:
		learnPurge(w, p, reply)
	}
	if hasBounds(reply.Code) {
		p.see(reply.Position, reply.Start, reply.End)
	}
}

func (w *Workload) partition(id op.Partition) *partition {
	for i := range w.partitions {
		if p := &w.partitions[i]; p.id == id {
			return p
		}
	}
	return nil
}

// Moved tells that a partition was created again: it has another number now, and
// nothing of its namesake but the positions that clients remember.
func (w *Workload) Moved(from, to op.Partition, incarnation op.Incarnation) {
	p := w.partition(from)
	if p == nil {
		return // known already
	}
	last := p.era
	last.Offset = max(0, p.end-1)
	w.keep(p, last)
	p.id, p.era, p.start, p.end = to, op.Position{Incarnation: incarnation}, 0, 0
	p.race = 4 * w.o.Clients
}

func hasBounds(c op.Code) bool {
	switch c {
	case op.OffsetOutOfRange, op.InvalidOffset, op.StaleGeneration, op.StaleIncarnation, op.Mismatch:
		return true
	}
	return false
}

// see takes bounds into account unless a newer era is known.
func (p *partition) see(at op.Position, start, end op.Offset) {
	if !p.current(at) {
		return
	}
	p.start, p.end = max(p.start, start), max(p.end, end)
}

// current moves to a newer era if at is of one, and tells whether at is of the
// era now known.
func (p *partition) current(at op.Position) bool {
	if at.Generation > p.era.Generation {
		p.era.Generation, p.start, p.end = at.Generation, 0, 0
	}
	return at.Generation == p.era.Generation
}

// keep remembers a position for later misuse.
func (w *Workload) keep(p *partition, at op.Position) {
	if len(p.old) < maxOld {
		p.old = append(p.old, at)
		return
	}
	p.old[w.rand.IntN(maxOld)] = at
}

func (w *Workload) key() op.Key {
	if n := w.rand.IntN(consumers + groups); n < consumers {
		return op.Key{Kind: op.Consumer, ID: uint32(n + 1)}
	} else {
		return op.Key{Kind: op.Group, ID: uint32(n - consumers + 1)}
	}
}

// position draws a place in the log: inside, at an edge, outside, or one that
// was seen before, perhaps in an older era.
func (w *Workload) position(p *partition) op.Position {
	at := p.era
	span := int64(p.end - p.start)
	switch n := w.rand.IntN(20); {
	case n < 8 && span > 0:
		at.Offset = p.start + op.Offset(w.rand.Int64N(span))
	case n < 10:
		at.Offset = p.end
	case n < 12:
		at.Offset = p.end - 1
	case n < 13:
		at.Offset = p.end + 1 + op.Offset(w.rand.IntN(20))
	case n < 14:
		at.Offset = p.start - 1
	case n < 15:
		at.Offset = p.start
	case n < 16:
		at.Offset = 0
	case len(p.old) > 0:
		return p.old[w.rand.IntN(len(p.old))]
	}
	return at
}

// expected is a condition: usually the truth as far as known, sometimes not.
func (w *Workload) expected(p *partition) *op.Position {
	at := p.era
	at.Offset = p.end
	if w.rand.IntN(4) == 0 {
		at = w.position(p)
	}
	return &at
}

// payload makes the next unique one, of some length.
func (w *Workload) payload() op.Payload {
	w.payloads++
	b := make([]byte, 0, 48)
	b = strconv.AppendInt(append(b, 'm'), int64(w.payloads), 10)
	for n := w.rand.IntN(40); n > 0; n-- {
		b = append(b, '.')
	}
	return op.Payload(b)
}
