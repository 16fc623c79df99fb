package replica

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// What the log of a new incarnation ends with, and nobody knew to be committed, is there,
// but the positions that it had in the one before are refused: in that one another message
// may have been acknowledged there.
func TestPositionsBeyondWhatWasAgreed(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { cfg.Policy = Policy{Messages: Replicated} })
	c.elect()
	at := func(i op.Incarnation, o op.Offset) string {
		return strings.TrimSpace(show(c.do(&op.Request{Kind: op.Poll, Strategy: op.AtOffset, At: op.Position{Incarnation: i, Offset: o}, Max: 9})))
	}
	c.append("a")
	for range 2 { // syncs the message, and then that it is committed
		require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1}}).Code)
	}
	c.append("b")
	require.NoError(t, c.replicas[0].jr.Sync())
	require.Equal(t, "ok i1:g0:1 b", at(1, 1))
	c.powerLoss()
	c.begin()
	c.elect()
	require.Equal(t, "ok i2:g0:0 a b", at(1, 0))
	require.Equal(t, "ok i2:g0:1 b", at(2, 1))
	require.Equal(t, "stale-incarnation i2:g0:-1", at(1, 1))
}
