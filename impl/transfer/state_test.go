package transfer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/engine/flat"
	"purgelab/impl/engine/tagged"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// layout is one kind of engine.
type layout struct {
	name string
	open func(engine.Options) (engine.Engine, error)
	imp  func(engine.ImportOptions, *engine.Point) engine.Import
}

var layouts = []layout{{"tagged", func(o engine.Options) (engine.Engine, error) {
	e, _, err := tagged.Open(o)
	if err != nil {
		return nil, err
	}
	return e, nil
}, tagged.Import}, {"flat", func(o engine.Options) (engine.Engine, error) {
	e, _, err := flat.Open(flat.Options{Options: o})
	if err != nil {
		return nil, err
	}
	return e, nil
}, flat.Importer(false)}}

func each(t *testing.T, test func(t *testing.T, l layout)) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) { test(t, l) })
	}
}

const (
	dir   = "p0"
	first = 1 // replicas
	other = 2
)

// on are options of an engine of a replica.
func on(fs vfs.FS, replica uint32, at string, defects defect.Set) engine.Options {
	return engine.Options{
		FS: fs, Dir: at, Identity: record.Identity{Cluster: 7, Replica: replica, Incarnation: 1},
		SegmentBytes: 300, IndexEvery: 100, Defects: defects, HighestOp: func() op.Number { return engine.Bootstrap },
	}
}

// history is ops from 2 on: an effect, or a purge.
type history []any

// lives has two purges, bookmarks of each generation, and a start above 0.
func lives() history {
	var h history
	n := 0
	add := func(count int) {
		eff := engine.Effect{Kind: engine.Append, Timestamp: op.Timestamp(100 + len(h))}
		for range count {
			eff.Payloads = append(eff.Payloads, op.Payload(fmt.Sprintf("message %d", n)))
			n++
		}
		h = append(h, eff)
	}
	store := func(g op.Generation, k op.ConsumerKind, id uint32, o op.Offset) {
		h = append(h, engine.Effect{Kind: engine.Store, Key: op.Key{Kind: k, ID: id}, Position: op.Position{Incarnation: 1, Generation: g, Offset: o}})
	}
	for range 5 {
		add(3)
	}
	store(0, op.Consumer, 1, 2)
	h = append(h, op.Generation(2)) // op 8
	for range 6 {
		add(2)
	}
	store(2, op.Consumer, 1, 4)
	store(2, op.Group, 5, 3)
	h = append(h, op.Generation(3)) // op 17
	for range 14 {
		add(2)
	}
	store(3, op.Group, 1, 11)
	store(3, op.Consumer, 2, 6)
	h = append(h, engine.Effect{Kind: engine.Advance, Start: 9}) // op 34
	return h
}

const olderOp, newerOp = 15, 34

func finish(t require.TestingT, task engine.Task) {
	for done := false; !done; {
		var err error
		done, _, err = task.Step()
		require.NoError(t, err)
	}
}

// applied opens the engine at a path and applies a history up to an op, with a
// checkpoint there.
func applied(t require.TestingT, l layout, o engine.Options, h history, last op.Number) engine.Engine {
	e, err := l.open(o)
	require.NoError(t, err)
	for n := op.Number(2); n <= last; n++ {
		if g, purge := h[n-2].(op.Generation); purge {
			finish(t, e.Checkpoint(nil))
			finish(t, e.Purge(n, g, []byte(fmt.Sprintf("sessions of op %d", n))))
			if e.Facts().Applied < n {
				require.NoError(t, e.Apply(n, engine.Effect{}))
			}
			continue
		}
		require.NoError(t, e.Apply(n, h[n-2].(engine.Effect)))
	}
	finish(t, e.Checkpoint([]byte(fmt.Sprintf("sessions of op %d", last))))
	return e
}

// newDisk has the folder of a partition.
func newDisk(t require.TestingT) *crashfs.Disk {
	d := crashfs.New()
	require.NoError(t, d.FS().Mkdir("test", dir))
	require.NoError(t, d.FS().SyncDir("test", "."))
	return d
}

// source is a replica that is up to date.
func source(t require.TestingT, l layout, defects defect.Set) engine.Engine {
	return applied(t, l, on(newDisk(t).FS(), first, dir, defects), lives(), newerOp)
}

// shown is everything that an engine shows.
func shown(t require.TestingT, e engine.Engine) string {
	f := e.Facts()
	var b strings.Builder
	fmt.Fprintf(&b, "i%d g%d boundary %d settled %d op %d [%d, %d) time %d pending %v extra %q\n",
		f.Incarnation, f.Generation, f.Boundary, f.Settled, f.Applied, f.Start, f.End, f.LastTimestamp, f.Pending, e.Extra())
	rs, err := e.Read(f.Start, 1<<30)
	require.NoError(t, err)
	for _, r := range rs {
		fmt.Fprintf(&b, " %s@%d", r.Payload, r.Timestamp)
	}
	for _, m := range e.Bookmarks() {
		fmt.Fprintf(&b, "\n %s=%s by op %d", m.Key, m.Position, m.Op)
	}
	return b.String()
}

func termOf(op.Number) (uint64, error) { return 4, nil }

// offered is an offer of e by a sender of its own.
func offered(t require.TestingT, e engine.Engine, o SenderOptions) (*Sender, *Manifest) {
	s := NewSender(o)
	m, err := s.Offer(other, e, termOf)
	require.NoError(t, err)
	return s, m
}

var errDropped = errors.New("the offer was dropped")

// move brings chunks until nothing is missing, or limit have come; false if the pull
// is not whole.
func move(s *Sender, p *Pull, limit int) (bool, error) {
	for {
		q := p.Ask(true)
		if q == nil {
			return true, nil
		}
		if m := s.Request(other, q); m != nil {
			return false, errDropped
		}
		for s.Work() {
			if limit--; limit < 0 {
				return false, nil
			}
			_, m, err := s.Next()
			if err != nil {
				return false, err
			}
			if m.Drop != nil {
				return false, errDropped
			}
			if _, err := p.Take(m.Chunk); err != nil {
				return false, err
			}
		}
	}
}

// install ends a pull, and commits it.
func install(p *Pull, fs vfs.FS, h home) error {
	for done := false; !done; {
		var err error
		if done, _, err = p.Step(); err != nil {
			return err
		}
	}
	p.Close()
	return commit(fs, on(fs, other, dir, 0).Identity, h)
}
