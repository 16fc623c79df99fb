package transfer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/impl/engine"
	"purgelab/impl/record"
	"purgelab/model/op"
)

// drawn is a history of drawn ops, each of which is legal where it stands.
func drawn(t *rapid.T) history {
	var h history
	var g op.Generation
	var start, end op.Offset
	key := func() op.Key {
		return op.Key{Kind: op.ConsumerKind(rapid.IntRange(0, 1).Draw(t, "kind")), ID: uint32(rapid.IntRange(1, 3).Draw(t, "id"))}
	}
	set := map[op.Key]bool{}
	for i := range rapid.IntRange(1, 60).Draw(t, "ops") {
		k := key()
		switch what := rapid.IntRange(0, 11).Draw(t, "op"); {
		case what < 6 || end == 0 && what < 10:
			eff := engine.Effect{Kind: engine.Append, Timestamp: op.Timestamp(i)}
			for j := range rapid.IntRange(1, 5).Draw(t, "count") {
				eff.Payloads = append(eff.Payloads, op.Payload(fmt.Sprintf("%d.%d", i, j)))
			}
			end += op.Offset(len(eff.Payloads))
			h = append(h, eff)
		case what < 8:
			o := op.Offset(rapid.IntRange(0, int(end)-1).Draw(t, "offset"))
			h = append(h, engine.Effect{Kind: engine.Store, Key: k, Position: op.Position{Incarnation: 1, Generation: g, Offset: o}})
			set[k] = true
		case what == 8 && set[k]:
			h = append(h, engine.Effect{Kind: engine.Delete, Key: k})
			delete(set, k)
		case what == 9:
			start = op.Offset(rapid.IntRange(int(start), int(end)).Draw(t, "start"))
			h = append(h, engine.Effect{Kind: engine.Advance, Start: start})
		case what == 10:
			g, start, end = g+op.Generation(rapid.IntRange(1, 3).Draw(t, "skip")), 0, 0
			clear(set)
			h = append(h, g)
		default:
			h = append(h, engine.Effect{})
		}
	}
	return h
}

// goOn applies the ops of a history up to last.
func goOn(t require.TestingT, e engine.Engine, h history, last op.Number) {
	for n := e.Facts().Applied + 1; n <= last; n++ {
		if g, purge := h[n-2].(op.Generation); purge {
			finish(t, e.Purge(n, g, []byte(fmt.Sprintf("sessions of op %d", n))))
			if e.Facts().Applied < n {
				require.NoError(t, e.Apply(n, engine.Effect{}))
			}
		} else {
			require.NoError(t, e.Apply(n, h[n-2].(engine.Effect)))
		}
	}
}

// TestRandomTransfers moves the state as of a drawn op of a drawn history, by chunks
// of a drawn size, to a receiver that is at another one, interrupts that, and lets
// both go on.
func TestRandomTransfers(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			moved := 0
			rapid.Check(t, func(rt *rapid.T) {
				h := drawn(rt)
				last := op.Number(len(h) + 1)
				at := op.Number(rapid.IntRange(2, int(last)).Draw(rt, "at"))
				mine := op.Number(rapid.IntRange(1, int(at)-1).Draw(rt, "mine"))
				from := applied(rt, l, on(newDisk(rt).FS(), first, dir, 0), h, at)
				want := shown(rt, from)
				s, m := offered(rt, from, SenderOptions{ChunkBytes: rapid.SampledFrom([]int{1, 100, 300, 1 << 16}).Draw(rt, "chunk")})

				d := newDisk(rt)
				old := applied(rt, l, on(d.FS(), other, dir, 0), h, mine)
				own := Own{Incarnation: 1, Committed: mine, Facts: old.Facts(), Agrees: true}
				begin := func() *Pull {
					p, err := Begin(PullOptions{Engine: on(d.FS(), other, dir+"/h1", 0), Import: l.imp}, m, own)
					require.NoError(rt, err)
					return p
				}
				p := begin()
				for range rapid.IntRange(0, 3).Draw(rt, "crashes") {
					_, err := move(s, p, rapid.IntRange(0, 6).Draw(rt, "chunks"))
					require.NoError(rt, err)
					if p.Left() == 0 && rapid.Bool().Draw(rt, "seals") {
						_, _, err = p.Step()
						require.NoError(rt, err)
					}
					if rapid.Bool().Draw(rt, "power") {
						d.PowerLoss(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)))
					} else {
						d.ProcessCrash()
					}
					p = begin()
				}
				whole, err := move(s, p, 1<<20)
				require.NoError(rt, err)
				require.True(rt, whole)
				require.NoError(rt, install(p, d.FS(), "h1"))
				d.PowerLossAs(nil)
				e, err := l.open(on(d.FS(), other, dir+"/h1", 0))
				require.NoError(rt, err)
				require.Equal(rt, want, shown(rt, e))
				goOn(rt, from, h, last)
				goOn(rt, e, h, last)
				f, g := from.Facts(), e.Facts()
				require.Equal(rt, []any{f.Applied, f.Generation, f.Boundary, f.Start, f.End}, []any{g.Applied, g.Generation, g.Boundary, g.Start, g.End})
				require.Equal(rt, append([]engine.BookmarkEntry{}, from.Bookmarks()...), append([]engine.BookmarkEntry{}, e.Bookmarks()...))
				moved++
			})
			require.Greater(t, moved, 50)
		})
	}
}

// TestBytesOfChunks: whatever the batches in a chunk look like, they are taken or
// refused, and with the right ones the state is whole in the end.
func TestBytesOfChunks(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		e := source(t, l, 0)
		want := shown(t, e)
		rapid.Check(t, func(rt *rapid.T) {
			s, m := offered(rt, e, SenderOptions{ChunkBytes: 200})
			defer s.Close()
			d := newDisk(rt)
			p, err := Begin(PullOptions{Engine: on(d.FS(), other, dir+"/h1", 0), Import: l.imp}, m, Own{Incarnation: 1})
			require.NoError(rt, err)
			for wrong := 0; p.Left() > 0; {
				require.Nil(rt, s.Request(other, p.Ask(true)))
				_, c, err := s.Next()
				require.NoError(rt, err)
				if wrong < 20 && rapid.IntRange(0, 2).Draw(rt, "good") == 0 {
					wrong++
					bad := *c.Chunk
					bad.Data = slices.Clone(bad.Data)
					for range rapid.IntRange(1, 3).Draw(rt, "changes") {
						bad.Data[rapid.IntRange(0, len(bad.Data)-1).Draw(rt, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
					}
					bad.Sum = bad.checksum()
					if _, err := p.Take(&bad); err != nil {
						why, _ := Refused(err)
						require.Equal(rt, WrongChunk, why)
					}
					continue
				}
				if _, err = p.Take(c.Chunk); err != nil {
					why, _ := Refused(err)
					require.Equal(rt, WrongChunk, why, "what came before it was wrong: %v", err)
				}
			}
			require.NoError(rt, install(p, d.FS(), "h1"))
			got, err := l.open(on(d.FS(), other, dir+"/h1", 0))
			require.NoError(rt, err)
			require.Equal(rt, want, shown(rt, got))
		})
	})
}

// TestStagedIsAHint: of a manifest that is damaged, or not ours, nothing is made.
func TestStagedIsAHint(t *testing.T) {
	l := layouts[0]
	_, m := offered(t, source(t, l, 0), SenderOptions{})
	d := newDisk(t)
	p, err := Begin(PullOptions{Engine: on(d.FS(), other, dir+"/h1", 0), Import: l.imp}, m, Own{Incarnation: 1})
	require.NoError(t, err)
	p.Close()
	id := on(nil, other, dir, 0).Identity
	staged := func(id record.Identity, home string) *Manifest {
		m, err := Staged(d.FS(), home, id)
		require.NoError(t, err)
		return m
	}
	require.Equal(t, m, staged(id, dir+"/h1"))
	require.Nil(t, staged(id, dir+"/h2"))
	stranger := id
	stranger.Replica = 9
	require.Nil(t, staged(stranger, dir+"/h1"))
	f, err := d.FS().Open(dir + "/h1/offer")
	require.NoError(t, err)
	_, err = f.WriteAt("test", []byte{0xff}, 40)
	require.NoError(t, err)
	require.Nil(t, staged(id, dir+"/h1"))
}
