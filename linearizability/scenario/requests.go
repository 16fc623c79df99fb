package scenario

import (
	"strconv"
	"strings"

	"purgelab/model/op"
)

// This file reads what clients ask.

func (r *reader) key() (op.Key, error) {
	w, err := r.next("the owner of a bookmark")
	if err != nil {
		return op.Key{}, err
	}
	id, e := strconv.ParseUint(w.text[1:], 10, 32)
	k := op.Key{ID: uint32(id)}
	switch {
	case e != nil || w.text[0] != 'c' && w.text[0] != 'g':
		return k, r.bad(w.column, "owner %q: want c and a number for a consumer, g and a number for a group", w.text)
	case w.text[0] == 'g':
		k.Kind = op.Group
	}
	return k, nil
}

// position reads a bare offset, or one with its generation, of the first incarnation
// if it names no other.
func (r *reader) position(w word) (at op.Position, bare bool, err error) {
	at.Incarnation = 1
	text := w.text
	if inc, rest, named := strings.Cut(text, ":g"); named && strings.HasPrefix(inc, "i") {
		i, e := strconv.ParseUint(inc[1:], 10, 31)
		if e != nil || i == 0 {
			return at, false, r.bad(w.column, "incarnation %q: want i and a number from 1", inc)
		}
		at.Incarnation, text = op.Incarnation(i), "g"+rest
	}
	gen, offset, tagged := strings.Cut(text, ":")
	if !tagged {
		offset, at.Incarnation = gen, 0
	} else {
		g, e := strconv.ParseUint(strings.TrimPrefix(gen, "g"), 10, 31)
		if e != nil || !strings.HasPrefix(gen, "g") {
			return at, false, r.bad(w.column, "generation %q: want g and a number", gen)
		}
		at.Generation = op.Generation(g)
	}
	o, e := strconv.ParseInt(offset, 10, 64)
	if e != nil {
		return at, false, r.bad(w.column, "position %q: want an offset, or one with its generation such as g1:4 or i2:g1:4", w.text)
	}
	at.Offset = op.Offset(o)
	return at, !tagged, nil
}

// readAsk reads a request and whom to ask.
func readAsk(r *reader, s *Scenario, client int, of func(*reader) (func(*world, *client) *op.Request, error)) (func(*world) string, error) {
	req, via, err := readVia(r, s, of)
	if err != nil {
		return nil, err
	}
	return func(w *world) string { return w.ask(w.clients[client], req(w, w.clients[client]), via) }, nil
}

func readVia(r *reader, s *Scenario, of func(*reader) (func(*world, *client) *op.Request, error)) (req func(*world, *client) *op.Request, via int, err error) {
	if req, err = of(r); err == nil && r.flag("via") {
		via, err = r.replica(s)
	}
	return req, via, err
}

// readBegin reads a request that is sent and not waited for.
func readBegin(delayed bool) func(*reader, *Scenario, int) (func(*world) string, error) {
	return func(r *reader, s *Scenario, client int) (func(*world) string, error) {
		return readSent(r, s, client, delayed)
	}
}

func readSent(r *reader, s *Scenario, client int, delayed bool) (func(*world) string, error) {
	w, err := r.next("what to begin")
	if err != nil {
		return nil, err
	}
	of, ok := requests[w.text]
	if !ok {
		return nil, r.bad(w.column, "begin %q: want append, poll, store, delete-records or purge", w.text)
	}
	req, via, err := readVia(r, s, of)
	if err != nil {
		return nil, err
	}
	return func(w *world) string {
		c := w.clients[client]
		w.begin(c, req(w, c), via, delayed)
		return ""
	}, nil
}

var requests = map[string]func(*reader) (func(*world, *client) *op.Request, error){
	"append": readAppend, "poll": readPoll, "store": readStore, "delete-records": readDelete, "purge": readPurge,
}

func fixed(q op.Request) func(*reader) (func(*world, *client) *op.Request, error) {
	return func(*reader) (func(*world, *client) *op.Request, error) {
		return func(*world, *client) *op.Request { c := q; return &c }, nil
	}
}

func withKey(k op.Kind) func(*reader) (func(*world, *client) *op.Request, error) {
	return func(r *reader) (func(*world, *client) *op.Request, error) {
		key, err := r.key()
		return func(*world, *client) *op.Request { return &op.Request{Kind: k, Key: key} }, err
	}
}

func readAppend(r *reader) (func(*world, *client) *op.Request, error) {
	var list []op.Payload
	for {
		w := r.peek()
		if w.text == "" || w.text == "via" || w.text == "at-once" {
			break
		}
		r.at++
		list = append(list, op.Payload(w.text))
	}
	if len(list) == 0 {
		return nil, r.bad(r.peek().column, "want at least one message")
	}
	return fixed(op.Request{Kind: op.Append, Payloads: list})(r)
}

// readPoll reads next KEY, first, last, or at POSITION, and options.
func readPoll(r *reader) (func(*world, *client) *op.Request, error) {
	q := op.Request{Kind: op.Poll, Max: 100}
	w, err := r.next("next, first, last or at")
	if err != nil {
		return nil, err
	}
	switch w.text {
	case "next":
		if q.Key, err = r.key(); err != nil {
			return nil, err
		}
	case "first":
		q.Strategy = op.First
	case "last":
		q.Strategy = op.Last
	case "at":
		q.Strategy = op.AtOffset
		if w, err = r.next("a position"); err == nil {
			q.At, q.Bare, err = r.position(w)
		}
		if err != nil {
			return nil, err
		}
	default:
		return nil, r.bad(w.column, "poll %q: want next, first, last or at", w.text)
	}
	if v, ok := r.option("max"); ok {
		n, err := r.number(v, 1)
		if err != nil {
			return nil, err
		}
		q.Max = uint32(n)
	}
	if v, ok := r.option("reset"); ok {
		if q.Reset, err = op.ParseReset(v.text); err != nil {
			return nil, r.bad(v.column, "%v", err)
		}
	}
	q.AutoCommit = q.Strategy == op.Next && r.flag("commit")
	return fixed(q)(r)
}

func readStore(r *reader) (func(*world, *client) *op.Request, error) {
	q := op.Request{Kind: op.StoreBookmark}
	var err error
	if q.Key, err = r.key(); err != nil {
		return nil, err
	}
	w, err := r.next("a position")
	if err == nil {
		q.At, q.Bare, err = r.position(w)
	}
	if err != nil {
		return nil, err
	}
	return fixed(q)(r)
}

func readDelete(r *reader) (func(*world, *client) *op.Request, error) {
	q := op.Request{Kind: op.DeleteRecords, At: op.Position{Incarnation: 1, Offset: -1}, Bare: true}
	if !r.flag("end") {
		w, err := r.next("a position or the word end")
		if err == nil {
			q.At, q.Bare, err = r.position(w)
		}
		if err != nil {
			return nil, err
		}
	}
	return fixed(q)(r)
}

// readPurge reads a purge: a new one, the last one again, or one that expects a
// position.
func readPurge(r *reader) (func(*world, *client) *op.Request, error) {
	q := op.Request{Kind: op.Purge}
	again := r.flag("again")
	if r.flag("expecting") {
		w, err := r.next("a position")
		if err != nil {
			return nil, err
		}
		at, bare, err := r.position(w)
		if err != nil || bare {
			return nil, r.bad(w.column, "position %q: want one with its generation such as g1:4", w.text)
		}
		q.Expected = &at
	}
	return func(w *world, _ *client) *op.Request {
		c := q
		if n := len(w.intents); again && n > 0 {
			c.Intent = w.intents[n-1].Generation
		}
		return &c
	}, nil
}

// readPurgeTopic purges all partitions at once: the answers of each, in their order.
func readPurgeTopic(_ *reader, _ *Scenario, client int) (func(*world) string, error) {
	return func(w *world) string {
		var out []string
		for _, x := range w.all {
			x.begin(x.clients[client], &op.Request{Kind: op.Purge}, 0, false)
		}
		for _, x := range w.all {
			out = append(out, x.end(x.clients[client]))
		}
		return strings.Join(out, "; ")
	}, nil
}

// readRepeat sends the client's last numbered request again, under its number.
func readRepeat(*reader) (func(*world, *client) *op.Request, error) {
	return func(_ *world, c *client) *op.Request {
		if c.last == nil {
			return &op.Request{Kind: op.Append} // refused as a bad request
		}
		q := *c.last
		return &q
	}, nil
}
