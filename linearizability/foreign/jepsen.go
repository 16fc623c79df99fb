package foreign

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"purgelab/linearizability/foreign/form"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// jepsen reads what Jepsen's kafka workload leaves: operations whose value is a
// list of micro-operations, [:send k v], which ends as [:send k [offset v]], and
// [:poll], which ends as [:poll {k [[offset v] ...]}]; k is a partition. Each
// becomes an operation of its own, within the interval of the whole: what a
// transaction promises beyond that is not told. What the nemesis does, and
// operations that ask no log, are passed over.
type jepsen struct {
	ops  []Op
	now  int64 // place in the file: their times are not unique
	open map[int]*invoked
	// next is for each process, while it keeps an assignment, the last record that
	// it got of each partition.
	next map[int]map[op.Partition]Position
}

// invoked is an operation that has no end yet.
type invoked struct {
	process int
	f       string
	call    int64
	at      form.Value // its event, whose value holds the micro-operations
}

func readJepsen(file string, in *form.Reader) ([]Op, error) {
	j := &jepsen{open: map[int]*invoked{}, next: map[int]map[op.Partition]Position{}}
	for {
		v, err := in.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			j.now++
			err = j.event(&v)
		}
		if err != nil {
			return nil, placed(file, err)
		}
	}
	var left []*invoked
	for _, o := range j.open {
		left = append(left, o)
	}
	slices.SortFunc(left, func(a, b *invoked) int { return cmp.Compare(a.call, b.call) })
	for _, o := range left {
		if err := j.unknown(o.process, o, history.Unknown); err != nil {
			return nil, placed(file, err)
		}
	}
	slices.SortStableFunc(j.ops, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
	return j.ops, nil
}

// asks are the operations that reach a log; those that move a consumer; and those
// that mean nothing here.
var (
	asks  = []string{"send", "poll", "txn"}
	moves = []string{"assign", "subscribe", "crash"}
	other = []string{"debug-topic-partitions", "await-topics"}
)

func (j *jepsen) event(v *form.Value) error {
	if v.Kind != form.Map {
		return v.Errorf("want the map of an operation, got %s", v.Kind)
	}
	process := v.Get("process")
	if process == nil {
		return v.Errorf("process: want a number or nemesis, got none")
	}
	if process.Kind != form.Number {
		if _, ok := process.Name(); !ok {
			return process.Errorf("process: want a number or nemesis, got %s", process)
		}
		return nil // of the nemesis
	}
	who, err := strconv.Atoi(process.Text)
	if err != nil {
		return process.Errorf("process: want a number, got %s", process)
	}
	f, _ := where(v, "f").Name()
	kind, _ := where(v, "type").Name()
	if !slices.Contains(asks, f) && !slices.Contains(moves, f) && !slices.Contains(other, f) {
		return where(v, "f").Errorf("f: want one of %v %v %v, got %q", asks, moves, other, f)
	}
	o := j.open[who]
	if kind == "invoke" {
		if o != nil {
			return v.Errorf("process %d: want the end of its %s of line %d before it invokes again", who, o.f, o.at.Line)
		}
		j.open[who] = &invoked{who, f, j.now, *v}
		return nil
	}
	if o == nil || o.f != f {
		return v.Errorf("process %d: want an invoke before its %s of %s", who, kind, f)
	}
	delete(j.open, who)
	switch kind {
	case "ok":
		if f == "assign" {
			j.next[who] = map[op.Partition]Position{}
		} else if slices.Contains(moves, f) {
			delete(j.next, who) // partitions come and go without a word
		}
		if !slices.Contains(asks, f) {
			return nil
		}
		return j.answered(who, o, v)
	case "fail":
		return j.unknown(who, o, history.NoEffect)
	case "info":
		return j.unknown(who, o, history.Unknown)
	}
	return where(v, "type").Errorf("type: want one of invoke, ok, fail, info, got %q", kind)
}

// micro gives the micro-operations of an event: a list of lists, or, as some
// tests of one operation write it, the one alone.
func micro(v *form.Value) ([]form.Value, error) {
	x := v.Get("value")
	if x == nil || x.Kind != form.Seq {
		return nil, where(v, "value").Errorf("value: want a list of [:send k v] and [:poll], got %s", where(v, "value").Kind)
	}
	if len(x.Items) > 0 && x.Items[0].Kind != form.Seq {
		return []form.Value{*x}, nil
	}
	return x.Items, nil
}

// unknown takes in the sends of an operation without an answer. What it polled
// was told to nobody, and where its consumer stands is not known any more.
func (j *jepsen) unknown(who int, o *invoked, outcome history.Outcome) error {
	if _, assigned := j.next[who]; assigned {
		j.next[who] = map[op.Partition]Position{}
	}
	if !slices.Contains(asks, o.f) {
		return nil
	}
	list, err := micro(&o.at)
	if err != nil {
		return err
	}
	for i := range list {
		m := &list[i]
		if name, _ := first(m); name == "poll" {
			continue
		}
		s, err := j.send(who, o, m)
		if err != nil {
			return err
		}
		s.Outcome = outcome
		if s.Answer.Position = nil; outcome == history.NoEffect {
			s.Return = j.now
		}
		j.ops = append(j.ops, s)
	}
	return nil
}

func first(m *form.Value) (string, bool) {
	if m.Kind != form.Seq || len(m.Items) == 0 {
		return "", false
	}
	return m.Items[0].Name()
}

func (j *jepsen) answered(who int, o *invoked, v *form.Value) error {
	list, err := micro(v)
	if err != nil {
		return err
	}
	asked, err := micro(&o.at)
	if err != nil {
		return err
	}
	if len(asked) != len(list) {
		return where(v, "value").Errorf("value: want %d micro-operations as invoked at line %d, got %d", len(asked), o.at.Line, len(list))
	}
	for i := range list {
		if name, _ := first(&list[i]); name == "poll" {
			err = j.poll(who, o, &list[i])
		} else {
			var s Op
			if s, err = j.send(who, o, &list[i]); err == nil {
				s.Outcome, s.Return = history.Answered, j.now
				j.ops = append(j.ops, s)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// send reads [:send k v] or [:send k [offset v]].
func (j *jepsen) send(who int, o *invoked, m *form.Value) (Op, error) {
	s := Op{Process: who, F: Append, Call: o.call, Return: history.Never, Line: o.at.Line, Column: o.at.Column}
	if name, _ := first(m); name != "send" || len(m.Items) != 3 {
		return s, m.Errorf("want [:send k v] or [:poll], got %s", m)
	}
	var err error
	if s.Partition, err = partition(&m.Items[1]); err != nil {
		return s, err
	}
	v := &m.Items[2]
	if v.Kind == form.Seq {
		r, err := pair(v)
		if err != nil {
			return s, err
		}
		s.Answer.Position, s.Ask.Payloads = r.At, []op.Payload{r.Payload}
		return s, nil
	}
	s.Ask.Payloads = []op.Payload{op.Payload(v.String())}
	return s, nil
}

// partition reads a key.
func partition(k *form.Value) (op.Partition, error) {
	n, err := strconv.ParseUint(k.Text, 10, 32)
	if err != nil || k.Kind != form.Number && k.Kind != form.String && k.Kind != form.Keyword {
		return 0, k.Errorf("key: want the number of a partition, got %s", k)
	}
	return op.Partition(n), nil
}

// pair reads [offset value]; the offset may be nil.
func pair(v *form.Value) (Record, error) {
	if v.Kind != form.Seq || len(v.Items) != 2 {
		return Record{}, v.Errorf("want [offset value], got %s", v)
	}
	r := Record{Payload: op.Payload(v.Items[1].String())}
	if v.Items[0].Kind == form.Nil {
		return r, nil
	}
	var n *int64
	if err := whole(&v.Items[0], &n); err != nil {
		return r, err
	}
	r.At = At(*n)
	return r, nil
}

// poll reads [:poll {k [[offset value] ...]}]: a read of every partition that
// gave something. One that gave nothing tells nothing: a consumer may not have
// fetched from it yet.
func (j *jepsen) poll(who int, o *invoked, m *form.Value) error {
	if len(m.Items) == 1 {
		return nil
	}
	if len(m.Items) != 2 || m.Items[1].Kind != form.Map {
		return m.Errorf("want [:poll {k [[offset value] ...]}], got %s", m)
	}
	keys := m.Items[1].Items
	for i := 0; i < len(keys); i += 2 {
		p := Op{
			Process: who, F: Poll, Call: o.call, Return: j.now, Line: o.at.Line, Column: o.at.Column,
			Ask: Ask{Strategy: op.AtOffset}, Outcome: history.Answered,
		}
		var err error
		if p.Partition, err = partition(&keys[i]); err != nil {
			return err
		}
		list := &keys[i+1]
		if list.Kind != form.Seq {
			return list.Errorf("want [[offset value] ...], got %s", list)
		}
		for n := range list.Items {
			r, err := pair(&list.Items[n])
			if err != nil {
				return err
			}
			p.Answer.Records = append(p.Answer.Records, r)
		}
		if n := uint32(len(list.Items)); n > 0 {
			p.Ask.Max, p.Ask.At, p.Answer.Position = &n, p.Answer.Records[0].At, p.Answer.Records[0].At
			j.follow(&p)
			j.ops = append(j.ops, p)
		}
	}
	return nil
}

// follow notes from where a consumer that keeps its assignment goes on.
func (j *jepsen) follow(p *Op) {
	last := p.Answer.Records[len(p.Answer.Records)-1].At
	mine, assigned := j.next[p.Process]
	if !assigned || last == nil {
		return
	}
	if before, ok := mine[p.Partition]; ok {
		p.Before = &before
	}
	mine[p.Partition] = *last
}
