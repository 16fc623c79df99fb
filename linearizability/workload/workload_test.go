package workload

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// drive lets clients work against a log that answers everything with ok: enough
// to see what the workload chooses.
func drive(seed uint64, o Options) []Choice {
	r := rand.New(rand.NewPCG(seed, 1))
	w := New(o, rand.New(rand.NewPCG(seed, 2)))
	type log struct {
		gen op.Generation
		end op.Offset
	}
	logs := make([]log, o.Partitions)
	var out []Choice
	for {
		client := r.IntN(o.Clients)
		c, ok := w.Next(client)
		if !ok {
			return out
		}
		out = append(out, c)
		l := &logs[c.Request.Partition]
		reply := op.Reply{Position: op.Position{Incarnation: 1, Generation: l.gen, Offset: l.end}}
		switch c.Request.Kind {
		case op.Append:
			l.end += op.Offset(len(c.Request.Payloads))
			reply.Timestamp = op.Timestamp(len(out))
		case op.Purge:
			l.gen, l.end = l.gen+1, 0
			reply.Position = op.Position{Incarnation: 1, Generation: l.gen}
		case op.Poll:
			reply.Position.Offset, reply.Count = 0, uint32(min(op.Offset(c.Request.Max), l.end))
		}
		known := !(c.Patience > 0 && c.Request.Mutates() && r.IntN(2) == 0)
		w.Learn(c.Request, &reply, known, c.Patience)
		if r.IntN(100) == 0 {
			w.Fault()
		}
	}
}

func TestEveryOperationIsChosen(t *testing.T) {
	all := drive(1, Options{Clients: 4, Partitions: 2, Ops: 8000, Unknown: 50, MaxThink: 100})
	require.Len(t, all, 8000)
	seen := map[string]int{}
	count := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	payloads := map[op.Payload]bool{}
	era := make([]op.Generation, 2)
	for _, c := range all {
		r := c.Request
		seen[r.Kind.String()]++
		tagged := r.Kind == op.StoreBookmark || r.Kind == op.DeleteRecords || r.Kind == op.Poll && r.Strategy == op.AtOffset
		require.False(t, r.Bare)
		if tagged {
			require.EqualValues(t, 1, r.At.Incarnation)
			count("position of an old era", r.At.Generation < era[r.Partition])
		}
		switch r.Kind {
		case op.Append:
			count("batch", len(r.Payloads) > 1)
			for _, p := range r.Payloads {
				require.False(t, payloads[p], "payload %s twice", p)
				payloads[p] = true
			}
		case op.Poll:
			require.Positive(t, r.Max)
			seen["poll "+r.Strategy.String()]++
			count("auto-commit by "+r.Strategy.String(), r.AutoCommit)
			if r.Strategy == op.Next {
				seen["reset "+r.Reset.String()]++
			}
		case op.ListOffsets:
			seen["list "+r.Which.String()]++
		case op.DeleteRecords:
			count("delete all", r.At.Offset == -1)
			count("conditional delete", r.Expected != nil)
		case op.Purge:
			count("conditional purge", r.Expected != nil)
			era[r.Partition]++
		case op.StoreBookmark:
			seen["store "+r.Key.Kind.String()]++
		}
	}
	for _, what := range []string{
		"append", "poll", "store-bookmark", "delete-bookmark", "get-bookmark", "list-offsets", "delete-records", "purge",
		"batch", "poll next", "poll offset", "poll first", "poll last", "poll timestamp", "auto-commit by next", "auto-commit by first",
		"reset earliest", "reset latest", "reset error", "list earliest", "list latest", "list timestamp",
		"delete all", "conditional delete", "conditional purge", "store consumer", "store group", "position of an old era",
	} {
		require.Greater(t, seen[what], 15, what)
	}
}

func TestSameSeedSameChoices(t *testing.T) {
	o := Options{Clients: 3, Partitions: 1, Ops: 500, Unknown: 5, MaxThink: 100}
	require.Equal(t, drive(4, o), drive(4, o))
	require.NotEqual(t, drive(4, o), drive(5, o))
}

func TestUnknownOutcomesAreBounded(t *testing.T) {
	impatient, unheard := 0, 0
	r := rand.New(rand.NewPCG(1, 1))
	w := New(Options{Clients: 2, Partitions: 1, Ops: 2000, Unknown: 7}, r)
	for {
		c, ok := w.Next(0)
		if !ok {
			break
		}
		if c.NoAck {
			unheard++
		} else if c.Patience > 0 && c.Request.Mutates() {
			impatient++
			w.Learn(c.Request, &op.Reply{}, false, c.Patience)
		}
	}
	require.Equal(t, 7, impatient+unheard)
	require.Positive(t, unheard)
}

func TestClientsReadFromTheStartAfterAFault(t *testing.T) {
	w := New(Options{Clients: 2, Partitions: 2, Ops: 100}, rand.New(rand.NewPCG(1, 1)))
	w.Fault()
	seen := map[op.Partition]int{}
	for i := 0; i < 4; i++ {
		c, _ := w.Next(i % 2)
		require.Equal(t, op.Poll, c.Request.Kind)
		require.Equal(t, op.First, c.Request.Strategy)
		seen[c.Request.Partition]++
	}
	require.Equal(t, map[op.Partition]int{0: 2, 1: 2}, seen)
}

func TestBarePositions(t *testing.T) {
	n := 0
	for _, c := range drive(2, Options{Clients: 2, Partitions: 1, Ops: 500, Bare: true}) {
		if c.Request.Kind == op.StoreBookmark || c.Request.Kind == op.DeleteRecords {
			require.True(t, c.Request.Bare)
			n++
		}
	}
	require.Positive(t, n)
}

func TestQuietReadsEverything(t *testing.T) {
	w := New(Options{Clients: 1, Partitions: 2, Ops: 1}, rand.New(rand.NewPCG(1, 1)))
	var polls, bookmarks int
	for _, r := range w.Quiet() {
		require.False(t, r.Mutates())
		if r.Kind == op.Poll {
			polls++
		}
		if r.Kind == op.GetBookmark {
			bookmarks++
		}
	}
	require.Equal(t, 2, polls)
	require.Equal(t, 2*(consumers+groups), bookmarks)
}

func TestSwarmLeavesOutOperations(t *testing.T) {
	const runs = 60
	with := map[op.Kind]int{}
	for seed := uint64(1); seed <= runs; seed++ {
		seen := map[op.Kind]bool{}
		for _, c := range drive(seed, Options{Clients: 2, Partitions: 1, Ops: 400, Swarm: rand.New(rand.NewPCG(seed, 9))}) {
			seen[c.Request.Kind] = true
		}
		for _, k := range []op.Kind{op.Append, op.StoreBookmark, op.DeleteBookmark, op.GetBookmark, op.ListOffsets, op.DeleteRecords, op.Purge} {
			if seen[k] {
				with[k]++
			}
		}
		require.True(t, seen[op.Append])
		require.True(t, seen[op.Purge] || seen[op.DeleteRecords], "seed %d drops no messages", seed)
	}
	for k, n := range with {
		require.Greater(t, n, runs/5, k)
		if k != op.Append {
			require.Less(t, n, runs*4/5, k)
		}
	}
}
