package teeth

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"purgelab/linearizability/run"
	"purgelab/traces"
	"purgelab/traces/tlc"
)

// traceLimit bounds one TLC process that judges traces.
const traceLimit = 5 * time.Minute

// metRounds is how many traces of a defect are judged at most that are of runs in which
// another layer saw it. One may yet have met it where the specification allows the same,
// so there are as many rounds of the first seeds: a trace can tell what nobody else sees.
const metRounds = 6

// traced makes the run again, with its trace.
func traced(ctx context.Context, s run.Settings) (*traces.Trace, error) {
	s.NoTrace = false
	r, err := run.Run(ctx, s)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := r.WriteTrace(&b); err != nil {
		return nil, err
	}
	return traces.Read(&b, r.Settings.Replay())
}

// rejected fills in the cells of the layer trace for hunts that have a cell open,
// a round after the other: all traces of a round are judged together.
func (m *job) rejected(ctx context.Context, tool tlc.Tool, hunts []*hunt, cells []*Cell) error {
	for round := range 2 * metRounds {
		var list []*traces.Trace
		var of []int
		for i, h := range hunts {
			if cells[i].Outcome != "" {
				continue
			}
			seed := uint64(max(1, round-metRounds+1))
			if round < metRounds {
				h.until(ctx, m.o.Runs, func() bool { return len(h.met) > round })
				if len(h.met) <= round {
					continue // none of these is left
				}
				seed = h.met[round]
			}
			t, err := traced(ctx, h.tooth.settings(seed))
			if err != nil {
				cells[i].fail(err.Error())
				continue
			}
			list, of = append(list, t), append(of, i)
		}
		if ctx.Err() != nil {
			break
		}
		if len(list) == 0 {
			continue
		}
		reports, err := traces.Validate(ctx, tool, m.tlcOptions(), list)
		if err != nil {
			return err
		}
		for k, r := range reports {
			c := cells[of[k]]
			c.Runs++
			switch r.Verdict {
			case tlc.Fail:
				x := r.Rejections[0]
				c.Condition = condition(c.Defect, x.Reason)
				c.red(c.Condition != "", string(x.Event.Action), fmt.Sprintf("line %d: %s", x.Line, x.Reason), r.Trace)
			case tlc.Undecided:
				c.fail(r.Reason)
			}
		}
	}
	for _, c := range cells {
		if c.Outcome != "" {
			continue
		}
		c.Outcome = Missed
		if ctx.Err() != nil {
			c.fail(interrupted + context.Cause(ctx).Error())
		}
	}
	return nil
}

// accepted judges the traces of the same seeds without a defect.
func (m *job) accepted(ctx context.Context, tool tlc.Tool, hunts []*hunt) (Control, error) {
	control := Control{Of: string(Trace), Outcome: Holds}
	var list []*traces.Trace
	var have []string
	for _, h := range hunts {
		for _, seed := range h.met[:min(1, len(h.met))] {
			s := h.tooth.settings(seed)
			s.Defect = ""
			if key := s.Replay(); !slices.Contains(have, key) {
				have = append(have, key)
				t, err := traced(ctx, s)
				if err != nil {
					return control, err
				}
				list = append(list, t)
			}
		}
	}
	reports, err := traces.Validate(ctx, tool, m.tlcOptions(), list)
	if err != nil {
		return control, err
	}
	for _, r := range reports {
		control.Runs++
		switch {
		case r.Verdict == tlc.Fail:
			control.red(r.Rejections[0].Reason, r.Trace)
		case r.Verdict == tlc.Undecided:
			control.undecided(r.Reason)
		}
	}
	return control, nil
}

func (m *job) tlcOptions() traces.Options {
	return traces.Options{Spec: m.o.Spec, Jobs: m.jobs(), Timeout: traceLimit}
}
