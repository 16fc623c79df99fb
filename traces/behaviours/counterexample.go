package behaviours

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// local are the modules of bounded models of one replica: what makes a model of one of
// them drivable, as the module SIM*.tla of the same design is.
var local = map[string]struct{ module, constants string }{
	"MCOrderedLocal.tla": {"SIMOrdered.tla", "Covered <- SimCovered"},
	"MCTransfer.tla":     {"SIMTransfer.tla", "Covered <- SimCovered\n Offered <- SimOffered"},
	"MCAdvance.tla":      {"SIMAdvance.tla", "Covered <- SimCovered"},
	"MCResetRecord.tla":  {"SIMResetRecord.tla", "SyncedTo <- SimSyncedTo\n Fitting <- SimFitting"},
}

// counting counts what the model counts, crashes for example, since there it limits them.
const counting = `---- MODULE Counterexample ----
EXTENDS %s
Counted == <<View, SimView>>
====
`

// HoldsError is a model that has no counterexample.
type HoldsError struct{ Model string }

func (e *HoldsError) Error() string {
	return fmt.Sprintf("model %s: what it is asked holds: want a model that violates a property", e.Model)
}

// Drivable tells whether Counterexample can be asked for a model: one of one replica.
func Drivable(m models.Model) error {
	if _, ok := local[m.Module]; !ok {
		return &NotDrivableError{m.Name, m.Module, "MCOrderedLocal.tla, MCTransfer.tla, MCAdvance.tla or MCResetRecord.tla"}
	}
	return nil
}

// Counterexample has TLC find a shortest behaviour of a model of one replica that
// violates the property of the model, which it names. Of what the design leaves open it
// is the way in which the implementation does it, as in SIM*.tla.
func Counterexample(ctx context.Context, tool tlc.Tool, spec string, m models.Model) (*Behaviour, string, error) {
	if err := Drivable(m); err != nil {
		return nil, "", err
	}
	at := local[m.Module]
	cfg, err := os.ReadFile(filepath.Join(spec, m.Cfg))
	if err != nil {
		return nil, "", fmt.Errorf("behaviours: model %s: %w", m.Name, err)
	}
	text := string(cfg)
	for _, x := range []struct{ was, is string }{{"SPECIFICATION ", "SPECIFICATION SimSpec"}, {"VIEW ", "VIEW Counted"}} {
		before, rest, ok := strings.Cut(text, x.was)
		_, after, _ := strings.Cut(rest, "\n")
		if !ok || strings.Contains(after, x.was) {
			return nil, "", fmt.Errorf("behaviours: model %s: %s: want %q once", m.Name, m.Cfg, x.was)
		}
		text = before + x.is + "\n" + after
	}
	text += "\nCONSTANTS " + at.constants + "\n"
	dir, err := os.MkdirTemp("", "purgelab-counterexample-")
	if err != nil {
		return nil, "", fmt.Errorf("behaviours: %w", err)
	}
	defer os.RemoveAll(dir)
	module := fmt.Sprintf(counting, strings.TrimSuffix(at.module, ".tla"))
	for name, text := range map[string]string{"Counterexample.tla": module, "Counterexample.cfg": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return nil, "", fmt.Errorf("behaviours: %w", err)
		}
	}
	library, err := filepath.Abs(spec)
	if err != nil {
		return nil, "", fmt.Errorf("behaviours: %w", err)
	}
	res, err := tlc.Run(ctx, tool, tlc.Options{Dir: dir, Module: "Counterexample.tla", Config: "Counterexample.cfg", Library: []string{library}, Deadlock: true, Short: true})
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("behaviours: model %s: %w", m.Name, err)
	case res.Verdict == tlc.Pass:
		return nil, "", &HoldsError{m.Name}
	case res.Verdict != tlc.Fail:
		return nil, "", fmt.Errorf("behaviours: model %s: TLC: %v %s", m.Name, res.Verdict, res.Reason)
	}
	h := modules[at.module]
	h.Model, h.Number = m.Name, 1
	b := &Behaviour{Header: h}
	for _, s := range res.Trace {
		if s.Back > 0 || len(s.State) == 0 {
			return nil, "", fmt.Errorf("behaviours: model %s: the counterexample goes on for ever", m.Name)
		}
		b.add(actOf(s))
	}
	return b, res.Property, nil
}

// actOf is a state of a counterexample with what led to it. What only properties look
// at is no part of it.
func actOf(s tlc.Step) Act {
	last, _ := s.Lookup("last")
	a := parameters(last)
	a.State = map[string]any{}
	for _, x := range s.State {
		if x.Name != "last" && !strings.HasPrefix(x.Name, "ghost_") {
			a.State[x.Name] = plain(x.Value)
		}
	}
	a.fill()
	return a
}
