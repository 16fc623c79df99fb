package model

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/model/op"
)

// TestPositionsLiveOn: through any number of incarnations, which keep any prefix
// of the log and perhaps something else after it, a position that ever named a
// message names the same one or is refused; and of those that every later
// incarnation knows to have been agreed on, none is refused.
func TestPositionsLiveOn(t *testing.T) {
	refused, living := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var sem Semantics
		type named struct {
			payload op.Payload
			agreed  bool // by every later incarnation, in the era that is current
		}
		positions := map[op.Position]*named{}
		s := Init()
		log := []*State{s}
		n := 0
		appends := func(max int) {
			for range rapid.IntRange(0, max).Draw(t, "appends") {
				n++
				s, _ = sem.Step(s, &op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload(rune('a' + n))}}, Choice{})
				positions[s.position(s.End()-1)] = &named{op.Payload(rune('a' + n)), true}
				log = append(log, s)
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				appends(3)
			case 2:
				s, _ = sem.Step(s, &op.Request{Kind: op.Purge}, Choice{})
				log = append(log, s)
				for _, p := range positions { //purgelab:unordered every one
					p.agreed = false
				}
			case 3:
				// The log is cut somewhere, and something else may follow: what is
				// agreed on reaches at most to the cut.
				cut := rapid.IntRange(0, len(log)-1).Draw(t, "cut")
				known := log[rapid.IntRange(0, cut).Draw(t, "known")]
				agreed := known.position(known.End())
				s = log[cut]
				for range rapid.IntRange(0, 2).Draw(t, "tail") {
					n++
					s, _ = sem.Step(s, &op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload(rune('a' + n))}}, Choice{})
				}
				for p, m := range positions { //purgelab:unordered every one
					m.agreed = m.agreed && p.Generation == agreed.Generation && s.generation == agreed.Generation && p.Offset < agreed.Offset
				}
				next, reply := sem.Step(s, &op.Request{Kind: op.NewIncarnation}, Choice{Agreed: agreed})
				require.Equal(t, agreed, reply.Agreed)
				require.Equal(t, s.incarnation+1, next.incarnation)
				s, log = next, []*State{next}
				for o := s.start; o < s.End(); o++ {
					positions[s.position(o)] = &named{s.log.at(o).Payload, true}
				}
			}
			for p, m := range positions { //purgelab:unordered every one
				after, reply := sem.Step(s, &op.Request{Kind: op.Poll, Strategy: op.AtOffset, At: p, Max: 1}, Choice{})
				require.Same(t, s, after)
				switch reply.Code {
				case op.OK:
					require.Len(t, reply.Records, 1, "%s in %s", p, s)
					require.Equal(t, m.payload, reply.Records[0].Payload, "OffsetUnique: %s in %s", p, s)
					require.Equal(t, s.position(p.Offset), reply.Position)
					living++
				case op.StaleIncarnation:
					require.NotEqual(t, s.incarnation, p.Incarnation)
					require.False(t, m.agreed, "%s in %s", p, s)
					refused++
				default:
					require.Equal(t, op.StaleGeneration, reply.Code)
					require.Equal(t, s.incarnation, p.Incarnation)
				}
			}
		}
	})
	require.NotZero(t, refused)
	require.NotZero(t, living)
}

// TestIncarnationIsolation: whatever a request means, in another incarnation
// than the one that it names it has no effect. The intent of a purge has.
func TestIncarnationIsolation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sem := drawSemantics(t)
		s := Init()
		for n := range rapid.IntRange(1, 20).Draw(t, "steps") {
			r := drawRequest(t, s, n)
			if rapid.IntRange(0, 4).Draw(t, "new") == 0 {
				s = s.Begin(0, s.position(s.End()))
			}
			r.Incarnation = op.Incarnation(rapid.IntRange(1, 3).Draw(t, "named"))
			next, reply := sem.Step(s, r, Choice{Refused: true})
			if r.Incarnation != s.incarnation {
				require.Same(t, s, next)
				require.Equal(t, s.bounds(op.StaleIncarnation), reply)
			}
			s = next
		}
	})
	s := Init()
	intent := &op.Request{Kind: op.Purge, Intent: 1, Incarnation: 2}
	next, reply := Semantics{}.Step(s, intent, Choice{})
	require.EqualValues(t, 1, next.generation)
	require.Equal(t, op.OK, reply.Code)
}
