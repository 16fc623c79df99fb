package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// verb is a word that begins a step.
type verb struct {
	answers bool
	read    func(r *reader, s *Scenario, client int) (func(*world) string, error)
}

var verbs map[string]verb

func init() {
	asked := func(of func(*reader) (func(*world, *client) *op.Request, error)) verb {
		return verb{true, func(r *reader, s *Scenario, client int) (func(*world) string, error) {
			return readAsk(r, s, client, of)
		}}
	}
	// onNode is a verb about one machine.
	onNode := func(answers bool, rest func(*reader) (func(*world, *node) string, error)) verb {
		return verb{answers, func(r *reader, s *Scenario, _ int) (func(*world) string, error) {
			id, err := r.replica(s)
			if err != nil {
				return nil, err
			}
			do, err := rest(r)
			if err != nil {
				return nil, err
			}
			return func(w *world) string { return do(w, w.nodes[id]) }, nil
		}}
	}
	plain := func(answers bool, do func(*world, *client) string) verb {
		return verb{answers, func(_ *reader, _ *Scenario, client int) (func(*world) string, error) {
			return func(w *world) string { return do(w, w.clients[client]) }, nil
		}}
	}
	verbs = map[string]verb{
		"register":        asked(fixed(op.Request{Kind: op.Register})),
		"append":          asked(readAppend),
		"poll":            asked(readPoll),
		"store":           asked(readStore),
		"delete-bookmark": asked(withKey(op.DeleteBookmark)),
		"bookmark":        asked(withKey(op.GetBookmark)),
		"earliest":        asked(fixed(op.Request{Kind: op.ListOffsets, Which: op.EarliestOffset})),
		"latest":          asked(fixed(op.Request{Kind: op.ListOffsets, Which: op.LatestOffset})),
		"delete-records":  asked(readDelete),
		"purge":           asked(readPurge),
		"repeat":          asked(readRepeat),

		"begin":   {false, readBegin(false)},
		"delay":   {false, readBegin(true)},
		"arrive":  plain(false, (*world).arrive),
		"end":     plain(true, (*world).end),
		"give-up": plain(false, func(w *world, c *client) string { w.giveUp(c); return "" }),

		"crash":      onNode(false, readCrash(false)),
		"power-loss": onNode(false, readCrash(true)),
		"restart":    onNode(false, fixedNode((*world).restart)),
		"arm":        onNode(false, readArm),
		"fault":      onNode(false, readFault),
		"mend":       onNode(false, fixedNode(func(_ *world, n *node) string { n.faults.Clear(); return "" })),
		"isolate":    onNode(false, fixedNode(func(w *world, n *node) string { w.isolate(n.id); return "" })),
		"heal":       plain(false, func(w *world, _ *client) string { w.heal(); return "" }),
		"leader":     onNode(true, fixedNode(func(w *world, n *node) string { return w.elect(n.id) })),
		"look":       onNode(true, fixedNode((*world).look)),
		"files":      onNode(true, readFiles),
		"wait":       {false, readWait},
		"recreate":   {false, readRecreate},
	}
}

func verbNames() []string {
	var out []string
	for name := range verbs {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (r *reader) replica(s *Scenario) (int, error) {
	w, err := r.next("a replica")
	if err != nil {
		return 0, err
	}
	id, e := strconv.Atoi(strings.TrimPrefix(w.text, "r"))
	if !strings.HasPrefix(w.text, "r") || e != nil || id < 1 || id > s.Replicas {
		return 0, r.bad(w.column, "replica %q: want r1 to r%d", w.text, s.Replicas)
	}
	return id, nil
}

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

// position reads a bare offset, or one with its generation.
func (r *reader) position(w word) (at op.Position, bare bool, err error) {
	at.Incarnation = 1
	gen, offset, tagged := strings.Cut(w.text, ":")
	if !tagged {
		offset = gen
	} else {
		g, e := strconv.ParseUint(strings.TrimPrefix(gen, "g"), 10, 31)
		if e != nil || !strings.HasPrefix(gen, "g") {
			return at, false, r.bad(w.column, "generation %q: want g and a number", gen)
		}
		at.Generation = op.Generation(g)
	}
	o, e := strconv.ParseInt(offset, 10, 64)
	if e != nil {
		return at, false, r.bad(w.column, "position %q: want an offset, or one with its generation such as g1:4", w.text)
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

func fixedNode(do func(*world, *node) string) func(*reader) (func(*world, *node) string, error) {
	return func(*reader) (func(*world, *node) string, error) { return do, nil }
}

func readCrash(power bool) func(*reader) (func(*world, *node) string, error) {
	return func(r *reader) (func(*world, *node) string, error) {
		all := false
		if v, ok := r.option("keep"); ok {
			if all = v.text == "all"; !power || !all && v.text != "none" {
				return nil, r.bad(v.column, "keep %q: want none or all, and only of a power loss", v.text)
			}
		}
		return func(w *world, n *node) string {
			if all {
				w.down(n, power, keepAll(n.disk))
			} else {
				w.down(n, power, nil)
			}
			return ""
		}, nil
	}
}

func (w *world) restart(n *node) string {
	if n.member == nil && !n.refuses() {
		w.boot(n)
	}
	return ""
}

// readArm reads how, where and when a machine is to crash.
func readArm(r *reader) (func(*world, *node) string, error) {
	var power, after bool
	w, err := r.next("crash or power-loss")
	if err != nil {
		return nil, err
	}
	if power = w.text == "power-loss"; !power && w.text != "crash" {
		return nil, r.bad(w.column, "%q: want crash or power-loss", w.text)
	}
	if w, err = r.next("before or after"); err != nil {
		return nil, err
	}
	if after = w.text == "after"; !after && w.text != "before" {
		return nil, r.bad(w.column, "%q: want before or after", w.text)
	}
	label, err := r.next("the label of a disk call")
	if err != nil {
		return nil, err
	}
	nth := 1
	if v, ok := r.option("nth"); ok {
		if nth, err = r.number(v, 1); err != nil {
			return nil, err
		}
	}
	return func(w *world, n *node) string { w.arm(n, power, after, label.text, nth); return "" }, nil
}

// readFault reads a rule of package faultfs.
func readFault(r *reader) (func(*world, *node) string, error) {
	w, err := r.next("a rule")
	if err != nil {
		return nil, err
	}
	column := w.column
	text := strings.TrimRight(r.text[column-1:], " ")
	r.at = len(r.list)
	if rest, ok := strings.CutSuffix(text, " at-once"); ok {
		text, r.at = rest, r.at-1
	}
	rule, err := faultfs.Parse(text)
	if err != nil {
		var at int
		if _, e := fmt.Sscanf(err.Error(), "faultfs: column %d", &at); e == nil {
			column += at - 1
		}
		_, what, _ := strings.Cut(strings.TrimPrefix(err.Error(), "faultfs: "), ": ")
		return nil, r.bad(column, "%s", what)
	}
	return func(_ *world, n *node) string { n.faults.Add(rule); return "" }, nil
}

func readFiles(r *reader) (func(*world, *node) string, error) {
	p, err := r.next("a pattern of files")
	return func(w *world, n *node) string { return w.count(n, p.text) }, err
}

func readRecreate(_ *reader, s *Scenario, _ int) (func(*world) string, error) {
	s.recreate++
	return func(w *world) string { w.recreate(); return "" }, nil
}

// readWait lets so many milliseconds pass.
func readWait(r *reader, _ *Scenario, _ int) (func(*world) string, error) {
	w, err := r.next("milliseconds")
	if err != nil {
		return nil, err
	}
	ms, err := r.number(w, tickMillis)
	return func(w *world) string { w.until(ms/tickMillis, never); return "" }, err
}
