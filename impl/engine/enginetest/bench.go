// Package enginetest is the contract of package engine as tests: what a deletion
// of records, its reclaim, a purge and a boot promise, whatever lies below. Each
// engine runs all of them on a disk in memory that loses power.
//
//	bench.go     an engine with its disk and a journal of what was applied
//	delete.go    deletions of records
//	purge.go     generations and boots
//	trust.go     messages that a boot does not read
//	transfer.go  exports and imports
package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/impl/record"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// Open opens an engine to be judged.
type Open func(engine.Options) (engine.Engine, engine.Report, error)

// dir is where the partition lies.
const dir = "p0"

// bench is an engine on a disk, with the journal that a replica would have.
type bench struct {
	*testing.T
	open    Open
	disk    *crashfs.Disk
	e       engine.Engine
	journal []engine.Effect // journal[i] is op i+2
	stored  int             // payloads made
	power   *rand.Rand
	id      record.Identity
}

func newBench(t *testing.T, open Open) *bench {
	b := &bench{T: t, open: open, disk: crashfs.New(), power: rand.New(rand.NewPCG(1, 2)), id: record.Identity{Cluster: 7, Replica: 2, Incarnation: 1}}
	fs := b.disk.FS()
	require.NoError(t, fs.Mkdir("test", dir))
	require.NoError(t, fs.SyncDir("test", "."))
	b.boot()
	return b
}

// options are small, so that a few batches fill a segment.
func (b *bench) options() engine.Options {
	return engine.Options{
		FS: b.disk.FS(), Dir: dir, Identity: b.id,
		SegmentBytes: 300, IndexEvery: 100, HighestOp: b.highest,
	}
}

func (b *bench) highest() op.Number { return op.Number(len(b.journal)) + engine.Bootstrap }

// boot opens the engine and replays the journal.
func (b *bench) boot() {
	e, _, err := b.open(b.options())
	require.NoError(b, err)
	b.e = e
	for n := e.Facts().Applied + 1; n <= b.highest(); n++ {
		require.NoError(b, e.Apply(n, b.journal[n-2]))
	}
	require.GreaterOrEqual(b, e.Facts().Applied, e.Facts().Front)
}

// crash loses the process, or the power too, and boots.
func (b *bench) crash(power bool) {
	if power {
		b.disk.PowerLoss(b.power)
	} else {
		b.disk.ProcessCrash()
	}
	b.boot()
}

func (b *bench) apply(eff engine.Effect) {
	b.journal = append(b.journal, eff)
	require.NoError(b, b.e.Apply(b.highest(), eff))
}

// append stores one batch of n messages, each of its own.
func (b *bench) append(n int) {
	eff := engine.Effect{Kind: engine.Append, Timestamp: op.Timestamp(100 + b.highest())}
	for range n {
		eff.Payloads = append(eff.Payloads, op.Payload(fmt.Sprintf("message %d", b.stored)))
		b.stored++
	}
	b.apply(eff)
}

// cut advances the start as a validated deletion does.
func (b *bench) cut(to op.Offset) {
	start, err := engine.Cut(b.e.Facts(), to)
	require.NoError(b, err)
	if start != b.e.Facts().Start {
		b.apply(engine.Effect{Kind: engine.Advance, Start: start})
	}
}

func (b *bench) at(o op.Offset) op.Position {
	f := b.e.Facts()
	return op.Position{Incarnation: f.Incarnation, Generation: f.Generation, Offset: o}
}

func (b *bench) store(k op.Key, o op.Offset) {
	b.apply(engine.Effect{Kind: engine.Store, Key: k, Position: b.at(o)})
}

// finish takes all steps of a task.
func (b *bench) finish(t engine.Task) {
	for done := false; !done; {
		var err error
		done, _, err = t.Step()
		require.NoError(b, err)
	}
}

func (b *bench) checkpoint() { b.finish(b.e.Checkpoint(nil)) }

// reclaim goes on until nothing is left, and returns how many calls it took.
func (b *bench) reclaim() int {
	for calls := 1; ; calls++ {
		require.Less(b, calls, 1000, "reclaim ends")
		r, err := b.e.Reclaim()
		require.NoError(b, err)
		if !r.More {
			return calls
		}
	}
}

// purge begins a generation at the next op, as replicas of both kinds do: that
// op has no effect of its own.
func (b *bench) purge(g op.Generation) {
	n := b.highest() + 1
	b.journal = append(b.journal, engine.Effect{})
	b.finish(b.e.Purge(n, g, nil))
	if b.e.Facts().Applied < n {
		require.NoError(b, b.e.Apply(n, engine.Effect{}))
	}
}

// holds checks start, end, and that exactly the messages between them are read:
// message i of the generation is the first'th ever made plus i.
func (b *bench) holds(start, end op.Offset, first int) {
	b.Helper()
	f := b.e.Facts()
	require.Equal(b, []op.Offset{start, end}, []op.Offset{f.Start, f.End}, "start and end")
	recs, err := b.e.Read(start, 1<<30)
	require.NoError(b, err)
	require.Len(b, recs, int(end-start))
	for i, r := range recs {
		require.EqualValues(b, fmt.Sprintf("message %d", first+int(start)+i), r.Payload)
	}
	for _, o := range []op.Offset{start - 1, end + 1} {
		_, err := b.e.Read(o, 1)
		var out *engine.RangeError
		require.ErrorAs(b, err, &out, "offset %d", o)
		require.Equal(b, engine.RangeError{From: o, Start: start, End: end}, *out)
	}
	at, _, found, err := b.e.FirstAt(0)
	require.NoError(b, err)
	if require.Equal(b, end > start, found); found {
		require.Equal(b, start, at, "the first message by time")
	}
}

// files counts the segment files on the disk.
func (b *bench) files() int { return len(b.segments()) }

// segment is the file that begins with an offset.
func (b *bench) segment(base op.Offset) string {
	for _, name := range b.segments() {
		if strings.HasSuffix(name, fmt.Sprintf("seg-%020d.log", base)) {
			return name
		}
	}
	require.Fail(b, "no such segment", "base %d", base)
	return ""
}

func (b *bench) segments() (out []string) {
	var walk func(string)
	walk = func(d string) {
		names, err := b.disk.FS().List(d)
		require.NoError(b, err)
		for _, name := range names {
			switch {
			case name[len(name)-1] == '/':
				walk(d + "/" + name[:len(name)-1])
			case len(name) > 4 && name[:4] == "seg-":
				out = append(out, d+"/"+name)
			}
		}
	}
	walk(dir)
	return out
}
