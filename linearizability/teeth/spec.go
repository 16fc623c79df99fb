package teeth

import (
	"context"
	"slices"
	"time"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// specLimit bounds one model.
const specLimit = 10 * time.Minute

// WithModels adds to the table what the manifest knows and it does not: a row for a
// defect, or the layer spec to a row. What has a model is caught by it, or else the
// model is worthless.
func WithModels(table []Tooth, list []models.Model) []Tooth {
	out := slices.Clone(table)
	for _, m := range list {
		if m.Defect == "" {
			continue
		}
		i := slices.IndexFunc(out, func(t Tooth) bool { return t.Name == m.Defect })
		switch {
		case i < 0:
			out = append(out, Tooth{Name: m.Defect, Design: designOf(m), Property: m.Expect, Must: onlySpec})
		case !out[i].must(Spec):
			out[i].Must = append(slices.Clone(out[i].Must), Spec)
			out[i].Also = append(slices.Clone(out[i].Also), m.Expect)
		}
	}
	return out
}

// designOf tells from the module which design a model is of.
func designOf(m models.Model) string {
	for _, d := range []struct{ prefix, design string }{{"MCResetRecord", "reset-record"}, {"MCTransferReset", "reset-record"}, {"MCAdvance", "advance"}} {
		if len(m.Module) > len(d.prefix) && m.Module[:len(d.prefix)] == d.prefix {
			return d.design
		}
	}
	return "ordered"
}

// modelOf finds the model in which a defect is switched on.
func modelOf(name string, list []models.Model) (models.Model, bool) {
	i := slices.IndexFunc(list, func(m models.Model) bool { return m.Defect == name })
	if i < 0 {
		return models.Model{}, false
	}
	return list[i], true
}

// sound picks, for each module of the models given, the quickest model of it that
// must pass.
func sound(list, of []models.Model) []models.Model {
	var out []models.Model
	for _, m := range of {
		best := -1
		for i, x := range list {
			if x.Module == m.Module && x.Expect == models.ExpectPass && x.Mode == "check" && (best < 0 || x.Seconds < list[best].Seconds) {
				best = i
			}
		}
		if best >= 0 && !slices.ContainsFunc(out, func(x models.Model) bool { return x.Name == list[best].Name }) {
			out = append(out, list[best])
		}
	}
	return out
}

// modelled fills in the cells of the layer spec, and says what the models without
// a defect do.
func (m *job) modelled(ctx context.Context, tool tlc.Tool, teeth []Tooth, cells []*Cell) Control {
	control := Control{Of: string(Spec), Outcome: Holds}
	var list []models.Model
	var of []int
	for i, c := range cells {
		if c.Outcome != "" {
			continue
		}
		model, ok := modelOf(teeth[i].Name, m.o.Models)
		if !ok {
			c.Outcome, c.Reason = Missed, "spec/manifest.json has no model of it"
			m.step()
			continue
		}
		list, of = append(list, model), append(of, i)
	}
	broken := len(list)
	list = append(list, sound(m.o.Models, list)...)
	done := 0
	models.Check(ctx, tool, list, models.Options{Dir: m.o.Spec, Jobs: m.jobs(), Timeout: specLimit}, func(o models.Outcome) {
		if done < broken {
			ofModel(cells[of[done]], &teeth[of[done]], o)
			m.step()
		} else {
			control.Runs++
			switch o.Verdict {
			case tlc.Fail:
				control.red(o.Problem, "purgelab spec check "+o.Model.Name)
			case tlc.Undecided:
				control.undecided(o.Problem)
			}
		}
		done++
	})
	return control
}

func ofModel(c *Cell, t *Tooth, o models.Outcome) {
	replay := "purgelab spec check " + o.Model.Name
	if o.Result != nil {
		c.States = o.Result.Distinct
	}
	switch {
	case o.Verdict == tlc.Undecided:
		c.fail(o.Problem)
	case o.Got() == models.ExpectPass:
		c.Outcome, c.Reason, c.Replay = Missed, o.Problem, replay
	default:
		// The manifest names the property too, and must name the same.
		c.red(o.Verdict == tlc.Pass && t.names(o.Got()), o.Got(), o.Model.Why, replay)
	}
}
