package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func drawn(t *testing.T, class Class, seed uint64) *Plan {
	p, err := Draw(class, 3, 10_000, rand.New(rand.NewPCG(seed, 1)))
	require.NoError(t, err)
	return p
}

func TestPrintedPlanReadsBack(t *testing.T) {
	for _, class := range Classes {
		for seed := uint64(1); seed <= 20; seed++ {
			p := drawn(t, class, seed)
			var b bytes.Buffer
			require.NoError(t, p.Write(&b))
			text := b.String()
			got, err := Parse("plan", &b, 3)
			require.NoError(t, err, text)
			var again bytes.Buffer
			require.NoError(t, got.Write(&again))
			require.Equal(t, text, again.String())
		}
	}
}

func TestClassesUseTheirKinds(t *testing.T) {
	seen := map[Class]map[Kind]int{}
	for _, class := range Classes {
		seen[class] = map[Kind]int{}
		for seed := uint64(1); seed <= 40; seed++ {
			for _, f := range drawn(t, class, seed).Faults {
				require.NoError(t, f.check(3))
				seen[class][f.Kind]++
				if class == Process {
					require.False(t, f.Power)
				}
			}
		}
	}
	require.Empty(t, seen[None])
	require.Zero(t, seen[Network][ProcessCrash]+seen[Network][PowerLoss]+seen[Network][CrashAt])
	require.Zero(t, seen[Process][PowerLoss]+seen[Process][Partition])
	require.Zero(t, seen[PowerOff][ProcessCrash]+seen[PowerOff][Partition])
	require.Zero(t, seen[Process][DiskFault]+seen[PowerOff][DiskFault]+seen[PowerOff][Rot])
	require.Positive(t, seen[Storage][Rot])
	for _, k := range Kinds {
		if k != CrashAmid && !k.Forgets() && k != LoseBase && k != DropProposals && k != SpoilTransfer { // for several partitions only; see LoseMemory, LoseBases, LoseProposals, SpoilTransfers
			require.Positive(t, seen[All][k], k)
		}
		require.Equal(t, k.Forgets(), seen[Memory][k] > 0 && k != Partition && k != ProcessCrash && k != PowerLoss && k != CrashAt, k)
	}
}

func TestDrawingIsDeterministic(t *testing.T) {
	require.Equal(t, drawn(t, All, 3), drawn(t, All, 3))
	require.NotEqual(t, drawn(t, All, 3), drawn(t, All, 4))
	_, err := Draw("rain", 3, 10, rand.New(rand.NewPCG(1, 1)))
	require.EqualError(t, err, fmt.Sprintf(`faults "rain": want one of %v`, Classes))
}

func TestBadPlans(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{\n \"faults\": [\n  {\"at\": \"x\"}]}", "faults: plan:3: faults.at: want a whole number, got string"},
		{"{\n \"faults\": [\n  {\"at\": 1, \"for\": 2,\n   \"at\": 3}]}", `faults: plan:4: field "at" is given twice`},
		{"{\n \"network\": {},\n \"faults\": [],\n \"network\": {}}", `faults: plan:4: field "network" is given twice`},
		{`{"faults": [{"kind": "flood"}]}`, `faults: plan: fault 1: kind "flood": want one of`},
		{`{"faults": [{"kind": "partition"}]}`, "kind partition: want at least one replica, got none"},
		{`{"faults": [{"kind": "process-crash", "replicas": [4]}]}`, "replica 4: want 0 (the leader) to 3"},
		{`{"faults": [{"kind": "partition", "replicas": [1], "oneWay": "up"}]}`, `oneWay "up": want in, out, or nothing`},
		{`{"faults": [{"kind": "storm"}]}`, "kind storm: want a network, got none"},
		{`{"faults": [{"kind": "spoil-transfer"}]}`, "kind spoil-transfer: want transfers, got none"},
		{`{"faults": [{"kind": "crash-at", "replicas": [1]}]}`, "want a call from 1 and no negative time, got call 0 within 0"},
		{`{"faults": [{"kind": "foreign-disk", "replicas": [1], "whose": "neighbour"}]}`, `whose "neighbour": want one of [cluster partition replica]`},
		{`{"faults": [{"kind": "replace-plane-disk", "replicas": [1, 2]}]}`, "want one replica, got 2"},
		{`{"faults": [{"kind": "power-loss", "replicas": [1], "at": -1}]}`, "at -1, for 0: want no negative time"},
		{"{\n\"fault\": []}", `faults: plan:2: unknown field "fault"`},
	} {
		_, err := Parse("plan", strings.NewReader(c.text), 3)
		require.ErrorContains(t, err, c.want, fmt.Sprint(c.text))
	}
}
