package tagged

import (
	"fmt"
	"sort"
	"strings"

	"github.com/stretchr/testify/require"

	"purgelab/impl/purge"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

var me = record.Identity{Cluster: 7, Partition: 0, Replica: 2, Incarnation: 1}

// step is one op of a script: an effect, or a purge.
type step struct {
	eff   Effect
	purge op.Generation
}

// state is the naive model: everything visible, as plain values.
type state struct {
	gen        op.Generation
	start, end op.Offset
	records    []op.Record // all since offset 0
	marks      map[op.Key]op.Offset
	ts         op.Timestamp
	settled    op.Generation
}

func (s state) after(x step) state {
	n := s
	n.marks = map[op.Key]op.Offset{}
	if x.purge > 0 {
		return state{gen: x.purge, marks: n.marks, ts: s.ts, settled: max(s.settled, x.purge)}
	}
	for k, v := range s.marks {
		n.marks[k] = v
	}
	switch x.eff.Kind {
	case Append:
		for _, p := range x.eff.Payloads {
			n.records = append(n.records[:len(n.records):len(n.records)], op.Record{Payload: p, Timestamp: x.eff.Timestamp})
		}
		n.end, n.ts = op.Offset(len(n.records)), x.eff.Timestamp
	case Store:
		n.marks[x.eff.Key] = x.eff.Position.Offset
	case Delete:
		delete(n.marks, x.eff.Key)
	case Advance:
		n.start = x.eff.Start
	case Settle:
		n.settled = max(n.settled, x.eff.Settled)
	}
	return n
}

func (s state) String() string {
	var keys []op.Key
	for k := range s.marks {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i].Less(keys[j]) })
	var b strings.Builder
	fmt.Fprintf(&b, "g%d [%d,%d) ts %d settled %d %v", s.gen, s.start, s.end, s.ts, s.settled, s.records[s.start:])
	for _, k := range keys {
		fmt.Fprintf(&b, " %s=g%d:%d", k, s.gen, s.marks[k])
	}
	return b.String()
}

// shown is the same for an engine, every record read from disk.
func shown(t require.TestingT, e *Engine) string {
	f := e.Facts()
	s := state{gen: f.Generation, start: f.Start, end: f.End, ts: f.LastTimestamp, settled: f.Settled, marks: map[op.Key]op.Offset{}}
	recs, err := e.Read(f.Start, 1<<30)
	require.NoError(t, err)
	require.Len(t, recs, int(f.End-f.Start))
	s.records = append(make([]op.Record, f.Start), recs...)
	for _, b := range e.Bookmarks() {
		if f.Generation != b.Position.Generation {
			require.Equal(t, f.Generation, b.Position.Generation)
		}
		s.marks[b.Key] = b.Position.Offset
	}
	return s.String()
}

// byTime checks that FirstAt agrees with a search by eye.
func byTime(t require.TestingT, e *Engine) {
	f := e.Facts()
	recs, err := e.Read(f.Start, 1<<30)
	require.NoError(t, err)
	for ts := op.Timestamp(0); ts <= f.LastTimestamp+1; ts++ {
		at, got, found, err := e.FirstAt(ts)
		require.NoError(t, err)
		want := -1
		for i, r := range recs {
			if r.Timestamp >= ts {
				want = int(f.Start) + i
				break
			}
		}
		require.Equal(t, want >= 0, found, "first at %d", ts)
		if found {
			require.EqualValues(t, want, at)
			require.Equal(t, recs[want-int(f.Start)].Timestamp, got)
		}
	}
}

// script builds ops with the state after each; index 0 is op 2.
type script struct {
	steps  []step
	states []state  // states[i] is before steps[i]
	texts  []string // of states, when first asked for
}

func newScript() *script { return &script{states: []state{{marks: map[op.Key]op.Offset{}}}} }

func (s *script) now() state { return s.states[len(s.states)-1] }

func (s *script) add(x step) {
	s.steps = append(s.steps, x)
	s.states = append(s.states, s.now().after(x))
}

func (s *script) append(n int) {
	var ps []op.Payload
	for i := range n {
		ps = append(ps, op.Payload(fmt.Sprintf("m%d.%d", len(s.steps), i)))
	}
	s.add(step{eff: Effect{Kind: Append, Payloads: ps, Timestamp: s.now().ts + op.Timestamp(len(s.steps)%3)}})
}

func key(id int) op.Key { return op.Key{Kind: op.ConsumerKind(id % 2), ID: uint32(id)} }

func (s *script) store(id int, o op.Offset) {
	s.add(step{eff: Effect{Kind: Store, Key: key(id), Position: op.Position{Incarnation: 1, Generation: s.now().gen, Offset: o}}})
}

func (s *script) delete(id int)       { s.add(step{eff: Effect{Kind: Delete, Key: key(id)}}) }
func (s *script) advance(o op.Offset) { s.add(step{eff: Effect{Kind: Advance, Start: o}}) }
func (s *script) purge(g op.Generation) {
	s.add(step{purge: g})
}

// at is the state that must be shown when op n is applied.
func (s *script) at(n op.Number) string {
	for len(s.texts) < len(s.states) {
		s.texts = append(s.texts, s.states[len(s.texts)].String())
	}
	return s.texts[n-1]
}

// last op of the script.
func (s *script) last() op.Number { return op.Number(len(s.steps) + 1) }

// driver runs a script on an engine as a replica would.
type driver struct {
	t    require.TestingT
	s    *script
	d    *crashfs.Disk
	e    *Engine
	opts func(*Options)
	fs   vfs.FS // instead of d

	checkpointEvery int
	slack           int
	task            Work

	// What the engine has promised, over all boots.
	durable   op.Number // a checkpoint of this op ended
	completed op.Generation
	tried     op.Number // highest op given to Apply or Purge
}

func (v *driver) open() error {
	fs := v.fs
	if fs == nil {
		fs = v.d.FS()
	}
	o := Options{FS: fs, Dir: "p0", Identity: me, SegmentBytes: 250, IndexEvery: 100, BookmarkSlack: v.slack}
	if v.opts != nil {
		v.opts(&o)
	}
	v.task = nil
	var err error
	if v.e, _, err = Open(o); err == nil {
		byTime(v.t, v.e)
	}
	return err
}

// check compares everything visible with the model.
func (v *driver) check() {
	f := v.e.Facts()
	if want, got := v.s.at(f.Applied), shown(v.t, v.e); want != got {
		require.Equal(v.t, want, got, "op %d", f.Applied)
	}
	require.GreaterOrEqual(v.t, f.Applied, v.durable)
	require.GreaterOrEqual(v.t, f.Generation, v.completed)
	require.GreaterOrEqual(v.t, f.Front, f.Applied)
	if v.tried > 0 {
		require.LessOrEqual(v.t, f.Front, v.tried)
	}
}

// run applies the script from where the engine is up to op last, with a step of
// a checkpoint or a reclaim after each op.
func (v *driver) run(last op.Number) error {
	for v.e.Facts().Applied < last {
		n := v.e.Facts().Applied + 1
		x := v.s.steps[n-2]
		v.tried = max(v.tried, n)
		if x.purge == 0 {
			if err := v.e.Apply(n, x.eff); err != nil {
				return err
			}
		} else {
			if err := v.finishTask(); err != nil {
				return err
			}
			t := v.e.Purge(n, x.purge, fmt.Appendf(nil, "extra %d", n))
			for done := false; !done; {
				v.check()
				var err error
				if done, _, err = t.Step(); err != nil {
					return err
				}
				if _, _, err := reclaim(v.e); err != nil {
					return err
				}
			}
			v.completed, v.durable = x.purge, n
		}
		v.check()
		if v.task == nil && v.checkpointEvery > 0 && int(n)%v.checkpointEvery == 0 {
			v.task = v.e.Checkpoint(fmt.Appendf(nil, "extra %d", n))
		}
		if err := v.between(); err != nil {
			return err
		}
		v.check()
	}
	return nil
}

// between does one step of whatever else there is to do.
func (v *driver) between() error {
	if v.task != nil {
		done, did, err := v.task.Step()
		if err != nil {
			return err
		}
		if done {
			require.EqualValues(v.t, "Checkpoint", did)
			v.durable, v.task = v.task.(*Task).cp.Applied, nil
		}
	}
	_, _, err := reclaim(v.e)
	return err
}

func (v *driver) finishTask() error {
	for v.task != nil {
		if err := v.between(); err != nil {
			return err
		}
	}
	return nil
}

// folders lists generations on the disk.
func (v *driver) folders() []op.Generation {
	g, err := purge.Folders(v.d.FS(), "p0")
	require.NoError(v.t, err)
	return g
}
