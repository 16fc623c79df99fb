package meta

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// When the table is full the session goes that executed nothing for longest, be it
// young or old, on every replica alike, and after a boot as well.
func TestLeastRecentlyUsedSessionGoes(t *testing.T) {
	p := newPlane(t, 3, 1)
	var all []*caller
	for range p.cfg.Sessions {
		all = append(all, p.caller())
	}
	purge := Request{Kind: PurgePartition, Partition: 0}
	for _, i := range []int{2, 0, 1} { // the third is older than the first two
		one(t, all[i].do(purge))
	}
	for i := 3; i < len(all); i++ {
		one(t, all[i].do(purge))
	}
	for range 2 {
		p.caller()
	}
	l := p.leader()
	p.crash(l, true)
	p.boot(l)
	expired := func(i int) bool { return p.do(all[i].next(purge)).Code == op.SessionExpired }
	require.False(t, expired(1))
	require.True(t, expired(2))
	require.True(t, expired(0))
	require.False(t, expired(3))
	p.agree()
}
