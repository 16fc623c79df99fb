package minimize

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
	"purgelab/model/op"
)

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
