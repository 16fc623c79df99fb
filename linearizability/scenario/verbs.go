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
	asks    bool // the answer is one to a client
	read    func(r *reader, s *Scenario, client int) (func(*world) string, error)
}

var verbs map[string]verb

func init() {
	asked := func(of func(*reader) (func(*world, *client) *op.Request, error)) verb {
		return verb{true, true, func(r *reader, s *Scenario, client int) (func(*world) string, error) {
			return readAsk(r, s, client, of)
		}}
	}
	// onNode is a verb about one machine.
	onNode := func(answers bool, rest func(*reader) (func(*world, *node) string, error)) verb {
		return verb{answers, false, func(r *reader, s *Scenario, _ int) (func(*world) string, error) {
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
	// onNodes is one about a machine, or about all of them.
	onNodes := func(rest func(*reader) (func(*world, *node) string, error)) verb {
		one := onNode(false, rest)
		return verb{read: func(r *reader, s *Scenario, client int) (func(*world) string, error) {
			if !r.flag("all") {
				return one.read(r, s, client)
			}
			do, err := rest(r)
			return func(w *world) string {
				for _, n := range w.nodes[1:] {
					do(w, n)
				}
				return ""
			}, err
		}}
	}
	plain := func(answers bool, do func(*world, *client) string) verb {
		return verb{answers, answers, func(_ *reader, _ *Scenario, client int) (func(*world) string, error) {
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

		"begin":   {read: readBegin(false)},
		"delay":   {read: readBegin(true)},
		"arrive":  plain(false, (*world).arrive),
		"end":     plain(true, (*world).end),
		"give-up": plain(false, func(w *world, c *client) string { w.giveUp(c); return "" }),

		"crash":      onNodes(readCrash(false)),
		"power-loss": onNodes(readCrash(true)),
		"restart":    onNodes(fixedNode((*world).restart)),
		"arm":        onNode(false, readArm),
		"fault":      onNode(false, readFault),
		"mend":       onNode(false, fixedNode(func(_ *world, n *node) string { n.faults.Clear(); return "" })),
		"isolate":    onNode(false, fixedNode(func(w *world, n *node) string { w.isolate(n.id); return "" })),
		"heal":       plain(false, func(w *world, _ *client) string { w.heal(); return "" }),
		"leader":     onNode(true, fixedNode(func(w *world, n *node) string { return w.elect(n.id) })),
		"look":       onNode(true, fixedNode((*world).look)),
		"files":      onNode(true, readFiles),
		"rot":        onNode(true, readRot),
		"wait":       {read: readWait},
		"recreate":   {read: readRecreate},
		"delete":     plain(false, func(w *world, _ *client) string { w.remove(); return "" }),

		"replace-disk": {read: readReplace(onNode(false, fixedNode(func(w *world, n *node) string { w.replace(n); return "" })))},
		"member":       onNode(true, fixedNode((*world).memberOf)),
		"force":        {answers: true, read: readForce},

		"purge-topic": {answers: true, read: readPurgeTopic},

		"take": {answers: true}, // readTake
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

// restart starts what a machine runs, until it goes down again.
func (w *world) restart(n *node) string {
	downs := n.downs
	for _, x := range w.all {
		if m := x.nodes[n.id]; m.member == nil && !m.refuses() && !x.deleted && n.downs == downs {
			x.boot(m)
		}
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

// readRot reads which byte changes.
func readRot(r *reader) (func(*world, *node) string, error) {
	file, err := r.next("a file")
	if err != nil {
		return nil, err
	}
	w, err := r.next("the number of a byte")
	if err != nil {
		return nil, err
	}
	at, err := r.number(w, 0)
	return func(_ *world, n *node) string {
		if n.disk.Rot(file.text, int64(at), 1) != nil {
			return "no such byte"
		}
		return "rotten"
	}, err
}

// readReplace notes that a disk is replaced.
func readReplace(v verb) func(*reader, *Scenario, int) (func(*world) string, error) {
	return func(r *reader, s *Scenario, client int) (func(*world) string, error) {
		s.replaces = true
		return v.read(r, s, client)
	}
}

func readForce(*reader, *Scenario, int) (func(*world) string, error) {
	return func(w *world) string {
		if w.plane == nil {
			return "nobody lost its memory"
		}
		return w.force()
	}, nil
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
