package scenario

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
)

func own(t *testing.T) []*Scenario {
	list, err := Own()
	require.NoError(t, err)
	require.Greater(t, len(list), 20)
	return list
}

// TestExpected: without a defect each scenario answers what it says, and nothing
// is violated.
func TestExpected(t *testing.T) {
	for _, s := range own(t) {
		require.Equal(t, s.File, s.Name+".txt")
		require.NotEmpty(t, s.Designs, s.File)
		for _, way := range s.Ways() {
			t.Run(s.Name+"/"+way.String(), func(t *testing.T) {
				r := Play(context.Background(), s, way, false)
				require.Empty(t, r.Trouble())
				require.Equal(t, len(s.Listed) > 0, len(r.Red) > 0)
				require.Len(t, r.Answers, len(s.Steps))
			})
		}
	}
}

// TestDefect: with the defect on, the wrong answers of the report appear, and a
// named property is violated.
func TestDefect(t *testing.T) {
	shown := map[string]bool{}
	for _, s := range own(t) {
		if s.Defect == "" {
			continue
		}
		shown[s.Defect] = true
		for _, way := range s.Ways() {
			t.Run(s.Name+"/"+way.String(), func(t *testing.T) {
				r := Play(context.Background(), s, way, true)
				require.Empty(t, r.Trouble())
				require.NotEmpty(t, r.Red)
				if calm := Play(context.Background(), s, way, false); s.driven {
					require.Empty(t, calm.unlisted())
				} else {
					require.NotEqual(t, calm.Answers, r.Answers)
				}
			})
		}
	}
	require.GreaterOrEqual(t, len(shown), 15)
}

// TestSameAgain: nothing is drawn.
func TestSameAgain(t *testing.T) {
	for _, s := range own(t) {
		way := s.Ways()[0]
		a, b := Play(context.Background(), s, way, false), Play(context.Background(), s, way, false)
		require.Equal(t, a.Answers, b.Answers)
		var one, two strings.Builder
		require.NoError(t, history.Write(&one, a.History))
		require.NoError(t, history.Write(&two, b.History))
		require.Equal(t, one.String(), two.String(), s.Name)
	}
}

// head is a header that is right.
const head = "scenario: x\nsays: y\ndesign: ordered\nreplicas: 1\n\n"

// TestDifference: an answer that is not the one of the file is named with its
// line, and so is a defect that does not do what the file says.
func TestDifference(t *testing.T) {
	play := func(text string, defective bool) string {
		s, err := Parse("f.txt", text)
		require.NoError(t, err)
		return Play(context.Background(), s, s.Ways()[0], defective).Trouble()
	}
	require.Equal(t, `f.txt:7: latest: want "2", got "1"`, play(head+"append a -> 0\nlatest -> 2\nearliest -> 7\n", false))
	broken := strings.Replace(head, "\n\n", "\ndefect: start-not-stored\nred: Linearizable\n\n", 1)
	require.Equal(t, `f.txt:10: earliest: want "5", got "0"`, play(broken+"append a -> 0\ndelete-records end -> start 1\nearliest -> 1\n!! 5\n", true))
	other := strings.Replace(broken, "Linearizable", "OffsetUnique", 1)
	require.Contains(t, play(other+"append a -> 0\ndelete-records end -> start 1\nearliest -> 1\n!! 0\n", true),
		"f.txt: with the defect start-not-stored: want OffsetUnique to be violated, got ")
}

// TestRefusal: a refusal that the file expects is no trouble, one that does not come
// is, and so is one that it does not expect.
func TestRefusal(t *testing.T) {
	play := func(text string) string {
		s, err := Parse("f.txt", text)
		require.NoError(t, err)
		return Play(context.Background(), s, s.Ways()[0], false).Trouble()
	}
	steps := "purge -> generation 1\nrot r1 p0/marker 40 -> rotten\ncrash r1\nrestart r1\n"
	refuses := strings.Replace(head, "\n\n", "\nrefuses: r1\n\n", 1)
	require.Empty(t, play(refuses+steps))
	require.Contains(t, play(head+steps), "violated: NoStuckReplica: replica 1 is down")
	require.Contains(t, play(refuses+"purge -> generation 1\n"), "violated: NoStuckReplica: replica 1 does not refuse by a typed error: <nil>")
}

// TestMistakes: a mistake in a file is named with its line and column.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"scenario x\n", `f.txt:1:1: want name: value, got "scenario x"`},
		{"scenario: x\nwhat: y\n", `f.txt:2:1: "what": want one of scenario`},
		{"scenario: x\nsays: y\nreplicas: 4\n", `f.txt:3:11: replicas "4": want 1, 3 or 5`},
		{"scenario: x\nsays: y\ndesign: ordered sideways\n", `f.txt:3:17: design "sideways"`},
		{"scenario: x\nsays: y\ndefect: none\n", `f.txt:3:9: defect "none"`},
		{"scenario: x\nsays: y\nred: Nothing\n", `f.txt:3:6: property "Nothing"`},
		{"scenario: x\nsays: y\n\nlatest -> 0\n", `f.txt:4:1: the header lacks "design:"`},
		{strings.Replace(head, "\n\n", "\nrefuses: r2\n\n", 1) + "heal\n", "f.txt:7:1: refuses: want replicas up to r1"},
		{"scenario: x\nsays: y\nrefuses: r1 me\n", `f.txt:3:13: replica "me"`},
		{"scenario: x\nsays: y\npartitions: 9\n", `f.txt:3:13: partitions "9": want 1 to 4`},
		{"scenario: x\nsays: y\nmessages: persisted lazy\n", `f.txt:3:21: durability "lazy"`},
		{"scenario: x\nsays: y\ndesign: ordered reset-record\nmessages: replicated\n\npower-loss r1\n", "f.txt:6:1: replicated: after a loss of power"},
		{"scenario: x\nsays: y\ndesign: ordered\nmessages: replicated\n\nrecreate\n", "f.txt:6:1: recreate: want messages and bookmarks persisted"},
		{"scenario: x\nsays: y\ndesign: reset-record\n\nreplace-disk r1\n", "f.txt:5:1: replace-disk: reset-record has no answer to it"},
		{head + "poll at i0:g0:2 -> 0\n", `f.txt:6:9: incarnation "i0": want i and a number from 1`},
		{head + "latest on p1 -> 0\n", `f.txt:6:11: partition "p1": want p0 to p0`},
		{head + "rot r1 p0/marker -1 -> rotten\n", `f.txt:6:18: "-1": want a number from 0`},
		{head + "append a -> 0\n~~ 0\n", "f.txt:7:3: want another answer than the line above"},
		{head + "look r1 -> 0\n~~ 1\n", "f.txt:7:1: a line with ~~ wants an answer to a client above it"},
		{head + "~~ 1\n", "f.txt:6:1: a line with ~~ wants a step with an answer above it"},
		{head + "append a -> 0\n~~ 1\n~~ 2\n", "f.txt:8:1: the step has another answer already"},
		{head + "# nothing\n", "f.txt:6:1: there is no step"},
		{head + "jump r1\n", `f.txt:6:1: step "jump": want one of`},
		{head + "append -> 0\n", "f.txt:6:8: want at least one message"},
		{head + "latest\n", "f.txt:6:7: latest: want -> and the answer that must come"},
		{head + "heal -> ok\n", "f.txt:6:6: heal has no answer"},
		{head + "latest please -> 0\n", `f.txt:6:8: "please" is one word too many`},
		{head + "poll next x1 -> 0\n", `f.txt:6:11: owner "x1"`},
		{head + "poll first max=0 -> 0\n", `f.txt:6:16: "0": want a number from 1`},
		{head + "store c1 g:2 -> ok\n", `f.txt:6:10: generation "g"`},
		{head + "crash r2\n", `f.txt:6:7: replica "r2": want r1 to r1`},
		{head + "power-loss r1 keep=some\n", `f.txt:6:20: keep "some"`},
		{head + "arm r1 crash beside journal\n", `f.txt:6:14: "beside": want before or after`},
		{head + "fault r1 fail-before op=jump\n", `f.txt:6:22: op "jump"`},
		{head + "begin latest\n", `f.txt:6:7: begin "latest"`},
		{head + "latest -> 0\n!! 1\n", `f.txt:7:1: a line with !! wants "defect:" in the header`},
	} {
		_, err := Parse("f.txt", c.text)
		require.Error(t, err, c.text)
		require.Contains(t, err.Error(), c.want)
		var mistake *Error
		require.ErrorAs(t, err, &mistake)
	}
}

// TestDocumented: docs/scenarios.md explains every step, and its example plays.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/scenarios.md")
	require.NoError(t, err)
	for _, name := range verbNames() {
		require.Regexp(t, "(?m)^\\| (`[^|]*`, )*`"+name+"[ `]", string(doc))
	}
	_, example, _ := strings.Cut(string(doc), "```\n")
	example, _, _ = strings.Cut(example, "```")
	s, err := Parse("example.txt", example)
	require.NoError(t, err)
	for _, way := range s.Ways() {
		require.Empty(t, Play(context.Background(), s, way, false).Trouble())
		require.Empty(t, Play(context.Background(), s, way, true).Trouble())
	}
}
