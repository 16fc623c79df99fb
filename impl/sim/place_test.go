package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/model/op"
)

// orders is a script of one client that does one thing after the other; an order
// for shard -1 is for the latest shard.
type orders struct {
	list    []Order
	latest  op.Partition
	replies []op.Reply
	moves   []string
}

func (s *orders) Next(client int, _ int64) (Order, bool) {
	if client != 0 || len(s.list) == 0 {
		return Order{}, false
	}
	o := s.list[0]
	s.list = s.list[1:]
	o.Request.Partition = s.latest
	return o, true
}

func (s *orders) Invoked(int64, *Call) {}

func (s *orders) Returned(_ int64, c *Call, o Outcome, r op.Reply) {
	if c.Request.Kind != op.Register {
		s.replies = append(s.replies, r)
	}
}

func (s *orders) Moved(from, to op.Partition, i op.Incarnation) {
	s.latest = to
	s.moves = append(s.moves, fmt.Sprintf("%d to %d i%d", from, to, i))
}

func appendOf(n int, prefix string) Order {
	r := &op.Request{Kind: op.Append}
	for i := range n {
		r.Payloads = append(r.Payloads, op.Payload(fmt.Sprintf("%s%d", prefix, i)))
	}
	return Order{Request: r}
}

func storeAt(i op.Incarnation, o op.Offset) *op.Request {
	return &op.Request{Kind: op.StoreBookmark, Key: op.Key{Kind: op.Group, ID: 1}, At: op.Position{Incarnation: i, Offset: o}}
}

func rest(t *testing.T, c *Cluster) {
	var why string
	err := c.RunUntil(context.Background(), 20*Second, func() bool {
		ok, s := c.AtRest()
		why = s
		return ok && c.Idle()
	})
	require.NoError(t, err, why)
}

// A bookmark of a partition that was deleted and created again, stored before, or
// on its way all the time: the new one knows neither. Its consumer starts at the
// beginning.
func TestBookmarksOfANamesake(t *testing.T) {
	for _, renew := range []Renewal{Recreate, DeleteAndMake} {
		next := &op.Request{Kind: op.Poll, Key: op.Key{Kind: op.Group, ID: 1}, Max: 100}
		s := &orders{list: []Order{
			appendOf(10, "old"), {Request: storeAt(1, 6)},
			{Request: &op.Request{}, Renew: renew},
			appendOf(9, "fresh"), {Request: storeAt(1, 5)},
		}}
		c, err := New(Options{Seed: 3, Clients: 1, Recreations: 1}, s)
		require.NoError(t, err)
		require.NoError(t, c.RunUntil(context.Background(), 20*Second, c.Idle))
		require.Equal(t, []string{"0 to 1 i2"}, s.moves)
		require.Equal(t, op.Position{Incarnation: 2}, s.replies[2].Position)
		require.Equal(t, op.StaleIncarnation, s.replies[3].Code, "a position of the namesake")
		require.EqualValues(t, 9, s.replies[3].End)

		delayed := storeAt(1, 8)
		bare := storeAt(0, 8)
		bare.Bare = true
		for id := 1; id <= 3; id++ {
			c.serves(&c.machines[id], requestParcel{1 << 40, delayed})
			c.serves(&c.machines[id], requestParcel{1 << 40, bare})
		}
		rest(t, c)
		s.list = []Order{{Request: next}}
		c.Resume()
		rest(t, c)
		got := s.replies[len(s.replies)-1]
		require.Equal(t, op.Position{Incarnation: 2}, got.Position)
		require.Len(t, got.Records, 9)
		require.EqualValues(t, "fresh0", got.Records[0].Payload)
		for id := 1; id <= 3; id++ {
			require.Empty(t, c.Member(id, 1).Bookmarks())
			require.Nil(t, c.Member(id, 0))
			names, err := c.machines[id].disk.FS().List(".")
			require.NoError(t, err)
			require.Equal(t, []string{"meta/", "p0-i2/", "p0.deleted"}, names)
		}
		require.Equal(t, 1, c.Effects.Recreated)
		require.Equal(t, 3, c.Effects.Retired)
	}
}

// Whatever a power loss undoes of the removal of a partition, its namesake's
// files are never opened again.
func TestTombstonesOutliveEveryCrash(t *testing.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		s := &orders{list: []Order{
			appendOf(10, "a"), {Request: &op.Request{}, Renew: Recreate},
			appendOf(5, "b"), {Request: &op.Request{}, Renew: DeleteAndMake},
			appendOf(3, "c"),
		}}
		opened := map[string]op.Incarnation{}
		c, err := New(Options{Seed: seed, Clients: 1, Recreations: 2, Open: func(cfg replica.Config) (Member, error) {
			for i := op.Incarnation(1); i < cfg.Incarnation; i++ {
				name := shard{cfg.Partition, i}.dir() + tombstone
				_, err := cfg.FS.Open(name)
				require.NoError(t, err, "seed %d: %s opens, %s is not there", seed, cfg.Dir, name)
			}
			_, err := cfg.FS.Open(cfg.Dir + tombstone)
			require.Error(t, err, "seed %d: %s is opened after its end", seed, cfg.Dir)
			opened[cfg.Dir] = cfg.Incarnation
			r, err := replica.Open(cfg)
			if err != nil {
				return nil, err
			}
			return r, nil
		}}, s)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, 1))
		var crash func()
		crash = func() {
			id := 1 + r.IntN(3)
			c.AimAt(id, Aim{Label: "sim.", Nth: 1 + r.IntN(8), After: r.IntN(2) == 0, Power: true, Down: 20 * Millisecond, Again: &Aim{Nth: 1 + r.IntN(10), Power: true, Down: Millisecond}})
			c.Crash([]int{1 + r.IntN(3)}, true, 30*Millisecond)
			if c.Now() < 3*Second {
				c.After(100*Millisecond+r.Int64N(200*Millisecond), crash)
			}
		}
		c.After(300*Millisecond, crash)
		require.NoError(t, c.RunUntil(context.Background(), 60*Second, func() bool { return c.Idle() && c.Now() > 3*Second }), "seed %d", seed)
		c.Heal()
		rest(t, c)
		require.Empty(t, c.Refusals)
		require.Equal(t, map[string]op.Incarnation{"p0": 1, "p0-i2": 2, "p0-i3": 3}, opened)
		require.Equal(t, []int{2}, c.Live())
		for id := 1; id <= 3; id++ {
			recs, err := c.Member(id, 2).Records(0, 10)
			require.NoError(t, err)
			require.Len(t, recs, 3)
		}
	}
}

// A tombstone is that of the shard whose incarnation it names, be that one before the
// present: a plane that is behind would have its machine open it again.
func TestTombstonesOfEveryIncarnation(t *testing.T) {
	c := &Cluster{shards: []shard{{0, 4}, {1, 1}, {0, 2}}, lines: []line{{first: 3}, {}, {first: 1}}}
	for dir, want := range map[string][3]op.Incarnation{
		"p0": {0, 0, 1}, "p0-i2": {0, 0, 2}, "p0-i3": {3, 0, 0}, "p0-i4": {4, 0, 0}, "p1": {0, 1, 0}, "p0-i5": {},
	} {
		for h := range c.shards {
			at, ok := c.entombed(h, dir)
			require.Equal(t, want[h] != 0, ok, "%s, shard %d", dir, h)
			require.Equal(t, want[h], at.incarnation, "%s, shard %d", dir, h)
		}
	}
}
