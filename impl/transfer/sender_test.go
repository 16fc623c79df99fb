package transfer

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// begin is a pull into a home of an empty replica.
func begin(t *testing.T, l layout, fs vfs.FS, m *Manifest) *Pull {
	p, err := Begin(PullOptions{Engine: on(fs, other, dir+"/h1", 0), Import: l.imp}, m, Own{Incarnation: 1})
	require.NoError(t, err)
	return p
}

// openHome opens the home that a pull was installed in.
func openHome(t *testing.T, l layout, fs vfs.FS, p *Pull) engine.Engine {
	require.NoError(t, install(p, fs, "h1"))
	e, err := l.open(on(fs, other, dir+"/h1", 0))
	require.NoError(t, err)
	return e
}

// TestBudget: in a tick no more leaves than the budget and the chunk that ends it.
func TestBudget(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		e := source(t, l, 0)
		s, m := offered(t, e, SenderOptions{ChunkBytes: 150, Budget: 200})
		fs := newDisk(t).FS()
		p := begin(t, l, fs, m)
		ticks := 1
		for ; p.Left() > 0; ticks++ {
			sent := 0
			for q := p.Ask(false); q != nil || s.Work(); q = p.Ask(false) {
				if q != nil {
					require.Nil(t, s.Request(other, q))
				}
				_, c, err := s.Next()
				require.NoError(t, err)
				if c == nil {
					break
				}
				sent += len(c.Chunk.Data)
				_, err = p.Take(c.Chunk)
				require.NoError(t, err)
			}
			require.LessOrEqual(t, sent, 200+150)
			s.Tick()
		}
		require.Greater(t, ticks, 3)
		require.Equal(t, shown(t, e), shown(t, openHome(t, l, fs, p)))
	})
}

// TestIdle: a receiver that asks for nothing loses its offer, and the files go.
func TestIdle(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		s, m := offered(t, source(t, l, 0), SenderOptions{IdleTicks: 3})
		p := begin(t, l, newDisk(t).FS(), m)
		require.Empty(t, s.Tick())
		require.Nil(t, s.Request(other, p.Ask(false)))
		for range 3 {
			require.Empty(t, s.Tick())
		}
		n, any := s.Lowest()
		require.True(t, any)
		require.EqualValues(t, newerOp, n)
		require.Equal(t, []uint64{other}, s.Tick())
		require.False(t, s.Holds(other))
		_, any = s.Lowest()
		require.False(t, any)
		require.Equal(t, &Message{Drop: &Drop{m.ID()}}, s.Request(other, p.Ask(true)))
	})
}

// TestRequests that nobody of ours makes are passed over.
func TestRequests(t *testing.T) {
	s, m := offered(t, source(t, layouts[0], 0), SenderOptions{})
	for _, q := range []Request{{Piece: -1, Chunks: 1}, {Piece: 99, Chunks: 1}, {At: -1, Chunks: 1}, {At: 1 << 40, Chunks: 1}, {At: segment.FirstByte}} {
		q.Offer = m.ID()
		require.Nil(t, s.Request(other, &q))
		require.False(t, s.Work())
	}
	require.Nil(t, s.Request(other, &Request{Offer: m.ID(), At: 41, Chunks: 1}))
	_, c, err := s.Next()
	require.Error(t, err, "not the beginning of a batch")
	require.Nil(t, c)
	require.False(t, s.Holds(other))
}

// TestBadNetwork: chunks that are lost, repeated and late do no harm.
func TestBadNetwork(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		e := source(t, l, 0)
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 3))
			s, m := offered(t, e, SenderOptions{ChunkBytes: 100})
			fs := newDisk(t).FS()
			p := begin(t, l, fs, m)
			var way []*Chunk
			for steps := 0; p.Left() > 0; steps++ {
				require.Less(t, steps, 10_000)
				if q := p.Ask(r.IntN(20) == 0); q != nil && r.IntN(3) > 0 {
					require.Nil(t, s.Request(other, q))
				}
				if _, c, err := s.Next(); c != nil && r.IntN(5) > 0 {
					require.NoError(t, err)
					way = append(way, c.Chunk)
				}
				if len(way) > 0 {
					i := r.IntN(len(way))
					_, err := p.Take(way[i])
					require.NoError(t, err)
					if r.IntN(4) > 0 {
						way = slices.Delete(way, i, i+1)
					}
				}
			}
			require.Equal(t, shown(t, e), shown(t, openHome(t, l, fs, p)))
			s.Close()
		}
	})
}

// TestPurgeEndsTheOffer: nothing that is purged travels. The receiver is told, and begins
// anew with the next offer; of the old era nothing is left in its home.
func TestPurgeEndsTheOffer(t *testing.T) { each(t, purgeEndsTheOffer) }

func purgeEndsTheOffer(t *testing.T, l layout) {
	e := source(t, l, 0)
	s, m := offered(t, e, SenderOptions{ChunkBytes: 150})
	fs := newDisk(t).FS()
	p := begin(t, l, fs, m)
	_, err := move(s, p, 3)
	require.NoError(t, err)
	finish(t, e.Purge(newerOp, 4, nil))
	_, err = move(s, p, 1<<20)
	require.ErrorIs(t, err, errDropped)
	require.False(t, s.Holds(other))
	p.Close()
	for n := op.Number(newerOp + 1); n < newerOp+9; n++ {
		require.NoError(t, e.Apply(n, engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"fresh"}, Timestamp: 900}))
	}
	finish(t, e.Checkpoint([]byte("sessions")))
	s, m = offered(t, e, SenderOptions{ChunkBytes: 150})
	p = begin(t, l, fs, m)
	whole, err := move(s, p, 1<<20)
	require.NoError(t, err)
	require.True(t, whole)
	require.Equal(t, shown(t, e), shown(t, openHome(t, l, fs, p)))
	if l.name == "tagged" {
		return
	}
	// A purge that destroys what there is is not offered before it is complete, nor that.
	task := e.Purge(newerOp+8, 5, nil)
	for done := false; !done; {
		var err error
		done, _, err = task.Step()
		require.NoError(t, err)
		_, err = NewSender(SenderOptions{}).Offer(other, e, termOf)
		require.Equal(t, done, err == nil, "%v", err)
		require.Equal(t, !done, errors.Is(err, engine.ErrNoPoint))
	}
}

// TestFloorAboveTheState: a floor of a replica whose ops up to it are still to come goes
// along, with the era before, and the receiver executes them as the sender does.
func TestFloorAboveTheState(t *testing.T) {
	l := layouts[1]
	e := source(t, l, 0)
	finish(t, e.Purge(newerOp+3, 4, nil))
	finish(t, e.Checkpoint([]byte("sessions")))
	s, m := offered(t, e, SenderOptions{})
	require.EqualValues(t, newerOp+3, m.Point.Boundary)
	fs := newDisk(t).FS()
	p := begin(t, l, fs, m)
	whole, err := move(s, p, 1<<20)
	require.NoError(t, err)
	require.True(t, whole)
	got := openHome(t, l, fs, p)
	for n := op.Number(newerOp + 1); n < newerOp+6; n++ {
		for _, x := range []engine.Engine{e, got} {
			require.NoError(t, x.Apply(n, engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"one"}, Timestamp: 900}))
		}
		require.Equal(t, e.Facts(), got.Facts())
		require.Equal(t, shown(t, e), shown(t, got))
	}
	require.EqualValues(t, 2, got.Facts().End)
}

// TestDeletionAtTheSender: of an offer no chunk leaves that holds a message which was
// deleted since, and everything else does. What the receiver has of it is of use for the
// next offer, which there is after the next checkpoint.
func TestDeletionAtTheSender(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for _, c := range []struct {
			start  op.Offset
			chunks int // that came before the deletion
			drops  bool
		}{{10, 0, true}, {12, 1, true}, {12, 3, false}, {28, 3, true}} {
			e := source(t, l, 0)
			s, m := offered(t, e, SenderOptions{ChunkBytes: 150})
			fs := newDisk(t).FS()
			p := begin(t, l, fs, m)
			_, err := move(s, p, c.chunks)
			require.NoError(t, err)
			require.NoError(t, e.Apply(newerOp+1, engine.Effect{Kind: engine.Advance, Start: c.start}))
			_, err = s.Offer(3, e, termOf)
			require.ErrorIs(t, err, engine.ErrNoPoint)
			require.NoError(t, e.Apply(newerOp+2, engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"fresh"}, Timestamp: 900}))
			whole, err := move(s, p, 1<<20)
			if !c.drops {
				require.NoError(t, err)
				require.True(t, whole)
				require.EqualValues(t, 9, openHome(t, l, fs, p).Facts().Start, "as of then")
				continue
			}
			require.ErrorIs(t, err, errDropped)
			p.Close()
			finish(t, e.Checkpoint(nil))
			for more := true; more; {
				r, err := e.Reclaim()
				require.NoError(t, err)
				more = r.More
			}
			s, m = offered(t, e, SenderOptions{ChunkBytes: 150})
			p = begin(t, l, fs, m)
			whole, err = move(s, p, 1<<20)
			require.NoError(t, err)
			require.True(t, whole)
			require.Equal(t, shown(t, e), shown(t, openHome(t, l, fs, p)))
		}
	})
}

// TestReceiverGoesOn: what the receiver has committed meanwhile decides at the end.
func TestReceiverGoesOn(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for last, want := range map[op.Number]Reason{newerOp - 1: "", newerOp: NotAbove} {
			s, m := offered(t, source(t, l, 0), SenderOptions{})
			d := newDisk(t)
			mine := applied(t, l, on(d.FS(), other, dir, 0), lives(), olderOp)
			own := func() Own {
				return Own{Incarnation: 1, Committed: mine.Facts().Applied, Facts: mine.Facts(), Agrees: true}
			}
			p, err := Begin(PullOptions{Engine: on(d.FS(), other, dir+"/h1", 0), Import: l.imp}, m, own())
			require.NoError(t, err)
			_, err = move(s, p, 1<<20)
			require.NoError(t, err)
			mine.Close()
			mine = applied(t, l, on(d.FS(), other, dir+"/h0", 0), lives(), last) // the same, further on: a purge among it
			o := own()
			why, _ := Refused(o.Fresh(p.Manifest()))
			require.Equal(t, want, why)
		}
	})
}

// TestAnotherPeer: an interrupted pull goes on with a peer that has the same, or more:
// of files that are the same no byte is pulled twice.
func TestAnotherPeer(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		s, m := offered(t, source(t, l, 0), SenderOptions{ChunkBytes: 150})
		d := newDisk(t)
		p := begin(t, l, d.FS(), m)
		_, err := move(s, p, 7)
		require.NoError(t, err)
		have := m.Bytes() - p.Left()
		require.Positive(t, have)
		p.Close()
		d.ProcessCrash()

		was, err := Staged(d.FS(), dir+"/h1", on(nil, other, dir, 0).Identity)
		require.NoError(t, err)
		require.Equal(t, m, was)

		// Another replica, at the same op.
		peer := applied(t, l, on(newDisk(t).FS(), 3, dir, 0), lives(), newerOp)
		s, same := offered(t, peer, SenderOptions{ChunkBytes: 1 << 20})
		require.Equal(t, m.ID(), same.ID())
		p = begin(t, l, d.FS(), same)
		require.Equal(t, have, same.Bytes()-p.Left(), "nothing is pulled again")
		_, err = move(s, p, 1)
		require.NoError(t, err)
		have = same.Bytes() - p.Left()
		p.Close()

		// One that has gone on.
		more := append(lives(), engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"one more"}, Timestamp: 700})
		peer = applied(t, l, on(newDisk(t).FS(), 4, dir, 0), more, newerOp+1)
		s, further := offered(t, peer, SenderOptions{ChunkBytes: 150})
		require.NotEqual(t, m.ID(), further.ID())
		p = begin(t, l, d.FS(), further)
		require.GreaterOrEqual(t, further.Bytes()-p.Left(), have)
		whole, err := move(s, p, 1<<20)
		require.NoError(t, err)
		require.True(t, whole)
		require.Equal(t, shown(t, peer), shown(t, openHome(t, l, d.FS(), p)))
	})
}
