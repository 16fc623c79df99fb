package minimize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
	"purgelab/linearizability/scenario"
	"purgelab/model/op"
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

// teller writes the steps of one way.
type teller struct {
	way
	r        *run.Result
	property string
	steps    []told
	trouble  string // what has no words
}

// told is a step; asks: it has an answer.
type told struct {
	at    int64
	text  string
	asks  bool
	after bool // it comes after others of the same time
}

func (t *teller) tell() {
	for i := range t.r.Plan.Faults {
		t.fault(&t.r.Plan.Faults[i])
	}
	for c := 0; t.early && c < t.r.Settings.Clients; c++ {
		t.steps = append(t.steps, told{text: t.by(c) + "register", asks: true})
	}
	if t.full {
		t.steps = append(t.steps, told{text: t.by(0) + "append x y z", asks: true}, told{text: t.by(0) + "store c1 1", asks: true})
	}
	for i := range t.r.Workload.Steps {
		s := &t.r.Workload.Steps[i]
		words, ok := asks(s)
		if !ok {
			t.trouble = fmt.Sprintf("it has no words for %q", words)
			return
		}
		where := ""
		if s.Request.Partition > 0 {
			where = fmt.Sprintf(" on p%d", s.Request.Partition)
		}
		alone := s.Recreate || s.Topic // nobody's request
		if !alone {
			words = t.by(s.Client) + words
		}
		begun := t.overlap && !alone && slices.Contains(begins, s.Request.Kind)
		if begun {
			words = strings.Replace(words, s.Request.Kind.String(), "begin "+s.Request.Kind.String(), 1)
		}
		if t.atOnce {
			where += " at-once"
		}
		t.steps = append(t.steps, told{at: s.At, text: words + where, asks: !s.Recreate && !begun})
		if begun {
			t.steps = append(t.steps, told{at: t.next(i), text: t.by(s.Client) + "end" + where, asks: true, after: true})
		}
		if t.again && !alone && s.Request.Mutates() {
			repeat := "repeat"
			if s.Request.Kind == op.Purge && t.r.Settings.Design != replica.Advance.String() {
				repeat = "purge again"
			}
			t.steps = append(t.steps, told{at: t.next(i), text: t.by(s.Client) + repeat + where, asks: true, after: true})
		}
	}
	slices.SortStableFunc(t.steps, func(a, b told) int {
		switch {
		case a.at != b.at:
			return int(a.at - b.at)
		case a.after == b.after:
			return 0
		case a.after:
			return 1
		}
		return -1
	})
	t.restarts()
	if t.full {
		t.steps = append(t.steps, told{text: t.by(0) + "append w", asks: true}, told{text: "poll next c1", asks: true})
	}
	for id := 1; id <= t.r.Settings.Replicas; id++ {
		t.steps = append(t.steps, told{text: fmt.Sprintf("look r%d", id), asks: true})
	}
	t.steps = append(t.steps, told{text: "poll first", asks: true}, told{text: "earliest", asks: true}, told{text: "latest", asks: true})
}

// begins are the requests that need not be waited for; each is begun by the name of its
// kind but one.
var begins = []op.Kind{op.Append, op.Poll, op.DeleteRecords, op.Purge}

// by names a client, where there are several.
func (t *teller) by(client int) string {
	if t.r.Settings.Clients == 1 {
		return ""
	}
	return fmt.Sprintf("%c: ", 'A'+rune(client))
}

// next is just before the time of the client's next step, or the time of the last of all.
func (t *teller) next(i int) int64 {
	steps := t.r.Workload.Steps
	for k := i + 1; k < len(steps); k++ {
		if steps[k].Client == steps[i].Client {
			return steps[k].At - 1
		}
	}
	return max(t.r.Workload.Last(), steps[i].At)
}

// fault tells when something breaks and when it is mended.
func (t *teller) fault(f *faults.Fault) {
	begin, end := f.At*sim.Millisecond, (f.At+f.For)*sim.Millisecond
	for _, id := range f.Replicas {
		if id == 0 {
			id = t.leader
		}
		at := func(when int64, format string, args ...any) {
			t.steps = append(t.steps, told{at: when, text: fmt.Sprintf(format, args...), after: when == end})
		}
		switch f.Kind {
		case faults.ProcessCrash:
			at(begin, "crash r%d", id)
			t.restart(end, id)
		case faults.PowerLoss:
			at(begin, "power-loss r%d", id)
			t.restart(end, id)
		case faults.CrashAt:
			how, when := "crash", "before"
			if f.Power {
				how = "power-loss"
			}
			if f.After {
				when = "after"
			}
			label := f.Label
			if label == "" {
				label = "journal"
			}
			at(begin, "arm r%d %s %s %s nth=%d", id, how, when, label, f.Call)
		case faults.DiskFault:
			at(begin, "fault r%d %s", id, f.Rule)
			at(end, "mend r%d", id)
			t.restart(end, id)
		case faults.Partition:
			at(begin, "isolate r%d", id)
			at(end, "heal")
		case faults.ReplaceDisk:
			at(begin, "replace-disk r%d", id)
			t.restart(end, id)
		case faults.Storm, faults.SlowDisk, faults.Isolate: // the pace of a scenario stands for them, or none of it does
		default:
			t.trouble = "it has no words for a fault " + string(f.Kind)
		}
	}
}

// restart starts a machine again at a time, after whatever else is done then.
func (t *teller) restart(at int64, id int) {
	for _, s := range t.started(id) {
		s.at, s.after = at, true
		t.steps = append(t.steps, s)
	}
}

// started are the steps that start a machine again and look at it.
func (t *teller) started(id int) []told {
	pause := ""
	if t.atOnce {
		pause = " at-once"
	}
	return []told{{text: fmt.Sprintf("restart r%d%s", id, pause)}, {text: fmt.Sprintf("look r%d%s", id, pause), asks: true}}
}

// restarts starts machines again that may have gone down at a disk call, after each
// step or at the end.
func (t *teller) restarts() {
	var out []told
	armed := map[string]bool{}
	for i, s := range t.steps {
		out = append(out, s)
		if w := strings.Fields(s.text); w[0] == "arm" {
			armed[w[1]] = true
			continue
		}
		for id := 1; id <= t.r.Settings.Replicas && s.asks; id++ {
			if name := fmt.Sprintf("r%d", id); armed[name] && (!t.late || i == len(t.steps)-1) {
				out = append(out, t.started(id)...)
			}
		}
	}
	t.steps = out
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
