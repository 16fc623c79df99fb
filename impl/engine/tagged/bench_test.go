package tagged

import (
	"fmt"
	"testing"

	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

func benchOpen(b *testing.B, d *crashfs.Disk) *Engine {
	e, _, err := Open(Options{FS: d.FS(), Dir: "p0", Identity: me})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// effect is op n of a workload of appends, stores and advances.
func effect(e *Engine, n op.Number) Effect {
	f := e.Facts()
	switch n % 8 {
	case 5, 6:
		return Effect{Kind: Store, Key: key(int(n % 13)), Position: op.Position{Incarnation: 1, Offset: f.End - 1}}
	case 7:
		return Effect{Kind: Advance, Start: max(f.Start, f.End-500)}
	}
	return Effect{Kind: Append, Payloads: []op.Payload{"a payload of about forty bytes, as clients"}, Timestamp: op.Timestamp(n)}
}

// BenchmarkApply materializes ops, with a checkpoint and a reclaim every 1000.
func BenchmarkApply(b *testing.B) {
	e := benchOpen(b, crashfs.New())
	b.ReportAllocs()
	for b.Loop() {
		n := e.Facts().Applied + 1
		if err := e.Apply(n, effect(e, n)); err != nil {
			b.Fatal(err)
		}
		if n%1000 == 0 {
			t := e.Checkpoint(nil)
			for done := false; !done; {
				var err error
				if done, _, err = t.Step(); err != nil {
					b.Fatal(err)
				}
			}
			for more := true; more; {
				more, _, _ = reclaim(e)
			}
		}
	}
}

// BenchmarkRecovery opens an engine and replays every op that it holds above its
// checkpoint; one iteration is one op. All of the ops are on the disk, or none.
func BenchmarkRecovery(b *testing.B) {
	const ops = 10_000
	for _, kept := range []bool{true, false} {
		b.Run(fmt.Sprintf("kept=%v", kept), func(b *testing.B) {
			fill := func(d *crashfs.Disk) *Engine {
				e := benchOpen(b, d)
				for e.Facts().Applied < ops {
					n := e.Facts().Applied + 1
					if err := e.Apply(n, effect(e, n)); err != nil {
						b.Fatal(err)
					}
				}
				return e
			}
			d := crashfs.New()
			fill(d)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%ops == 0 {
					if d.ProcessCrash(); !kept {
						d = crashfs.New()
					}
					fill(d)
				}
			}
		})
	}
}

// BenchmarkRead reads 10 records from the middle of the log.
func BenchmarkRead(b *testing.B) {
	e := benchOpen(b, crashfs.New())
	for n := op.Number(2); n < 20_000; n++ {
		if err := e.Apply(n, Effect{Kind: Append, Payloads: []op.Payload{"a payload of about forty bytes, as clients"}, Timestamp: op.Timestamp(n)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := e.Read(op.Offset(i%19_000), 10); err != nil {
			b.Fatal(err)
		}
	}
}
