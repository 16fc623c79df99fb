package replica

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An intent that cannot be settled now, because nobody else is there, or because it
// waits for the one before it, keeps nobody busy: it is proposed once or not at all,
// and time that passes is all that happens.
func TestReconcilerDoesNotSpin(t *testing.T) {
	for name, c := range map[string]struct {
		in       Intent
		alone    bool
		proposed int
	}{
		"without a quorum":              {Intent{Generation: 3, Previous: 1}, true, 1},
		"waiting for the one before it": {Intent{Generation: 3, Previous: 1, Expected: wrong()}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, 3, 0)
			k.elect()
			k.append("a")
			l := k.leader()
			r := k.replicas[l-1]
			if c.alone {
				for id := range k.replicas {
					if id+1 != l {
						k.crash(id+1, false)
					}
				}
			}
			last := r.jr.Last()
			k.step(l, Input{Intents: []Intent{c.in}})
			for range 20 { // less than it takes to see that nobody answers
				steps := 0
				for ; r.hasWork(); steps++ {
					require.Less(t, steps, 10)
					k.step(l, Input{Work: true})
				}
				k.inbox = nil
				k.now += 10
				k.step(l, Input{Tick: true})
				k.step(l, Input{Intents: []Intent{c.in}}) // told again
			}
			require.True(t, r.leading)
			require.EqualValues(t, c.proposed, r.jr.Last()-last)
			require.Len(t, r.intents, 1, "and it is not forgotten")
		})
	}
}
