package replica

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"purgelab/impl/transfer"
)

// TestTooLargeIsTold: that a state is too large to be offered is a warning, once until it
// is offered again. Other refusals pass.
func TestTooLargeIsTold(t *testing.T) {
	c := newClusterOf(t, 3, moving)
	c.elect()
	c.history(5, 0)
	r := c.replicas[c.leader()-1]
	var out bytes.Buffer
	r.log = hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Warn})
	told := func(reason transfer.Reason) int {
		require.NoError(t, r.notOffered(&transfer.Refusal{Reason: reason, What: "bytes of the manifest", Want: 1, Got: 2}))
		return strings.Count(out.String(), "transfer not offered")
	}
	require.Equal(t, 0, told(transfer.Behind))
	require.Equal(t, 1, told(transfer.TooLarge))
	require.Equal(t, 1, told(transfer.TooLarge))
	require.Contains(t, out.String(), "bytes of the manifest: want 1, got 2")

	id := c.leader()%3 + 1
	c.crash(id, false)
	c.history(30, 0)
	require.NoError(t, c.boot(id))
	c.reach("it has what the others have", c.whole)
	require.Positive(t, c.count(c.leader(), "OfferTransfer", ""))
	require.Equal(t, 2, told(transfer.TooLarge))
}
