package crashpoints

import "purgelab/model/op"

// workload is what the client does, one request after another. It meets every
// labelled disk call of a replica: files of the journal, of messages and of
// bookmarks are begun and rolled, checkpoints are taken, purges follow each other,
// what they leave is reclaimed, and records are deleted from the front.
func (m *machine) workload() {
	session := m.do(&op.Request{Kind: op.Register}).Session
	sequence := op.Sequence(0)
	ask := func(r op.Request) op.Reply {
		if r.Mutates() && (r.Kind != op.Purge || !m.o.Design.Intents()) {
			sequence++
			r.Session, r.Sequence = session, sequence
		}
		return m.do(&r)
	}
	payload := 0
	add := func(n int) op.Position {
		r := op.Request{Kind: op.Append}
		for range n {
			payload++
			r.Payloads = append(r.Payloads, op.Payload("payload-"+string(rune('a'+payload))))
		}
		return ask(r).Position
	}
	reader, group := op.Key{ID: 1}, op.Key{Kind: op.Group, ID: 2}
	store := func(k op.Key, at op.Position) { ask(op.Request{Kind: op.StoreBookmark, Key: k, At: at}) }
	poll := func() { ask(op.Request{Kind: op.Poll, Key: group, Max: 2, AutoCommit: true}) }
	purge := func(g op.Generation) {
		if !m.o.Design.Intents() {
			g = 0
		}
		ask(op.Request{Kind: op.Purge, Intent: g})
	}

	store(reader, add(2))
	purge(1)
	add(1)
	poll()
	add(3)
	store(reader, add(2))
	at := add(2)
	ask(op.Request{Kind: op.DeleteRecords, At: at})
	poll()
	add(1)
	store(group, add(1))
	purge(3)
	ask(op.Request{Kind: op.GetBookmark, Key: reader})
	store(reader, add(1))
	ask(op.Request{Kind: op.DeleteBookmark, Key: reader})
	add(1)
	purge(3)
	poll()
}

// readAll asks for everything that a client can see.
func (m *machine) readAll() {
	for _, r := range []op.Request{
		{Kind: op.ListOffsets, Which: op.EarliestOffset}, {Kind: op.ListOffsets, Which: op.LatestOffset},
		{Kind: op.Poll, Strategy: op.First, Max: 100},
		{Kind: op.GetBookmark, Key: op.Key{ID: 1}}, {Kind: op.GetBookmark, Key: op.Key{Kind: op.Group, ID: 2}},
		{Kind: op.Poll, Key: op.Key{ID: 1}, Max: 100},
	} {
		m.do(&r)
	}
}

// play runs one case to its end.
func play(o Options, points []*Point) *machine {
	m := newMachine(o, points)
	m.boot()
	m.rest()
	m.workload()
	m.ended = len(m.disk.Calls())
	m.points = nil
	m.arm(0)
	if m.broken == nil {
		m.lose()
		m.readAll()
	}
	return m
}
