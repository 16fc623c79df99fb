package transfer

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/segment"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// sound is a manifest with two pieces and two bookmarks, of generation 3.
func sound() *Manifest {
	return &Manifest{Term: 4, Point: engine.Point{
		Incarnation: 2, Generation: 3, Settled: 3, Boundary: 17, Applied: 30, Start: 5, End: 12, Timestamp: 90,
		Extra: []byte("sessions"),
		Bookmarks: []engine.BookmarkEntry{
			{Key: op.Key{ID: 1}, Position: op.Position{Incarnation: 2, Generation: 3, Offset: 4}, Op: 20},
			{Key: op.Key{Kind: op.Group, ID: 1}, Position: op.Position{Incarnation: 2, Generation: 3, Offset: 11}, Op: 30},
		},
		Pieces: []segment.Piece{{Base: 5, End: 8, Size: 300, Sum: 1}, {Base: 8, End: 12, Size: 200, Sum: 2}},
	}}
}

// TestContradictions: each change makes the sound manifest contradict itself, and the
// refusal names the two values.
func TestContradictions(t *testing.T) {
	require.NoError(t, sound().Check())
	for want, change := range map[string]func(*engine.Point){
		"incarnation: want at least 1, got 0":  func(p *engine.Point) { p.Incarnation = 0 },
		"op: want at least 1, got 0":           func(p *engine.Point) { p.Applied = 0 },
		"boundary: want at most op 30, got 31": func(p *engine.Point) { p.Boundary = 31 },
		"generation before the boundary: want below 3, got 3": func(p *engine.Point) {
			p.Boundary, p.Start, p.End, p.Pieces, p.Bookmarks, p.Previous.Generation = 31, 0, 0, nil, nil, 3
		},
		"boundary of generation 0: want 0, got 17":                            func(p *engine.Point) { p.Generation = 0 },
		"purge that is settled: want at least 3, got 2":                       func(p *engine.Point) { p.Settled = 2 },
		"start: want 0 to the end 12, got 13":                                 func(p *engine.Point) { p.Start = 13 },
		"start: want 0 to the end 12, got -1":                                 func(p *engine.Point) { p.Start = -1 },
		"time of the last message: want at least 0, got -1":                   func(p *engine.Point) { p.Timestamp = -1 },
		"pieces of no message, start 12 and end 12: want 0, got 2":            func(p *engine.Point) { p.Start = 12 },
		"pieces of messages 5 to 11: want at least 1, got 0":                  func(p *engine.Point) { p.Pieces = nil },
		"base of piece 0: want the start 5, got 6":                            func(p *engine.Point) { p.Pieces[0].Base = 6 },
		"base of piece 0: want the start 5, got 4":                            func(p *engine.Point) { p.Pieces[0].Base = 4 },
		"base of piece 1: want 8, got 9":                                      func(p *engine.Point) { p.Pieces[1].Base = 9 },
		"base of piece 1: want 8, got 7":                                      func(p *engine.Point) { p.Pieces[1].Base = 7 },
		"end of piece 0: want 6 to 12, got 5":                                 func(p *engine.Point) { p.Pieces[0].End = 5 },
		"end of piece 1: want 9 to 12, got 13":                                func(p *engine.Point) { p.Pieces[1].End = 13 },
		"end of piece 1: want 12, got 11":                                     func(p *engine.Point) { p.Pieces[1].End = 11 },
		"end of piece 0: want 12, got 8":                                      func(p *engine.Point) { p.Pieces = p.Pieces[:1] },
		"size of piece 1: want above 76, got 76":                              func(p *engine.Point) { p.Pieces[1].Size = 76 },
		"kind of bookmark consumer-1: want 0 or 1, got 7":                     func(p *engine.Point) { p.Bookmarks[0].Key.Kind = 7 },
		"order of bookmark consumer-1: want above group-1, got consumer-1":    func(p *engine.Point) { slices.Reverse(p.Bookmarks) },
		"order of bookmark consumer-1: want above consumer-1, got consumer-1": func(p *engine.Point) { p.Bookmarks[1].Key = p.Bookmarks[0].Key },
		"era of bookmark consumer-1: want i2:g3, got i2:g2":                   func(p *engine.Point) { p.Bookmarks[0].Position.Generation = 2 },
		"era of bookmark group-1: want i2:g3, got i1:g3":                      func(p *engine.Point) { p.Bookmarks[1].Position.Incarnation = 1 },
		"offset of bookmark group-1: want 0 to 11, got 12":                    func(p *engine.Point) { p.Bookmarks[1].Position.Offset = 12 },
		"offset of bookmark group-1: want 0 to 11, got -1":                    func(p *engine.Point) { p.Bookmarks[1].Position.Offset = -1 },
		"op of bookmark consumer-1: want 18 to 30, got 17":                    func(p *engine.Point) { p.Bookmarks[0].Op = 17 },
		"op of bookmark group-1: want 18 to 30, got 31":                       func(p *engine.Point) { p.Bookmarks[1].Op = 31 },
	} {
		m := sound()
		change(&m.Point)
		err := m.Check()
		require.EqualError(t, err, "transfer: refused, contradiction: "+want)
		why, ok := Refused(err)
		require.True(t, ok)
		require.Equal(t, Contradiction, why)
		// And nothing was touched for it.
		d := newDisk(t)
		d.LogCalls(true)
		_, err = Begin(PullOptions{Engine: on(d.FS(), other, dir+"/h1", 0), Import: layouts[0].imp}, m, Own{Incarnation: 2})
		require.EqualError(t, err, "transfer: refused, contradiction: "+want)
		require.Empty(t, d.Calls())
	}
	m := sound()
	m.Term = 0
	require.EqualError(t, m.Check(), "transfer: refused, contradiction: term of op 30: want at least 1, got 0")
}

// TestFresh: what a receiver has decides what it takes.
func TestFresh(t *testing.T) {
	facts := engine.Facts{Generation: 3, Boundary: 17, Applied: 25, Start: 5, End: 12}
	for _, c := range []struct {
		change func(*Own)
		want   string
	}{
		{func(o *Own) {}, ""},
		{func(o *Own) { o.Incarnation = 3 }, "older-incarnation: incarnation of the offer: want 3, got 2"},
		{func(o *Own) { o.Incarnation = 1 }, "other-incarnation: incarnation of the offer: want 1, got 2"},
		{func(o *Own) { o.Committed = 30 }, "not-above: op of the offer: want above 30, which is committed, got 30"},
		{func(o *Own) { o.Committed = 31 }, "not-above: op of the offer: want above 31, which is committed, got 30"},
		{func(o *Own) { o.Facts.Generation = 4 }, "rewinds: generation as of op 30, that of op 25 being the lowest: want 4, got 3"},
		{func(o *Own) { o.Facts.Boundary = 18 }, "rewinds: boundary of generation 3: want 18, got 17"},
		{func(o *Own) { o.Facts.Start = 6 }, "rewinds: start as of op 30: want at least 6, got 5"},
		{func(o *Own) { o.Facts.End = 13 }, "rewinds: end as of op 30: want at least 13, got 12"},
		{func(o *Own) { o.Facts.Generation, o.Facts.End = 2, 40 }, ""},
		{func(o *Own) { o.Agrees, o.Facts.End = false, 13 }, ""},
		{func(o *Own) { o.Agrees, o.Facts.Generation = false, 4 }, "rewinds: generation as of op 30, that of op 25 being the lowest: want 4, got 3"},
	} {
		own := Own{Incarnation: 2, Committed: 29, Facts: facts, Agrees: true}
		c.change(&own)
		if err := own.Fresh(sound()); c.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, "transfer: refused, "+c.want)
		}
	}
}

// TestStanding: who must make no offer, and who may.
func TestStanding(t *testing.T) {
	for _, c := range []struct {
		standing Standing
		want     string
	}{
		{Standing{Suspect: true, Serving: true, Applied: 34}, "suspect: standing of the sender: want a member that remembers, got a suspect"},
		{Standing{Applied: 34}, "recovering: standing of the sender: want serving, got in recovery"},
		{Standing{Serving: true, Applied: 34, Must: 35}, "behind: op that the sender has applied: want 35, got 34"},
	} {
		require.EqualError(t, c.standing.Check(), "transfer: refused, "+c.want)
	}
	require.NoError(t, Standing{Serving: true, Applied: 34, Must: 34}.Check())
	empty, err := layouts[0].open(on(newDisk(t).FS(), first, dir, 0))
	require.NoError(t, err)
	_, err = NewSender(SenderOptions{}).Offer(other, empty, termOf)
	require.ErrorIs(t, err, engine.ErrNoPoint, "a replica that holds nothing")
}

// TestLeftOfTooMuch: sizes that nobody can add up are not taken for nothing missing.
func TestLeftOfTooMuch(t *testing.T) {
	m := sound()
	m.Point.Pieces[0].Size, m.Point.Pieces[1].Size = 1<<62, 1<<62
	o := on(newDisk(t).FS(), other, dir+"/h1", 0)
	o.Identity.Incarnation = 2
	p, err := Begin(PullOptions{Engine: o, Import: layouts[0].imp}, m, Own{Incarnation: 2})
	require.NoError(t, err)
	require.Positive(t, p.Left())
	_, _, err = p.Step()
	require.ErrorIs(t, err, ErrMissing)
}

// pulling is a pull of which some chunks have come, with the next one.
func pulling(t *testing.T, l layout, limit int) (*crashfs.Disk, *Sender, *Pull, *Chunk) {
	s, m := offered(t, source(t, l, 0), SenderOptions{ChunkBytes: 150})
	d := newDisk(t)
	p, err := Begin(PullOptions{Engine: on(d.FS(), other, dir+"/h1", 0), Import: l.imp}, m, Own{Incarnation: 1})
	require.NoError(t, err)
	whole, err := move(s, p, limit)
	require.NoError(t, err)
	require.False(t, whole)
	require.Nil(t, s.Request(other, p.Ask(true)))
	_, c, err := s.Next()
	require.NoError(t, err)
	return d, s, p, c.Chunk
}

// TestChunks: what is wrong with a chunk is refused, and the right one still counts.
func TestChunks(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		for name, c := range map[string]struct {
			change func(*Chunk)
			want   Reason
			seal   bool // with a right checksum
			says   string
		}{
			"of another offer":          {func(c *Chunk) { c.Offer++ }, AnotherOffer, true, "offer of the chunk"},
			"a byte was changed":        {func(c *Chunk) { c.Data[60] ^= 1 }, WrongChecksum, false, "checksum of the chunk"},
			"its place was changed":     {func(c *Chunk) { c.At += 8 }, WrongChecksum, false, "checksum of the chunk"},
			"no byte":                   {func(c *Chunk) { c.Data = nil }, WrongChunk, true, "want at least 1, got 0"},
			"half a batch":              {func(c *Chunk) { c.Data = c.Data[:len(c.Data)-1] }, WrongChunk, true, "length of a batch"},
			"not a batch":               {func(c *Chunk) { c.Data[0]++ }, WrongChunk, true, "magic of a batch"},
			"a batch with its checksum": {func(c *Chunk) { c.Data[8] = 1 }, WrongChunk, true, "checksum of a batch"},
			"no message":                {func(c *Chunk) { c.Data[12] = 0 }, WrongChunk, true, "batch bytes after payloads"},
			"an op that is over":        {func(c *Chunk) { c.Data[16] = 2 }, WrongChunk, true, "batch op"},
			"an op beyond the offer's":  {func(c *Chunk) { c.Data[17] = 2 }, WrongChunk, true, "batch op"},
			"another offset":            {func(c *Chunk) { c.Data[24]++ }, WrongChunk, true, "batch base"},
			"a time that is over":       {func(c *Chunk) { c.Data[32] = 1 }, WrongChunk, true, "batch timestamp"},
			"a time beyond the offer's": {func(c *Chunk) { c.Data[35] = 1 }, WrongChunk, true, "batch timestamp"},
			"one message more": {func(c *Chunk) {
				c.Data[12], c.Data[40], c.Data[47] = 3, 3, 3
				copy(c.Data[48:], "\x00\x00\x00") // the first, of 10 bytes, is two of 3
			}, WrongChunk, true, "batch end"},
			"longer than its piece": {func(c *Chunk) { c.Data = slices.Repeat(c.Data, 9) }, WrongChunk, true, ""},
		} {
			t.Run(name, func(t *testing.T) {
				d, s, p, good := pulling(t, l, 3)
				bad := *good
				bad.Data = slices.Clone(good.Data)
				if c.change(&bad); c.seal {
					bad.Sum = bad.checksum()
				}
				left := p.Left()
				d.LogCalls(true)
				stored, err := p.Take(&bad)
				why, _ := Refused(err)
				require.Equal(t, c.want, why, "%v", err)
				if c.says != "" {
					require.ErrorContains(t, err, c.says)
				}
				require.False(t, stored)
				require.Empty(t, d.Calls())
				require.Equal(t, left, p.Left())
				stored, err = p.Take(good)
				require.NoError(t, err)
				require.True(t, stored)
				stored, err = p.Take(good)
				require.NoError(t, err)
				require.False(t, stored, "a repeat is passed over")
				whole, err := move(s, p, 1<<20)
				require.NoError(t, err)
				require.True(t, whole)
			})
		}
	})
}

// TestPieceThatTurnsOutWrong: a payload was changed, and the chunk sealed again. That
// shows when the piece is whole, which is then pulled again.
func TestPieceThatTurnsOutWrong(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		_, s, p, c := pulling(t, l, 3)
		good := p.Left()
		bad := *c
		bad.Data = slices.Clone(c.Data)
		bad.Data[len(bad.Data)-1] ^= 1
		bad.Sum = bad.checksum()
		_, err := p.Take(&bad)
		if err == nil {
			_, err = move(s, p, 1<<20)
		}
		why, _ := Refused(err)
		require.Equal(t, WrongChunk, why, "%v", err)
		require.ErrorContains(t, err, "checksum of piece")
		require.GreaterOrEqual(t, p.Left(), good, "of the piece nothing is kept")
		whole, err := move(s, p, 1<<20)
		require.NoError(t, err)
		require.True(t, whole)
	})
}

// TestChunkThatMakesTheRestWrong: an op was raised, and the chunk sealed again. It
// fits, and what comes after it does not: so the piece is pulled again.
func TestChunkThatMakesTheRestWrong(t *testing.T) {
	each(t, func(t *testing.T, l layout) {
		_, s, p, c := pulling(t, l, 2)
		bad := *c
		bad.Data = slices.Clone(c.Data)
		last := 40 + int(bad.Data[4]) // the batch after the first
		bad.Data[last+16] = newerOp
		bad.Sum = bad.checksum()
		stored, err := p.Take(&bad)
		require.NoError(t, err)
		require.True(t, stored)
		for tries := 1; ; tries++ {
			_, err := move(s, p, 1<<20)
			if err == nil {
				require.Greater(t, tries, 1)
				return
			}
			why, _ := Refused(err)
			require.Equal(t, WrongChunk, why)
			require.Less(t, tries, 5)
		}
	})
}

// TestManifests: whatever bytes come as a manifest, there is a refusal or a pull, and
// never a panic; equal manifests have equal bytes.
func TestManifests(t *testing.T) {
	encoded := sound().Encode()
	rapid.Check(t, func(rt *rapid.T) {
		b := slices.Clone(encoded)
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			at := rapid.IntRange(0, len(b)-1).Draw(rt, "at")
			switch rapid.IntRange(0, 2).Draw(rt, "how") {
			case 0:
				b[at] = rapid.Byte().Draw(rt, "byte")
			case 1:
				b = slices.Insert(b, at, rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(rt, "bytes")...)
			case 2:
				b = b[:max(1, at)]
			}
		}
		m, err := DecodeManifest("message", b)
		if err != nil {
			require.ErrorIs(rt, err, corrupt.ErrCorrupt)
			return
		}
		again, err := DecodeManifest("message", m.Encode())
		require.NoError(rt, err)
		require.Equal(rt, m.ID(), again.ID())
		d := newDisk(rt)
		o := on(d.FS(), other, dir+"/h1", 0)
		o.Identity.Incarnation = 2
		p, err := Begin(PullOptions{Engine: o, Import: layouts[0].imp}, m, Own{Incarnation: 2, Committed: 29})
		if err != nil {
			_, refused := Refused(err)
			require.True(rt, refused, "%v", err)
			return
		}
		p.Ask(false)
		_, err = p.Take(&Chunk{Offer: m.ID()})
		require.Error(rt, err)
	})
	b := sound().Encode()
	require.Equal(t, encoded, b)
	m, err := DecodeManifest("message", b)
	require.NoError(t, err)
	require.Equal(t, sound(), m)
}

// TestTooLarge: up to the bound a manifest takes no more bytes than are counted for it, of
// the largest numbers; above it it is refused, at both ends, with the two numbers.
func TestTooLarge(t *testing.T) {
	full := func(pieces, bookmarks, extra int) *Manifest {
		m := sound()
		p := &m.Point
		p.Pieces, p.Bookmarks, p.Extra, p.Start, p.Applied = nil, nil, make([]byte, extra), 1<<40, 1<<50
		p.Boundary = 1
		at := p.Start
		for range pieces {
			p.Pieces = append(p.Pieces, segment.Piece{Base: at, End: at + 1<<20, Size: 1 << 33, Sum: math.MaxUint32})
			at += 1 << 20
		}
		p.End = at
		for i := range bookmarks {
			p.Bookmarks = append(p.Bookmarks, engine.BookmarkEntry{Key: op.Key{ID: math.MaxUint32 - uint32(bookmarks) + uint32(i)},
				Position: op.Position{Incarnation: 2, Generation: 3, Offset: p.End - 1}, Op: p.Applied})
		}
		return m
	}
	for _, c := range []struct{ pieces, bookmarks, extra int }{
		{MaxManifest / pieceBytes, 0, 0}, {1, (MaxManifest - pieceBytes) / bookmarkBytes, 0}, {1, 1, MaxManifest - pieceBytes - bookmarkBytes},
	} {
		m := full(c.pieces, c.bookmarks, c.extra)
		require.NoError(t, m.Check())
		require.LessOrEqual(t, len(m.Encode()), MaxManifest+200, "%+v", c)
		m = full(c.pieces, c.bookmarks, c.extra)
		m.Point.Extra = append(m.Point.Extra, make([]byte, pieceBytes)...)
		for _, err := range []error{m.Check(), (&Message{Offer: m, ID: m.ID()}).CheckOffer()} {
			why, ok := Refused(err)
			require.True(t, ok)
			require.Equal(t, TooLarge, why)
		}
		require.ErrorContains(t, m.Check(), "transfer: refused, too-large: bytes of the manifest: want at most 4194304, got 41943")
	}
	e := source(t, layouts[0], 0)
	finish(t, e.Checkpoint(make([]byte, MaxManifest)))
	_, err := NewSender(SenderOptions{}).Offer(other, e, termOf)
	why, _ := Refused(err)
	require.Equal(t, TooLarge, why)
}
