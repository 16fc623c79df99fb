package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/model/op"
)

// Run judges an engine by the whole contract.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*bench)
	}{
		{"deleting everything keeps the end", deleteEverything},
		{"earliest is the start", earliestIsStart},
		{"half of a batch survives", halfBatch},
		{"an acknowledged start is durable", startIsDurable},
		{"a start advances without the disk", startIsANumber},
		{"a crash before the reclaim leaves it to be done", reclaimAfterCrash},
		{"reclaim is bounded", reclaimIsBounded},
		{"nothing goes before the start is durable", reclaimWaits},
		{"bookmarks stay where they are", bookmarksStay},
		{"a purge begins empty", purgeBeginsEmpty},
		{"a crash inside a purge leaves one generation", purgeCrashes},
		{"a crash anywhere is replayed", crashes},
		{"a boot takes messages on trust", bootTakesOnTrust},
		{"damage taken on trust is found", trustedAndDamaged},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(newBench(t, open)) })
	}
}

func deleteEverything(b *bench) {
	b.append(5)
	b.cut(-1)
	b.holds(5, 5, 0)
	b.checkpoint()
	b.reclaim()
	b.holds(5, 5, 0)
	b.crash(true)
	b.holds(5, 5, 0)
	b.append(1)
	b.holds(5, 6, 0)
	b.crash(true)
	b.holds(5, 6, 0)
}

func earliestIsStart(b *bench) {
	b.append(5)
	b.append(5)
	b.cut(7)
	b.holds(7, 10, 0) // a read below is refused, nothing having been reclaimed
	b.checkpoint()
	b.reclaim()
	b.holds(7, 10, 0)
	b.cut(-1)
	b.holds(10, 10, 0)
	b.crash(false)
	b.holds(10, 10, 0)
}

func halfBatch(b *bench) {
	b.append(3)
	b.append(3)
	b.cut(4)
	b.checkpoint()
	b.reclaim()
	b.holds(4, 6, 0)
	b.crash(true)
	b.holds(4, 6, 0)
}

func startIsDurable(b *bench) {
	b.append(6)
	b.cut(3)
	b.crash(true) // by the journal
	b.holds(3, 6, 0)
	b.checkpoint()
	b.crash(true) // by the checkpoint
	b.holds(3, 6, 0)
	f := b.e.Facts()
	_, err := engine.Cut(f, 7)
	var out *engine.RangeError
	require.ErrorAs(b, err, &out)
	for _, below := range []op.Offset{0, 2, 3} {
		start, err := engine.Cut(f, below)
		require.NoError(b, err)
		require.EqualValues(b, 3, start, "never down")
	}
}

func startIsANumber(b *bench) {
	for range 40 {
		b.append(3)
	}
	b.disk.LogCalls(true)
	b.cut(-1)
	require.Empty(b, b.disk.Calls())
	b.disk.LogCalls(false)
}

func reclaimAfterCrash(b *bench) {
	for range 12 {
		b.append(3)
	}
	before := b.files()
	b.cut(30)
	b.checkpoint()
	b.crash(false)
	b.cut(30) // again: nothing
	b.holds(30, 36, 0)
	b.reclaim()
	require.Less(b, b.files(), before)
	b.holds(30, 36, 0)
}

func reclaimIsBounded(b *bench) {
	for range 40 {
		b.append(3)
	}
	require.Greater(b, b.files(), 5)
	b.cut(-1)
	b.checkpoint()
	b.disk.LogCalls(true)
	for more, seen := true, 0; more; {
		r, err := b.e.Reclaim()
		require.NoError(b, err)
		require.LessOrEqual(b, len(b.disk.Calls())-seen, 1, "one thing a call")
		b.append(1) // appends go on in between
		seen, more = len(b.disk.Calls()), r.More
	}
	end := op.Offset(b.stored)
	b.holds(120, end, 0)
	b.cut(-1)
	b.checkpoint()
	b.reclaim()
	require.LessOrEqual(b, b.files(), 1)
	b.append(2)
	b.crash(true)
	b.holds(end, end+2, 0)
}

func reclaimWaits(b *bench) {
	for range 12 {
		b.append(3)
	}
	b.checkpoint()
	b.cut(-1)
	before := b.files()
	b.reclaim()
	require.Equal(b, before, b.files())
	// Without the journal the deletion has not happened.
	b.disk.ProcessCrash()
	e, _, err := b.open(b.options())
	require.NoError(b, err)
	b.e = e
	b.holds(0, 36, 0)
}

func bookmarksStay(b *bench) {
	b.append(6)
	b.store(consumer, 1)
	b.store(group, 4)
	b.cut(2)
	b.checkpoint()
	b.reclaim()
	for _, power := range []bool{false, true} {
		p, ok := b.e.Bookmark(consumer)
		require.True(b, ok)
		require.Equal(b, b.at(1), p)
		p, ok = b.e.Bookmark(group)
		require.True(b, ok)
		require.Equal(b, b.at(4), p)
		b.crash(power)
	}
}
