package replica

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// beside drives a cluster whose syncs are made beside other steps: between the
// moment at which one is asked for and its end anything may happen.
type beside struct {
	*cluster
	rand  *rand.Rand
	syncs []func() error // per machine: asked for, not made
	acked map[op.Offset]string
	asked map[uint64]string // token -> payload
	lie   bool              // the call is not made, only said to have been
}

func newBeside(t testing.TB, n int, seed uint64, lie bool) *beside {
	b := &beside{
		cluster: newClusterOf(t, n, func(c *Config) { c.SyncBeside, c.CheckpointOps, c.Sink = true, 20, nil }),
		rand:    rand.New(rand.NewPCG(seed, 5)), syncs: make([]func() error, n),
		acked: map[op.Offset]string{}, asked: map[uint64]string{}, lie: lie,
	}
	return b
}

func (b *beside) input(id int, in Input) {
	r := b.replicas[id-1]
	if r == nil {
		return
	}
	in.Now = b.now
	out, err := r.Step(in)
	require.NoError(b.t, err)
	b.inbox = append(b.inbox, out.Messages...)
	if out.Sync != nil {
		require.Nil(b.t, b.syncs[id-1], "one sync at a time")
		b.syncs[id-1] = out.Sync
	}
	for _, a := range out.Answers {
		if a.Reply.Code == op.OK {
			b.acked[a.Reply.Position.Offset] = b.asked[a.Token]
		}
	}
}

func (b *beside) endSync(id int) {
	call := b.syncs[id-1]
	if call == nil {
		return
	}
	b.syncs[id-1] = nil
	var err error
	if !b.lie {
		err = call()
	}
	b.input(id, Input{Sync: &SyncResult{err}})
}

// restart takes a machine down and opens it again.
func (b *beside) restart(id int, power bool) error {
	b.crash(id, power)
	b.syncs[id-1] = nil
	return b.boot(id)
}

// step does one thing at random; machines crash if they may.
func (b *beside) step(crashes bool) {
	id := 1 + b.rand.IntN(len(b.replicas))
	switch k := b.rand.IntN(100); {
	case k < 15:
		b.now += 10
		b.input(id, Input{Tick: true})
	case k < 50:
		if r := b.replicas[id-1]; r != nil && r.hasWork() {
			b.input(id, Input{Work: true})
		}
	case k < 65:
		b.endSync(id)
	case k < 85 && len(b.inbox) > 0:
		m := b.inbox[0]
		b.inbox = b.inbox[1:]
		b.input(m.To, Input{Message: &m})
	case k < 99:
		b.token++
		b.asked[b.token] = fmt.Sprintf("message %d", b.token)
		b.input(id, Input{Request: &Request{Token: b.token, Op: &op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload(b.asked[b.token])}}}})
	case crashes && b.rand.IntN(4) == 0:
		require.NoError(b.t, b.restart(id, b.rand.IntN(2) == 0))
	}
}

// rest lets the cluster come to rest, with a leader.
func (b *beside) rest() {
	for range 100_000 {
		busy := false
		for id := 1; id <= len(b.replicas); id++ {
			for b.replicas[id-1].hasWork() || b.syncs[id-1] != nil {
				b.input(id, Input{Work: true})
				b.endSync(id)
				busy = true
			}
		}
		for len(b.inbox) > 0 {
			m := b.inbox[0]
			b.inbox = b.inbox[1:]
			b.input(m.To, Input{Message: &m})
			busy = true
		}
		if !busy && b.leader() > 0 {
			return
		}
		if !busy {
			b.now += 10
			for id := range b.replicas {
				b.input(id+1, Input{Tick: true})
			}
		}
	}
	b.t.Fatal("the cluster does not come to rest")
}

var errLost = errors.New("an acknowledged message is not there")

// check loses the power of all machines at once and compares what was acknowledged
// with what is there.
func (b *beside) check() error {
	for id := range b.replicas {
		if err := b.restart(id+1, true); err != nil {
			return errors.Join(errLost, err)
		}
	}
	b.rest()
	f := b.replicas[b.leader()-1]
	got, err := f.Records(0, 1<<20)
	require.NoError(b.t, err)
	for o, text := range b.acked {
		if int(o) >= len(got) || string(got[o].Payload) != text {
			return fmt.Errorf("%w: %s at %d of %d", errLost, text, o, len(got))
		}
	}
	return nil
}

// TestSyncBesideKeepsWhatWasAcknowledged: whatever happens during syncs, and
// whenever power is lost.
func TestSyncBesideKeepsWhatWasAcknowledged(t *testing.T) {
	acked := 0
	for seed := range uint64(60) {
		b := newBeside(t, []int{1, 3}[seed%2], seed, false)
		b.rest()
		for range 1500 {
			b.step(true)
		}
		require.NoError(t, b.check(), "seed %d", seed)
		acked += len(b.acked)
	}
	require.Greater(t, acked, 3000)
}

// TestSyncBesideNotMade: a driver that only says so is found out by the same check.
func TestSyncBesideNotMade(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		b := newBeside(t, 1, seed, true)
		b.rest()
		for range 300 {
			b.step(false)
		}
		if errors.Is(b.check(), errLost) {
			found++
		}
	}
	require.Greater(t, found, 10)
}
