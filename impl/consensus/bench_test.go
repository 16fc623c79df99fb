package consensus

import (
	"math/rand/v2"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/consensus/barebench"
)

// group is members in one loop, with nothing between them.
type group struct {
	nodes   []*Node
	logs    []*memLog
	queue   []*raftpb.Message
	lose    func(*raftpb.Message) bool // nil: nothing is lost
	applied int
}

func newGroup(tb testing.TB, replicas int) *group {
	g := &group{}
	var voters []uint64
	for i := range replicas {
		voters = append(voters, uint64(i+1))
	}
	for _, id := range voters {
		log := &memLog{}
		n, err := New(Config{ID: id, Members: Membership{Voters: voters}, Log: log, Rand: rand.New(rand.NewPCG(1, id)), HeartbeatTicks: 5, ElectionTicks: 30})
		if err != nil {
			tb.Fatal(err)
		}
		g.nodes, g.logs = append(g.nodes, n), append(g.logs, log)
	}
	for g.nodes[0].Status().Role != Leader {
		g.nodes[0].Tick()
		g.run()
	}
	g.applied = 0
	return g
}

func (g *group) run() {
	for {
		for i, n := range g.nodes {
			for b, ok := n.Ready(); ok; b, ok = n.Ready() {
				g.logs[i].Append(b.State, b.Entries)
				g.logs[i].Append(b.After, nil)
				g.queue = append(append(g.queue, b.Early...), b.Late...)
				if b.MustSync {
					g.logs[i].Sync()
				}
				n.Advance()
				g.applied += len(b.Committed)
			}
		}
		if len(g.queue) == 0 {
			return
		}
		queue := g.queue
		g.queue = nil
		for _, m := range queue {
			if g.lose == nil || !g.lose(m) {
				_ = g.nodes[m.GetTo()-1].Step(m)
			}
		}
	}
}

func BenchmarkThreeNodes(b *testing.B) {
	g := newGroup(b, 3)
	data := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		if err := g.nodes[0].Propose(data); err != nil {
			b.Fatal(err)
		}
		g.run()
	}
}

// BenchmarkAgainstBare does the same work here and in a bare loop, in turns,
// and prints both rates and their ratio.
func BenchmarkAgainstBare(b *testing.B) {
	const turn = 1000
	g := newGroup(b, 3)
	bare, err := barebench.New(3)
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 100)
	var ours, theirs time.Duration
	n := 0
	for b.Loop() {
		start := time.Now()
		for range turn {
			if err := bare.Propose(data); err != nil {
				b.Fatal(err)
			}
		}
		middle := time.Now()
		for range turn {
			if err := g.nodes[0].Propose(data); err != nil {
				b.Fatal(err)
			}
			g.run()
		}
		theirs += middle.Sub(start)
		ours += time.Since(middle)
		n += turn
	}
	if want := 3 * n; g.applied != want || bare.Applied() != want {
		b.Fatalf("applied %d here and %d bare, want %d", g.applied, bare.Applied(), want)
	}
	b.ReportMetric(float64(n)/ours.Seconds(), "ops/s")
	b.ReportMetric(float64(n)/theirs.Seconds(), "bare-ops/s")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "times-bare")
}
