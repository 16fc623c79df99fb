package invariant

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/meta"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// planeOf is a metadata plane with partitions 0 and 1, which have never been
// deleted.
func planeOf(t *testing.T) *meta.State {
	d := crashfs.New()
	require.NoError(t, d.FS().Mkdir("t", "meta"))
	cfg := meta.Config{
		ID: 1, Members: []int{1}, FS: d.FS(), Dir: "meta", HeartbeatTicks: 1, ElectionTicks: 2,
		Initial: []meta.Placement{{}, {Partition: 1}}, Rand: rand.New(rand.NewPCG(1, 1)),
	}
	require.NoError(t, meta.Format(cfg))
	m, err := meta.Open(cfg)
	require.NoError(t, err)
	return m.State()
}

// Answers that a plane may give are not held against it: the same one to a repeat,
// and a refusal of a partition that is not there.
func TestPlaneMayRefuse(t *testing.T) {
	c, s := New(1, 3, 1), planeOf(t)
	for range 2 {
		c.Planned(1, 7, &meta.Reply{Results: []meta.Result{{Generation: 3}, {Partition: 1, Generation: 3}, {Partition: 2, Code: op.UnknownPartition}}}, s)
	}
	c.Planned(1, 8, &meta.Reply{Code: op.SessionExpired}, s)
	require.Empty(t, c.Violations())
}
