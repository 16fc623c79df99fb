package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTogether(t *testing.T) {
	all := []int{3, 1, 2}
	keep := []Fault{
		{Kind: ProcessCrash, Replicas: []int{1}}, {Kind: Partition, Replicas: []int{0}},
		{Kind: PowerLoss, Replicas: all}, {Kind: CrashAt, Call: 1, Replicas: []int{2}, Again: 3},
		{Kind: CrashAt, Call: 1, Power: true, Replicas: all},
	}
	leave := []Fault{
		{Kind: PowerLoss, Replicas: []int{1, 2}}, {Kind: PowerLoss, Replicas: []int{0, 1, 2}}, {Kind: PowerLoss, Replicas: []int{1, 1, 2}},
		{Kind: CrashAt, Call: 1, Power: true, Replicas: []int{1}}, {Kind: CrashAt, Call: 1, Power: true, Replicas: all, Again: 1},
		{Kind: DiskFault, Replicas: all}, {Kind: Rot, Replicas: []int{1}},
	}
	p := &Plan{Faults: append(append([]Fault{}, leave...), keep...)}
	kept, losses := p.Together(3)
	require.Equal(t, keep, kept.Faults)
	require.Equal(t, 2, losses)
}
