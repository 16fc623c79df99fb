package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/model/op"
)

// TestTransfer: a replica that was down while the others dropped what it needs gets
// their state in chunks, on real files, and goes on from there, also after it was
// killed.
func TestTransfer(t *testing.T) {
	o := options(t)
	o.Replica.Compact = replica.Compaction{Ops: 20}
	o.Replica.Transfer = replica.TransferOptions{ChunkBytes: 1 << 10, Window: 4, Budget: 8 << 10}
	p := partition(t, o, 3)
	put(t, p, "purged")
	id := p.Leader()%3 + 1
	p.Kill(id)
	require.Equal(t, op.OK, ask(t, p, &op.Request{Kind: op.Purge, Intent: 3}).Code)
	var want []string
	for n := range 150 {
		s := fmt.Sprintf("%d-%0300d", n, n)
		put(t, p, s)
		want = append(want, s)
	}
	upToDate := func() bool {
		lead := p.Leader()
		if lead == 0 {
			return false
		}
		l, err := p.Replica(lead).View()
		require.NoError(t, err)
		v, err := p.Replica(id).View()
		require.NoError(t, err)
		return v.Facts.Applied == l.Facts.Applied && l.Facts.Applied == l.Last
	}
	require.NoError(t, p.Start(id))
	require.Eventually(t, upToDate, 20*time.Second, 5*time.Millisecond)
	v, err := p.Replica(id).View()
	require.NoError(t, err)
	require.Equal(t, "h1", v.Home)
	require.EqualValues(t, 3, v.Facts.Generation)
	p.Kill(id)
	put(t, p, "after it")
	require.NoError(t, p.Start(id))
	require.Eventually(t, upToDate, 20*time.Second, 5*time.Millisecond)
	require.True(t, p.Replica(id).look(func(r *replica.Replica) {
		records, err := r.Records(0, 1000)
		require.NoError(t, err)
		require.Len(t, records, 151)
		for i, w := range append(want, "after it") {
			require.Equal(t, w, string(records[i].Payload))
		}
	}))
}
