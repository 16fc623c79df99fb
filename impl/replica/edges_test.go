package replica

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// Leaders' clocks differ: a later leader's may lie behind.
func TestTimestampsNeverFall(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.elect()
	c.now = 5000
	require.EqualValues(t, 5000, c.append("a").Timestamp)
	c.now = 3000
	require.EqualValues(t, 5000, c.append("b").Timestamp)
	require.Equal(t, "ok i1:g1:0", show(c.purge(1)))
	require.EqualValues(t, 5000, c.append("c").Timestamp, "nor across a purge")
}

// The session whose last execution is the oldest goes.
func TestSessionTableEvictsTheLeastRecentlyUsed(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.elect()
	var ids []op.Session
	for range 4 {
		ids = append(ids, c.do(&op.Request{Kind: op.Register}).Session)
	}
	use := func(i int, n op.Sequence) op.Code {
		return c.do(&op.Request{Kind: op.Append, Payloads: []op.Payload{"x"}, Session: ids[i], Sequence: n}).Code
	}
	require.Equal(t, op.OK, use(0, 1))
	ids = append(ids, c.do(&op.Request{Kind: op.Register}).Session)
	require.Equal(t, op.SessionExpired, use(1, 1), "the second was used least recently")
	for _, i := range []int{0, 2, 3, 4} {
		require.Equal(t, op.OK, use(i, 2), "session %d", i)
	}
}

// A disk that shows the effect of an op which its journal does not hold has
// forgotten what it acknowledged: it must not vote or serve.
func TestForgottenJournalIsRefused(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.elect()
	c.append("a")
	c.purge(1)
	c.crash(1, false)
	fs := c.disks[0].FS()
	names, err := fs.List("p0/journal")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, n := range names {
		require.NoError(t, fs.Remove("test", "p0/journal/"+strings.TrimSuffix(n, "/")))
	}
	var forgotten *ForgottenError
	require.ErrorAs(t, c.boot(1), &forgotten)
	require.Greater(t, forgotten.Front, forgotten.Last)
}

// A leader that is deposed while its purge is outstanding, and leads again later
// without a restart, proposes it again: the first proposal was dropped.
func TestDroppedPurgeIsProposedAgain(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	old := c.leader()
	c.append("a")
	c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	require.NotZero(t, c.replicas[old-1].proposed)

	// The others elect one of them; nothing of the old leader reaches them.
	others := func() {
		for range 3000 {
			for id := range c.replicas {
				if id+1 != old {
					c.step(id+1, Input{Tick: true})
					c.step(id+1, Input{Work: true})
				}
			}
			inbox := c.inbox
			c.inbox = nil
			for i := range inbox {
				if inbox[i].To != old && inbox[i].From != old {
					c.step(inbox[i].To, Input{Message: &inbox[i]})
				}
			}
			for id, r := range c.replicas {
				if id+1 != old && r.leading && r.readyToLead() {
					return
				}
			}
		}
		t.Fatal("no second leader")
	}
	others()
	require.True(t, c.replicas[old-1].leading, "it has not heard of the other one")

	// It follows, and the leaders after it crash until it leads again. Only it
	// knows of the intent.
	for range 60 {
		for id := range c.replicas {
			c.step(id+1, Input{Tick: true})
		}
		c.settle()
	}
	require.False(t, c.replicas[old-1].leading)
	require.Zero(t, c.replicas[old-1].eng.Facts().Settled)
	for range 40 {
		c.elect()
		l := c.leader()
		if l == old {
			break
		}
		c.crash(l, false)
		c.elect()
		require.NoError(t, c.boot(l))
	}
	require.Equal(t, old, c.leader())
	c.settle()
	require.EqualValues(t, 1, c.replicas[old-1].eng.Facts().Generation)
}

// A round of reads whose answer never comes is asked again, with a context of
// its own.
func TestLostReadsAreAskedAgain(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	c.append("a")
	l := c.leader()
	r := c.replicas[l-1]
	token := c.ask(&op.Request{Kind: op.ListOffsets, Which: op.LatestOffset})
	c.step(l, Input{Work: true})
	require.Len(t, r.reads.rounds, 1)
	asked := r.reads.rounds[0].ctx
	r.reads.rounds[0].ctx = 1 // nobody answers this one
	c.settle()
	require.NotContains(t, c.answers, token)
	for range readRetryTicks {
		c.step(l, Input{Tick: true})
	}
	c.settle()
	require.EqualValues(t, 1, c.answers[token].Position.Offset)
	require.Greater(t, r.reads.base+r.reads.round, asked)
}
