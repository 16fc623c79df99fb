package model

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/model/op"
)

// TestAlone: a state that is changed in place answers like one that never changes, and
// becomes equal to what that leads to. Nothing that was answered changes later.
func TestAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sem := drawSemantics(t)
		s, lone := Init(), Init()
		lone.alone = true
		type answer struct {
			r          *op.Request
			want, lone op.Reply
		}
		var answers []answer
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			r := drawRequest(t, s, n)
			c := Choice{Timestamp: op.Timestamp(rapid.IntRange(0, 40).Draw(t, "clock")), Gone: rapid.IntRange(0, 9).Draw(t, "gone") == 0}
			a := answer{r: r}
			s, a.want = sem.Step(s, r, c)
			lone, a.lone = sem.Step(lone, r, c)
			answers = append(answers, a)
			require.True(t, lone.alone)
			require.True(t, s.Equal(lone), "%s: want %s, got %s", DescribeRequest(r), s, lone)
		}
		for _, a := range answers {
			require.Equal(t, a.want, a.lone, DescribeRequest(a.r))
		}
	})
}
