package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// tell gives all replicas the intents of a metadata plane.
func (c *cluster) tell(intents ...Intent) {
	for _, id := range c.cfg.Members {
		c.step(id, Input{Intents: intents})
	}
}

// purges lists the generations of the purges that were committed, in order.
func (c *cluster) purges() []op.Generation {
	var out []op.Generation
	for _, e := range c.events {
		if e.Action == "Commit" && e.Kind == "purge" && e.Replica == 1 {
			out = append(out, e.Generation)
		}
	}
	return out
}

func wrong() *op.Position { return &op.Position{Incarnation: 1, Generation: 9, Offset: 9} }

// A conditional intent that is known before a lower unconditional one waits for
// it: found wrong, it would settle both.
func TestUnconditionalIntentBelowAConditionalOneIsNotLost(t *testing.T) {
	for _, plane := range []bool{true, false} {
		c := newCluster(t, 1, 0)
		c.cfg.Plane = plane
		require.NoError(t, c.boot(1))
		c.elect()
		c.append("a")
		five := c.ask(&op.Request{Kind: op.Purge, Intent: 5, Expected: wrong()})
		c.settle()
		_, answered := c.answers[five]
		require.Equal(t, !plane, answered)
		c.tell(Intent{Generation: 5, Previous: 4, Expected: wrong()})
		c.settle()
		four := c.ask(&op.Request{Kind: op.Purge, Intent: 4})
		c.settle()
		if !plane {
			require.Equal(t, op.Mismatch, c.answers[four].Code, "without a plane nobody can know that one is missing")
			continue
		}
		require.Equal(t, "ok i1:g4:0", show(c.answers[four]))
		require.Equal(t, op.Mismatch, c.answers[five].Code)
		require.Equal(t, []op.Generation{4, 5}, c.purges())
		require.Equal(t, "ok i1:g4:0", c.first())
	}
}

// The same when a leader learns of the lower one from the plane alone.
func TestConditionalIntentWaitsForTheOneBefore(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	c.tell(Intent{Generation: 7, Previous: 6, Expected: wrong()})
	c.settle()
	require.Empty(t, c.purges())
	c.tell(Intent{Generation: 6, Previous: 2})
	c.settle()
	require.Equal(t, []op.Generation{6, 7}, c.purges())
	require.EqualValues(t, 7, c.replicas[0].View().Facts.Settled)
	require.EqualValues(t, 6, c.replicas[0].View().Facts.Generation)
}

func TestHighestUnconditionalIntentSettlesAll(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	c.tell(Intent{Generation: 1}, Intent{Generation: 2, Previous: 1}, Intent{Generation: 4, Previous: 2})
	c.settle()
	require.Equal(t, []op.Generation{4}, c.purges())
	for g := op.Generation(1); g <= 4; g++ {
		require.Equal(t, op.Reply{Position: op.Position{Incarnation: 1, Generation: g}}, c.purge(g))
	}
	c.tell(Intent{Generation: 3}, Intent{Generation: 4})
	for range 50 {
		c.now += 10
		c.step(c.leader(), Input{Tick: true})
		c.settle()
	}
	require.Equal(t, []op.Generation{4}, c.purges(), "nothing is proposed for what is settled")
}

// One purge at a time, however often intents are told and clients ask.
func TestOnePurgeIsOutstanding(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	lead := c.leader()
	for g := op.Generation(1); g <= 6; g++ {
		c.tell(Intent{Generation: g, Previous: g - 1, Expected: &op.Position{Incarnation: 1, Generation: g - 1}})
		c.ask(&op.Request{Kind: op.Purge, Intent: g, Expected: &op.Position{Incarnation: 1, Generation: g - 1}})
		for range 3 {
			c.step(lead, Input{Tick: true})
		}
		require.LessOrEqual(t, int(c.replicas[lead-1].jr.Last()), 3, "one proposal in the log")
	}
	c.settle()
	require.Equal(t, []op.Generation{1, 2, 3, 4, 5, 6}, c.purges())
}

// Leaders come and go between any two steps: the intent is settled all the same,
// and no leader proposes it twice.
func TestReconcilerSurvivesLeaderChanges(t *testing.T) {
	for cut := 0; cut < 12; cut++ {
		c := newCluster(t, 3, 0)
		c.elect()
		c.append("a")
		lead := c.leader()
		c.tell(Intent{Generation: 3, Previous: 1})
		for range cut {
			c.step(lead, Input{Work: true})
			inbox := c.inbox
			c.inbox = nil
			for i := range inbox {
				c.step(inbox[i].To, Input{Message: &inbox[i]})
			}
		}
		c.crash(lead, cut%2 == 0)
		c.inbox = nil // what was on the way is lost
		require.NoError(t, c.boot(lead))
		c.elect()
		c.tell(Intent{Generation: 3, Previous: 1}) // to the replica that forgot it
		c.settle()
		c.append("b")
		require.Equal(t, "ok i1:g3:0 b", c.first(), "after %d steps", cut)
		for _, r := range c.replicas {
			require.EqualValues(t, 3, r.View().Facts.Generation)
			require.Empty(t, r.intents)
		}
		require.LessOrEqual(t, proposals(c.events), 2, "one of each leader")
	}
}

func proposals(events []observe.Event) int {
	seen := map[op.Number]bool{}
	for _, e := range events {
		if e.Action == "Commit" && e.Kind == "purge" {
			seen[e.Op] = true
		}
	}
	return len(seen)
}

// Held or not, what comes while a purge is outstanding is executed after it, in
// order; held, it is not in the log before the purge is complete.
func TestHoldOfAdmission(t *testing.T) {
	for _, hold := range []bool{true, false} {
		c := newCluster(t, 1, 0)
		c.cfg.Hold = hold
		require.NoError(t, c.boot(1))
		c.elect()
		c.append("a")
		purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
		key := op.Key{ID: 1}
		tokens := []uint64{
			c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"b"}}),
			c.ask(&op.Request{Kind: op.StoreBookmark, Key: key, Bare: true}),
			c.ask(&op.Request{Kind: op.DeleteBookmark, Key: key}),
			c.ask(&op.Request{Kind: op.Poll, Strategy: op.First, Max: 1, AutoCommit: true, Key: key}),
		}
		last := c.replicas[0].jr.Last()
		c.step(1, Input{Work: true}) // writes what was proposed
		if hold {
			require.Equal(t, last+1, c.replicas[0].jr.Last(), "the purge alone")
			require.Len(t, c.replicas[0].held, 4)
		} else {
			require.Equal(t, last+5, c.replicas[0].jr.Last())
		}
		register := c.ask(&op.Request{Kind: op.Register})
		c.settle()
		require.NotZero(t, c.answers[register].Session, "what a purge does not touch is not held")
		require.Equal(t, "ok i1:g1:0", show(c.answers[purge]))
		require.Equal(t, "ok i1:g1:0", show(c.answers[tokens[0]]))
		require.Equal(t, "ok i1:g1:0 b", c.first(), "ops after the purge in the log")
		for _, token := range tokens[1:3] {
			require.Equal(t, op.OK, c.answers[token].Code)
		}
		require.Equal(t, "ok i1:g1:0 b", show(c.answers[tokens[3]]))
	}
}

// What is held when the lead is lost was never proposed, and is told so.
func TestHeldRequestsAreRefusedWhenTheLeadIsLost(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.cfg.Hold = true
	for _, id := range c.cfg.Members {
		require.NoError(t, c.boot(id))
	}
	c.elect()
	lead := c.leader()
	c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	token := c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"b"}})
	for range 200 {
		if _, answered := c.answers[token]; answered {
			break
		}
		c.now += 10
		c.inbox = nil // cut off
		c.step(lead, Input{Tick: true})
		c.step(lead, Input{Work: true})
	}
	require.Equal(t, op.NotLeader, c.answers[token].Code)
	require.Empty(t, c.replicas[lead-1].held)
}
