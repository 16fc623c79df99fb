package minimize

import (
	"context"
	"fmt"
	"strings"

	"purgelab/linearizability/run"
	"purgelab/linearizability/scenario"
)

// A scenario has no network and no clock of its own: one step comes to its end before
// the next, unless it says at-once. So a run is retold in a few ways, each is played, and
// the first that shows the same violation is taken. If none does, the language cannot say
// what the run does.

// way is one way to retell a run.
type way struct {
	leader  int  // whom a fault of the leader strikes
	atOnce  bool // steps follow each other without a pause
	early   bool // sessions are opened before anything else
	overlap bool // a client asks without waiting until the others were answered
	late    bool // a machine that goes down at a disk call is started again at the end only
	full    bool // there are messages and a bookmark before, and one more message after
	again   bool // every request is sent twice, as by a network that doubles or loses
}

// ways lists them, the plainest first.
func ways(replicas int) []way {
	var out []way
	for bits := range 64 {
		on := func(i int) bool { return bits>>i&1 != 0 }
		for leader := 1; leader <= replicas; leader++ {
			out = append(out, way{leader, on(0), on(1), on(2), on(3), on(4), on(5)})
		}
	}
	return out
}

// Scenario retells a small run as a scenario with the name, which violates the property.
func Scenario(ctx context.Context, name, property string, r *run.Result) (string, error) {
	why := "no way to play it violates " + property
	for _, w := range ways(r.Settings.Replicas) {
		t := teller{r: r, property: property, way: w}
		if t.tell(); t.trouble != "" {
			return "", fmt.Errorf("scenario: %s", t.trouble)
		}
		text, err := t.answered(ctx, name)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err == nil:
			return text, nil
		}
		why = err.Error()
	}
	return "", fmt.Errorf("scenario: %s", why)
}

// header is the one of the run.
func (t *teller) header(name string) string {
	s := &t.r.Settings
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s: %v\n", name, value) }
	checkpoint, segment, journal := s.Shape()
	line("scenario", name)
	line("says", t.property+" holds.")
	line("replicas", s.Replicas)
	if s.Partitions > 1 {
		line("partitions", s.Partitions)
	}
	line("design", s.Design)
	if s.Variant != "" {
		line("variant", strings.ReplaceAll(s.Variant, ",", " "))
	}
	line("messages", s.Messages)
	line("bookmarks", s.Bookmarks)
	line("checkpoint", checkpoint)
	line("segment", segment)
	line("journal", journal)
	if s.CompactOps > 0 {
		line("compact", s.CompactOps)
	}
	if s.Defect != "" {
		line("defect", s.Defect)
		line("red", t.property)
	} else {
		line("listed", t.property)
	}
	return b.String()
}

// write is the file with the answers that are right and, if there are any, wrong ones.
func (t *teller) write(name string, right, wrong []string) string {
	var b strings.Builder
	b.WriteString(t.header(name) + "\n")
	for i, s := range t.steps {
		b.WriteString(s.text)
		if s.asks {
			fmt.Fprintf(&b, " -> %s", right[i])
			if wrong[i] != right[i] {
				fmt.Fprintf(&b, "\n!! %s", wrong[i])
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// answered plays the steps to learn what is answered, and gives the file if it then shows
// the violation; else nothing, or why not.
func (t *teller) answered(ctx context.Context, name string) (string, error) {
	right, wrong := make([]string, len(t.steps)), make([]string, len(t.steps))
	for i := range t.steps {
		right[i], wrong[i] = "?", "??"
		if t.r.Settings.Defect == "" {
			wrong[i] = "?"
		}
	}
	play := func(defective bool) (*scenario.Result, error) {
		s, err := scenario.Parse(name+".txt", t.write(name, right, wrong))
		if err != nil {
			return nil, err
		}
		return scenario.Play(ctx, s, s.Ways()[0], defective), nil
	}
	good, err := play(false)
	if err != nil {
		return "", err
	}
	bad := good
	if t.r.Settings.Defect != "" {
		if bad, err = play(true); err != nil {
			return "", err
		}
	}
	right, wrong = good.Answers, bad.Answers
	for _, defective := range []bool{false, t.r.Settings.Defect != ""} {
		r, err := play(defective)
		if err != nil {
			return "", err
		}
		if why := r.Trouble(); why != "" {
			return "", fmt.Errorf("it plays otherwise: %s", why)
		}
	}
	return t.write(name, right, wrong), nil
}
