package behaviours

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"purgelab/impl/observe"
	"purgelab/model/op"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// printing extends a module SIM*.tla, which defines SimShown, the variables that an
// implementation has to show, and Taken, which is evaluated once for each state that
// TLC goes on from.
const printing = `---- MODULE Behaviours ----
EXTENDS %s
PrintFrom == PrintT(ToString(<<"FROM", last, SimShown>>))
PrintTo == PrintT(ToString(<<"TO", last', SimShown'>>))
====
`

// shortSeconds is up to how long a model counts as a short one.
const shortSeconds = 10

// NotDrivableError is a model of which no behaviours can be read off.
type NotDrivableError struct{ Model, Module, Want string }

func (e *NotDrivableError) Error() string {
	return fmt.Sprintf("model %s: its module is %s: want %s", e.Model, e.Module, e.Want)
}

// modules of the specification from which behaviours can be read off, with the design and
// how many replicas there are.
var modules = map[string]Header{
	"SIMOrdered.tla":                 {Design: "ordered"},
	"SIMTransfer.tla":                {Design: "ordered"},
	"SIMAdvance.tla":                 {Design: "advance"},
	"SIMTransferAdvance.tla":         {Design: "advance"},
	"SIMResetRecord.tla":             {Design: "reset-record"},
	"SIMTransferReset.tla":           {Design: "reset-record"},
	"SIMOrderedGroup.tla":            {Design: "ordered", Replicas: 3},
	"SIMLiveness.tla":                {Design: "ordered", Replicas: 3},
	"SIMTransferLiveness.tla":        {Design: "ordered", Replicas: 3},
	"SIMOrderedGroupSuccession.tla":  {Design: "ordered", Replicas: 3},
	"SIMAdvanceGroupSuccession.tla":  {Design: "advance", Replicas: 3},
	"SIMAdvanceGroup.tla":            {Design: "advance", Replicas: 3},
	"SIMResetRecordGroup.tla":        {Design: "reset-record", Replicas: 3},
	"SIMTransferResetGroup.tla":      {Design: "reset-record", Replicas: 3},
	"SIMTransferGroupSuccession.tla": {Design: "ordered", Replicas: 3},
	"SIMTransferGroup.tla":           {Design: "ordered", Replicas: 3},
	"SIMTransferAdvanceGroup.tla":    {Design: "advance", Replicas: 3},
	"SIMRecovery.tla":                {Design: "ordered", Replicas: 3},
	"SIMAgreedLog.tla":               {Design: "ordered", Replicas: 3},
}

// headerOf heads the behaviours of a model.
func headerOf(m models.Model) (Header, error) {
	if h, ok := modules[m.Module]; ok {
		h.Model = m.Name
		return h, nil
	}
	return Header{}, &NotDrivableError{m.Name, m.Module, "one of SIM*.tla"}
}

// Simulable tells whether behaviours of a model can be read off.
func Simulable(m models.Model) error {
	_, err := headerOf(m)
	return err
}

// explore runs a model with its prints read off; more is added to the configuration.
func explore(ctx context.Context, tool tlc.Tool, spec string, m models.Model, o tlc.Options, more string, line func(mark string, last, shown string)) error {
	dir, err := os.MkdirTemp("", "purgelab-behaviours-")
	if err != nil {
		return fmt.Errorf("behaviours: %w", err)
	}
	defer os.RemoveAll(dir)
	cfg, err := os.ReadFile(filepath.Join(spec, m.Cfg))
	if err != nil {
		return fmt.Errorf("behaviours: model %s: %w", m.Name, err)
	}
	module := fmt.Sprintf(printing, strings.TrimSuffix(m.Module, ".tla"))
	if err := os.WriteFile(filepath.Join(dir, "Behaviours.tla"), []byte(module), 0o666); err != nil {
		return fmt.Errorf("behaviours: %w", err)
	}
	text := string(cfg) + "\nCONSTANT Taken <- PrintFrom\n" + more
	if err := os.WriteFile(filepath.Join(dir, "Behaviours.cfg"), []byte(text), 0o666); err != nil {
		return fmt.Errorf("behaviours: %w", err)
	}
	library, err := filepath.Abs(spec)
	if err != nil {
		return fmt.Errorf("behaviours: %w", err)
	}
	var bad error
	o.Dir, o.Module, o.Config, o.Library, o.Deadlock = dir, "Behaviours.tla", "Behaviours.cfg", []string{library}, true
	o.Short = m.Seconds > 0 && m.Seconds <= shortSeconds && o.Simulate <= 1000
	o.Line = func(s string) {
		if mark, last, shown, ok := printed(s); ok {
			line(mark, last, shown)
		} else if bad == nil && strings.Contains(s, `<<\"`) {
			bad = fmt.Errorf("behaviours: model %s: malformed line %q", m.Name, clipped(s))
		}
	}
	res, err := tlc.Run(ctx, tool, o)
	switch {
	case err != nil:
		return fmt.Errorf("behaviours: model %s: %w", m.Name, err)
	case res.Verdict != tlc.Pass:
		return fmt.Errorf("behaviours: model %s: TLC: %v %s %s", m.Name, res.Verdict, res.Property, res.Reason)
	}
	return bad
}

// printed takes a line of PrintFrom or PrintTo apart.
func printed(s string) (mark, last, shown string, ok bool) {
	s, ok = strings.CutPrefix(s, `"<<\"`)
	if !ok {
		return "", "", "", false
	}
	s = strings.ReplaceAll(strings.TrimSuffix(s, `>>"`), `\"`, `"`)
	mark, rest, ok := strings.Cut(s, `", `)
	if !ok {
		return "", "", "", false
	}
	// The record of last ends where its brackets close.
	depth := 0
	for i := range len(rest) {
		switch rest[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return mark, rest[:i+1], strings.TrimPrefix(rest[i+1:], ", "), true
			}
		}
	}
	return "", "", "", false
}

// Simulate has TLC draw that many behaviours of a model, each of at most steps acts,
// and hands them to use. The same seed draws the same ones.
func Simulate(ctx context.Context, tool tlc.Tool, spec string, m models.Model, count, steps int, seed int64, use func(*Behaviour) error) error {
	h, err := headerOf(m)
	if err != nil {
		return err
	}
	h.Seed = seed
	var b *Behaviour
	var bad error
	flush := func() {
		if b != nil && bad == nil {
			bad = use(b)
		}
		b = nil
	}
	err = explore(ctx, tool, spec, m, tlc.Options{Simulate: count, Depth: steps, Seed: seed}, "", func(_, last, shown string) {
		a, err := newAct(last, shown)
		if err != nil && bad == nil {
			bad = fmt.Errorf("behaviours: model %s: %w", m.Name, err)
		}
		if bad != nil {
			return
		}
		if a.Action == "Init" {
			flush()
			h.Number++
			b = &Behaviour{Header: h}
		}
		b.add(a)
	})
	if err == nil {
		flush()
		err = bad
	}
	return err
}

// newAct reads what was printed of a step.
func newAct(last, shown string) (Act, error) {
	with, err := tlc.ParseValue(last)
	if err != nil {
		return Act{}, err
	}
	state, err := tlc.ParseValue(shown)
	if err != nil {
		return Act{}, err
	}
	a := parameters(with)
	a.State = plain(state).(map[string]any)
	a.fill()
	return a, nil
}

// parameters are what the variable last says of an act.
func parameters(last tlc.Value) Act {
	a := Act{With: plain(last).(map[string]any)}
	a.Action = observe.Action(text(a.With["a"]))
	delete(a.With, "a")
	return a
}

// fill sets the fields of the schema of traces.
func (a *Act) fill() {
	if a.Replica = 1; a.With["r"] != nil {
		fmt.Sscanf(text(a.With["r"]), "r%d", &a.Replica)
	}
	effect, _ := a.With["e"].(map[string]any)
	if effect != nil {
		a.Kind, a.Key = text(effect["k"]), text(effect["key"])
		a.Count = number(effect["n"])
		a.Offset = op.Offset(number(effect["base"]) + number(effect["o"]))
		if a.Kind == "none" {
			a.Kind = "other"
		}
	}
	mem, _ := a.State["mem"].(map[string]any)
	a.Op, a.Generation = op.Number(number(a.With["n"])), op.Generation(number(a.With["g"]))
	if a.Generation == 0 && a.Action != "Reclaim" {
		a.Generation = op.Generation(number(mem["gen"]))
	}
	a.Applied, a.Start, a.End = op.Number(number(mem["applied"])), op.Offset(number(mem["start"])), op.Offset(number(mem["end"]))
}

// add appends an act, at the next time.
func (b *Behaviour) add(a Act) {
	a.Time = int64(len(b.Acts))
	b.Acts = append(b.Acts, a)
}

func text(v any) string { s, _ := v.(string); return s }

func number(v any) int { f, _ := v.(float64); return int(f) }

// plain is a TLA+ value as JSON has it: numbers are float64, strings and model values
// string, sequences and sets []any, the latter sorted, records and functions
// map[string]any.
func plain(v tlc.Value) any {
	switch v.Shape {
	case tlc.Atom:
		if s, err := strconv.Unquote(v.Text); err == nil {
			return s
		}
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil {
			return f
		}
		if v.Text == "TRUE" || v.Text == "FALSE" {
			return v.Text == "TRUE"
		}
		if from, to, ok := strings.Cut(v.Text, ".."); ok {
			a, _ := strconv.Atoi(from)
			b, _ := strconv.Atoi(to)
			out := []any{}
			for ; a <= b; a++ {
				out = append(out, float64(a))
			}
			return out
		}
		return v.Text
	case tlc.Set, tlc.Tuple:
		out := []any{}
		for _, it := range v.Items {
			out = append(out, plain(it))
		}
		if v.Shape == tlc.Set {
			sort.Slice(out, func(i, j int) bool { return fmt.Sprint(out[i]) < fmt.Sprint(out[j]) })
		}
		return out
	}
	out := map[string]any{}
	for i, it := range v.Items {
		out[strings.Trim(v.Keys[i].Text, `"`)] = plain(it)
	}
	return out
}
