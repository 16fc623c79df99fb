package sim

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
)

// forgetfulToy is a replica that cannot prove what it acknowledged.
type forgetfulToy struct{ *toy }

func (forgetfulToy) Standing() replica.Standing { return replica.Standing{Suspect: true} }

// A replica of the plane that was started again alone, damaged, knows nothing of how
// the replicas of its machine stand, which went on meanwhile: it is told again.
func TestPlaneIsToldAgain(t *testing.T) {
	open := func(c replica.Config) (Member, error) {
		m, err := openToy(false)(c)
		if c.ID == 1 && err == nil {
			m = forgetfulToy{m.(*toy)}
		}
		return m, err
	}
	c, err := New(Options{Seed: 1, Replicas: 3, Clients: 1, Network: rough, Open: open}, &appender{})
	require.NoError(t, err)
	m := &c.machines[1]
	require.NoError(t, c.RunUntil(context.Background(), Second, func() bool { return m.members[0].stands != nil }))
	require.Zero(t, c.MetaLeader(), "the plane knows it already")
	require.True(t, c.bootMeta(m))
	require.NoError(t, c.RunUntil(context.Background(), 5*Second, func() bool {
		plane := c.Plane()
		return plane != nil && len(plane.Partition(0).Standings) > 0
	}))
	require.Equal(t, 1, c.Plane().Partition(0).Standings[0].Machine)
}
