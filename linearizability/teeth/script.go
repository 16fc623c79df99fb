package teeth

import (
	"context"
	"slices"

	"purgelab/linearizability/scenario"
)

// WithScenarios adds the layer scenario to the rows whose defect a scenario switches
// on. What has a scenario is caught by it, or else the scenario is worthless.
func WithScenarios(table []Tooth, list []*scenario.Scenario) []Tooth {
	out := slices.Clone(table)
	for i := range out {
		if len(of(list, out[i].Name)) > 0 && !out[i].must(Scenario) {
			out[i].Must = append(slices.Clone(out[i].Must), Scenario)
		}
	}
	return out
}

// of selects the scenarios that switch a defect on.
func of(list []*scenario.Scenario, name string) []*scenario.Scenario {
	var out []*scenario.Scenario
	for _, s := range list {
		if s.Defect == name {
			out = append(out, s)
		}
	}
	return out
}

// scripted fills in the cells of the layer scenario: every way in which a scenario is
// played must go wrong as its file says, and without the defect as it should.
func (m *job) scripted(ctx context.Context, teeth []Tooth, cells []*Cell) Control {
	control := Control{Of: string(Scenario), Outcome: Holds}
	for i, c := range cells {
		if c.Outcome != "" {
			continue
		}
		list := of(m.o.Scenarios, teeth[i].Name)
		if len(list) == 0 {
			c.Outcome, c.Reason = Missed, "no scenario switches it on"
		}
		for _, s := range list {
			m.scenario(ctx, s, c, &control)
		}
		m.step()
	}
	return control
}

func (m *job) scenario(ctx context.Context, s *scenario.Scenario, c *Cell, control *Control) {
	replay := "purgelab scenario " + s.Name
	for _, way := range s.Ways() {
		if err := ctx.Err(); err != nil {
			c.fail(interrupted + err.Error())
			control.undecided(interrupted + err.Error())
			return
		}
		c.Runs++
		switch r := scenario.Play(ctx, s, way, true); {
		case c.Outcome == Missed || c.Outcome == Undecided: // it stays so
		case r.Met():
			c.red(true, s.Red, s.Says, replay+" --defect")
		case r.Undecided != "" && len(r.Red) == 0:
			c.fail(r.Undecided)
		default:
			c.Outcome, c.Property, c.Reason, c.Replay = Missed, "", r.Trouble(), replay+" --defect"
		}
		control.Runs++
		switch r := scenario.Play(ctx, s, way, false); {
		case r.Met():
		case r.Undecided != "" && len(r.Red) == 0:
			control.undecided(r.Undecided)
		default:
			control.red(r.Trouble(), replay)
		}
	}
}
