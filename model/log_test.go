package model

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// TestLogsThatBranch: whoever goes on from a log, and however often, the others keep
// what they had.
func TestLogsThatBranch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	logs, held := []log{{}}, [][]op.Record{nil}
	for n := range 3000 {
		i := max(r.IntN(len(logs)), r.IntN(len(logs)))
		l, want := logs[i], held[i][:len(held[i]):len(held[i])]
		var batch []op.Payload
		for k := range 1 + r.IntN(40) {
			batch = append(batch, op.Payload(fmt.Sprint(n, "-", k)))
			want = append(want, op.Record{Payload: batch[k], Timestamp: op.Timestamp(n)})
		}
		logs, held = append(logs, l.append(batch, op.Timestamp(n))), append(held, want)
	}
	for i, l := range logs {
		require.Equal(t, len(held[i]), int(l.len()))
		var alone log
		for o, m := range held[i] {
			require.Equal(t, m, l.at(op.Offset(o)), "log %d, offset %d", i, o)
			alone = alone.append([]op.Payload{m.Payload}, m.Timestamp)
		}
		require.True(t, alone.equal(l))
	}
}
