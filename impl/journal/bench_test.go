package journal

import (
	"testing"
	"time"

	"purgelab/impl/raftlog"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// BenchmarkAppend appends entries of 100 bytes, one at a time, with a sync after
// every fourth, and compares with a bare copy of the same bytes into memory,
// measured in the same run: x-copy is how many times dearer the journal is.
func BenchmarkAppend(b *testing.B) {
	data := make([]byte, 100)
	entries := make([]raftlog.Entry, 1)
	state := raftlog.State{Term: 1}
	fresh := func() *Journal {
		j, _, err := Open(Options{FS: crashfs.New().FS(), Dir: "j", Identity: me})
		if err != nil {
			b.Fatal(err)
		}
		return j
	}
	j := fresh()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if j.Last() > 200_000 {
			j = fresh()
		}
		entries[0] = raftlog.Entry{Op: j.Last() + 1, Term: 1, Data: data}
		state.Commit = j.Last()
		if err := j.Append(&state, entries); err != nil {
			b.Fatal(err)
		}
		if i%4 == 3 {
			j.Sync()
		}
	}
	journal := b.Elapsed()
	frame := make([]byte, frameHeader+1+stateBytes+4+entryHeader+len(data))
	memory := make([]byte, 1<<20)
	begin := time.Now()
	for at := 0; at < b.N; at++ {
		copy(memory[at*len(frame)%(len(memory)-len(frame)):], frame)
	}
	if bare := time.Since(begin); bare > 0 {
		b.ReportMetric(float64(journal)/float64(bare), "x-copy")
	}
}

// BenchmarkOpen replays a journal of 20,000 entries; one iteration is one entry.
func BenchmarkOpen(b *testing.B) {
	d := crashfs.New()
	j, _, err := Open(Options{FS: d.FS(), Dir: "j", Identity: me})
	if err != nil {
		b.Fatal(err)
	}
	const n = 20_000
	for i := op.Number(2); i < n+2; i++ {
		if err := j.Append(nil, []raftlog.Entry{{Op: i, Term: 1, Data: make([]byte, 100)}}); err != nil {
			b.Fatal(err)
		}
	}
	j.Sync()
	b.ReportAllocs()
	rounds := 0
	for b.Loop() {
		if rounds++; rounds%n == 1 {
			if _, _, err := Open(Options{FS: d.FS(), Dir: "j", Identity: me}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkEntries reads 64 entries back, from the cache and from disk.
func BenchmarkEntries(b *testing.B) {
	j, _, err := Open(Options{FS: crashfs.New().FS(), Dir: "j", Identity: me})
	if err != nil {
		b.Fatal(err)
	}
	for i := op.Number(2); i < 20_002; i++ {
		if err := j.Append(nil, []raftlog.Entry{{Op: i, Term: 1, Data: make([]byte, 100)}}); err != nil {
			b.Fatal(err)
		}
	}
	for name, lo := range map[string]op.Number{"cache": 19_900, "disk": 100} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.Entries(lo, lo+64, 1<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
