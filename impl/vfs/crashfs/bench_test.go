package crashfs

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkWriteSync is the journal's pattern: four small appends and a sync.
// One iteration is one write.
func BenchmarkWriteSync(b *testing.B) {
	d := New()
	p := make([]byte, 200)
	f, err := d.FS().Create("t", "a")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	off := int64(0)
	for i := 0; b.Loop(); i++ {
		if off >= 4<<20 {
			if f, err = d.FS().Create("t", "a"); err != nil {
				b.Fatal(err)
			}
			f.Sync("t")
			off = 0
		}
		f.WriteAt("t", p, off)
		off += int64(len(p))
		if i%4 == 3 {
			f.Sync("t")
		}
	}
}

// BenchmarkRecordPattern is create, write, sync, rename, sync directory.
func BenchmarkRecordPattern(b *testing.B) {
	fs := New().FS()
	p := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		f, err := fs.Create("t", "m.tmp")
		if err != nil {
			b.Fatal(err)
		}
		f.WriteAt("t", p, 0)
		f.Sync("t")
		fs.Rename("t", "m.tmp", "m")
		fs.SyncDir("t", ".")
	}
}

// BenchmarkPowerLoss loses power with 1000 unsynced writes in each of 20 files.
func BenchmarkPowerLoss(b *testing.B) {
	p := make([]byte, 200)
	r := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		d := New()
		for i := range 20 {
			f, err := d.FS().Create("t", string(rune('a'+i)))
			if err != nil {
				b.Fatal(err)
			}
			for k := range int64(1000) {
				f.WriteAt("t", p, 200*k)
			}
		}
		d.PowerLoss(r)
	}
}

// TestMemory: a disk takes at most about twice the bytes of its files, synced or
// not.
func TestMemory(t *testing.T) {
	for _, sync := range []bool{true, false} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		d := New()
		fs := d.FS()
		p := make([]byte, 200)
		total := 0
		for i := range 16 {
			f, err := fs.Create("t", string(rune('a'+i)))
			if err != nil {
				t.Fatal(err)
			}
			for off := int64(0); off < 1<<20; off += int64(len(p)) {
				f.WriteAt("t", p, off)
				if total += len(p); sync && off%5 == 0 {
					f.Sync("t")
				}
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if ratio := float64(after.HeapAlloc-before.HeapAlloc) / float64(total); ratio > 2 {
			t.Errorf("sync %v: memory is %.2f times the files", sync, ratio)
		} else {
			t.Logf("sync %v: memory is %.2f times the files", sync, ratio)
		}
		runtime.KeepAlive(d)
	}
}
