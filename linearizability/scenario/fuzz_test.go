package scenario

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/traces/replay"
)

// choices are what a fuzzer decides, one byte for each.
type choices []byte

func (c *choices) of(n int) int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b) % n
}

func (c *choices) word(words ...string) string { return words[c.of(len(words))] }

// actions are lines with actions of a table, each with what it needs, or without some of it.
func (c *choices) actions(design string, group bool) string {
	table := replay.Parameters(design, group)
	names := slices.Sorted(maps.Keys(table))
	var b strings.Builder
	if !group {
		b.WriteString("take Boot -> ?\n")
	}
	for range 25 { // longer ones take long
		if len(*c) == 0 || len(names) == 0 {
			break
		}
		name := names[c.of(len(names))]
		b.WriteString("take " + string(name))
		last, more := "", []string{"", "", "o", "n", "g", "floor"}
		if group {
			more = append(more, "r", "step of", "kept", "without")
		}
		for _, p := range append(strings.Fields(table[name]), c.word(more...)) {
			if c.of(256) == 255 {
				continue // it lacks that
			}
			switch p {
			case "":
			case "r":
				b.WriteString(" r=" + c.word("r1", "r2", "r3"))
			case "keep":
				b.WriteString(" keep=" + c.word("none", "all"))
			case "step":
				b.WriteString(" step=" + c.word("reset", "unlinked", "empty", "clean", "cleaned", "x"))
			case "step of":
				b.WriteString(" step=" + c.word("learner", "voter", "end") + " commit=1 of=" + c.word("r1", "r2", "r3"))
			case "without":
				b.WriteString(" without=" + c.word("r1", "r2,r3", "r9", "x"))
			case "s":
				b.WriteString(" s=" + c.word("r1", "r2,r3", "r9", "x"))
			case "o":
				last = " " + c.word("append 1", "append 2", "append 0", "append 1 c1", "store k1 0 0", "store k1 3 -1", "store k1 0 0 bare", "commit k1 1", "delete k1", "advance -1", "advance 1", "purge 1")
				if name == "Propose" && c.of(4) == 0 {
					last = " other"
				}
			case "q":
				last = " " + c.word("poll k1 next 3 earliest", "poll k2 last 0 latest", "poll k1 offset 1 error", "get k1", "list earliest", "list latest")
			default:
				fmt.Fprintf(&b, " %s=%d", p, c.of(6))
			}
		}
		b.WriteString(last + " -> ?\n")
	}
	return b.String()
}

// FuzzTake: whatever actions replicas are to be led through, a mistake is named with its
// place, and what can be read is played to its end.
func FuzzTake(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 60 {
		c := make([]byte, 120)
		for k := range c {
			c[k] = byte(r.Uint32())
		}
		f.Add(byte(i), i%2 == 0, c)
	}
	f.Fuzz(func(t *testing.T, d byte, group bool, c []byte) {
		design := playable[int(d)%len(playable)].String()
		replicas := map[bool]int{true: 3, false: 1}[group]
		actions := (*choices)(&c).actions(design, group)
		variant := ""
		if !group && design == replica.ResetRecord.String() && d%4 == 1 {
			variant = "variant: retry-sync\n"
		}
		s, err := Parse("f.txt", fmt.Sprintf("scenario: f\nsays: x.\ndesign: %s\nreplicas: %d\n%s\n%s", design, replicas, variant, actions))
		if err != nil {
			var mistake *Error
			require.ErrorAs(t, err, &mistake)
			require.NotZero(t, mistake.Line*mistake.Column)
			t.Log(err)
			return
		}
		require.Len(t, Play(context.Background(), s, s.Ways()[0], false).Answers, len(s.Steps))
	})
}
