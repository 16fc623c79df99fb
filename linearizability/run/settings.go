// Package run makes one run out of the parts: it builds a simulated cluster,
// lets clients work on it while faults strike, brings it to rest, reads
// everything once more, and judges what was recorded. A sweep is many runs.
//
//	settings.go  what a run is made of; everything is in it, so one line of flags
//	             gives the same run again, to the byte
//	run.go       the phases of a run
//	script.go    what clients do, recorded
//	judge.go     the verdicts
//	files.go     run.json, history.jsonl, trace.ndjson
//	sweep.go     many seeds in parallel, resumable
//
// A run is red if the history is not linearizable, if a named invariant did not
// hold on a replica, if a replica refused its own disk, or if the cluster did
// not come to rest after the faults had stopped. It is undecided if it was
// interrupted or the check ran out of time.
package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/workload"
)

// Settings are everything that a run depends on. The zero value of a field is
// the default that the comment gives; Complete fills it in.
type Settings struct {
	Seed       uint64 `json:"seed"`
	Replicas   int    `json:"replicas"`           // 1, 3 or 5; 3
	Partitions int    `json:"partitions"`         // 1
	Design     string `json:"design"`             // ordered, reset-record or advance; ordered
	Messages   string `json:"messages"`           // persisted, or replicated
	Bookmarks  string `json:"bookmarks"`          // persisted, or replicated
	Positions  string `json:"positions"`          // tagged, or bare
	Clients    int    `json:"clients"`            // 4
	Ops        int    `json:"ops"`                // 300, of all clients together
	PurgeAck   string `json:"purgeAck"`           // applied, accepted, or mixed: some this and some that
	Hold       bool   `json:"hold,omitempty"`     // of admission while a purge is outstanding
	Recreate   int    `json:"recreate,omitempty"` // how many times a partition is created again; 0
	// CompactOps is how many ops a journal holds before it is compacted; 0: it never
	// is. With it a replica that fell behind, or has nothing, gets the state.
	CompactOps int `json:"compactOps,omitempty"`
	// Faults is a class, or the path of a plan; none.
	Faults string `json:"faults"`
	Defect string `json:"defect,omitempty"`
	// Variant of the design reset-record; names with commas between them.
	Variant string `json:"variant,omitempty"`

	// Workload is the path of a script of what clients ask, which then is not drawn, and
	// Ops and Clients are its own; empty: it is drawn.
	Workload string `json:"workload,omitempty"`

	// Plan, if not nil, is used instead of what Faults names.
	Plan *faults.Plan `json:"-"`
	// Script, if not nil, is used instead of what Workload names.
	Script *workload.Script `json:"-"`
	// Timeout bounds the linearizability check; 30 s.
	Timeout time.Duration `json:"timeout"`
	// NoTrace leaves the trace out.
	NoTrace bool `json:"-"`
}

// Complete fills in the defaults and checks every value. Errors name what is
// legal.
func (s *Settings) Complete() error {
	if err := s.loadScript(); err != nil {
		return err
	}
	num := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	word := func(v *string, d string) {
		if *v == "" {
			*v = d
		}
	}
	num(&s.Replicas, 3)
	num(&s.Partitions, 1)
	num(&s.Clients, 4)
	num(&s.Ops, 300)
	word(&s.Design, "ordered")
	word(&s.Messages, "persisted")
	word(&s.Bookmarks, "persisted")
	word(&s.Positions, "tagged")
	word(&s.PurgeAck, "applied")
	word(&s.Faults, string(faults.None))
	if s.Timeout == 0 {
		s.Timeout = 30 * time.Second
	}
	if s.Replicas != 1 && s.Replicas != 3 && s.Replicas != 5 {
		return fmt.Errorf("replicas %d: want 1, 3 or 5", s.Replicas)
	}
	for _, n := range []struct {
		name     string
		v, limit int
	}{{"partitions", s.Partitions, 64}, {"clients", s.Clients, 64}, {"ops", s.Ops, 10_000_000}} {
		if n.v < 1 || n.v > n.limit {
			return fmt.Errorf("%s %d: want 1 to %d", n.name, n.v, n.limit)
		}
	}
	if s.Script != nil && s.Script.Partitions() > s.Partitions {
		return fmt.Errorf("partitions %d: want %d or more, which the workload is for", s.Partitions, s.Script.Partitions())
	}
	if s.Recreate < 0 || s.Recreate > 64 {
		return fmt.Errorf("recreate %d: want 0 to 64", s.Recreate)
	}
	if s.CompactOps < 0 || s.CompactOps > 1_000_000 {
		return fmt.Errorf("compact-ops %d: want 0 to 1000000", s.CompactOps)
	}
	for _, w := range []struct {
		name, v string
		legal   []string
	}{
		{"design", s.Design, []string{"ordered", "reset-record", "advance"}},
		{"messages", s.Messages, []string{"persisted", "replicated"}},
		{"bookmarks", s.Bookmarks, []string{"persisted", "replicated"}},
		{"positions", s.Positions, []string{"tagged", "bare"}},
		{"purge-ack", s.PurgeAck, []string{"applied", "accepted", "mixed"}},
	} {
		if !slices.Contains(w.legal, w.v) {
			return fmt.Errorf("%s %q: want %s", w.name, w.v, strings.Join(w.legal, " or "))
		}
	}
	if s.Design == "advance" && s.PurgeAck != "applied" {
		return fmt.Errorf("purge-ack %q: want applied with design advance, which has no intents", s.PurgeAck)
	}
	variants, err := replica.ParseVariants(s.Variant)
	if err != nil {
		return err
	}
	if s.Variant = variants.String(); s.Variant != "" && s.Design != "reset-record" {
		return fmt.Errorf("variant %q: want none with design %s", s.Variant, s.Design)
	}
	if _, err := defect.Parse(s.Defect); err != nil {
		return err
	}
	if s.volatile() && s.Recreate > 0 {
		return fmt.Errorf("recreate %d: want 0 with design %s and a policy that is replicated", s.Recreate, s.Design)
	}
	if err := s.loadPlan(); err != nil || s.Plan == nil {
		return err
	}
	if k := s.Plan.Losing(); len(k) > 0 && !s.rejoins() {
		return fmt.Errorf("faults: a plan for design %s has none of the kinds %v: its replicas cannot join again", s.Design, k)
	}
	if !s.volatile() {
		return nil
	}
	if kept, _ := s.Plan.Together(s.Replicas); len(kept.Faults) < len(s.Plan.Faults) {
		return fmt.Errorf("faults: a plan for design %s with a policy that is replicated takes the power from all %d replicas together or from none, and breaks no disk", s.Design, s.Replicas)
	}
	return nil
}

// volatile: op numbers begin anew when all machines lose power, and fewer than all
// must not.
func (s *Settings) volatile() bool {
	return s.Design == "reset-record" && (s.Messages == "replicated" || s.Bookmarks == "replicated")
}

// rejoins: a replica that lost its memory can join again.
func (s *Settings) rejoins() bool { return s.Design != "reset-record" }

// draw plans the faults of the class that Faults names.
func (s *Settings) draw() (*faults.Plan, error) {
	class := faults.Class(s.Faults)
	p, err := faults.Draw(class, s.Replicas, span(s), sim.Split(s.Seed, "faults"))
	if err != nil {
		return nil, err
	}
	if s.CompactOps > 0 {
		p.SpoilTransfers(class, span(s), sim.Split(s.Seed, "transfers"))
	}
	if !s.rejoins() {
		return p.Keeping(), nil
	}
	p.LoseMemory(class, s.Replicas, span(s), sim.Split(s.Seed, "memory"))
	p.LoseBases(class, span(s), sim.Split(s.Seed, "bases"))
	p.ForgetNames(sim.Split(s.Seed, "names"))
	p.LoseProposals(class, s.Replicas, span(s), sim.Split(s.Seed, "proposals"))
	return p, nil
}

// FaultKinds lists the kinds of fault that may strike.
func (s *Settings) FaultKinds() []faults.Kind {
	if s.Plan != nil {
		return s.Plan.Kinds()
	}
	kinds := faults.Class(s.Faults).Kinds(s.Replicas)
	if s.CompactOps == 0 {
		kinds = slices.DeleteFunc(kinds, func(k faults.Kind) bool { return k == faults.SpoilTransfer })
	}
	if !s.rejoins() {
		kinds = slices.DeleteFunc(kinds, func(k faults.Kind) bool { return k.Forgets() || k == faults.DropProposals })
	}
	if p, err := s.policy(); !s.rejoins() || err == nil && p == (replica.Policy{}) {
		kinds = slices.DeleteFunc(kinds, func(k faults.Kind) bool { return k == faults.LoseBase })
	}
	return kinds
}

func (s *Settings) policy() (p replica.Policy, err error) {
	if p.Messages, err = replica.ParseDurability(s.Messages); err == nil {
		p.Bookmarks, err = replica.ParseDurability(s.Bookmarks)
	}
	return p, err
}

// loadPlan reads the plan that Faults names, if it names a file.
func (s *Settings) loadPlan() error {
	if s.Plan != nil {
		return nil
	}
	for _, c := range faults.Classes {
		if s.Faults == string(c) {
			return nil
		}
	}
	f, err := os.Open(s.Faults)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(s.Faults, "./") {
		return fmt.Errorf("faults %q: want one of %v, or a file", s.Faults, faults.Classes)
	}
	if err != nil {
		return fmt.Errorf("faults: %w", err)
	}
	defer f.Close()
	s.Plan, err = faults.Parse(s.Faults, f, s.Replicas)
	return err
}

// loadScript reads the script that Workload names.
func (s *Settings) loadScript() error {
	if s.Script == nil && s.Workload != "" {
		f, err := os.Open(s.Workload)
		if err != nil {
			return fmt.Errorf("workload: %w", err)
		}
		defer f.Close()
		if s.Script, err = workload.Parse(s.Workload, f); err != nil {
			return err
		}
	}
	if s.Script != nil {
		s.Ops, s.Clients = len(s.Script.Steps), s.Script.Clients()
	}
	return nil
}

// Flags are the arguments of the command line that make this run, without the
// seed; defaults are left out.
func (s *Settings) Flags() []string {
	var out []string
	num := func(name string, v, d int) {
		if v != d {
			out = append(out, "--"+name, strconv.Itoa(v))
		}
	}
	word := func(name, v, d string) {
		if v != d {
			out = append(out, "--"+name, v)
		}
	}
	num("replicas", s.Replicas, 3)
	num("partitions", s.Partitions, 1)
	word("design", s.Design, "ordered")
	word("messages", s.Messages, "persisted")
	word("bookmarks", s.Bookmarks, "persisted")
	word("variant", s.Variant, "")
	word("positions", s.Positions, "tagged")
	if s.Script == nil {
		num("clients", s.Clients, 4)
		num("ops", s.Ops, 300)
	}
	word("workload", s.Workload, "")
	word("faults", s.Faults, string(faults.None))
	word("defect", s.Defect, "")
	word("purge-ack", s.PurgeAck, "applied")
	num("recreate", s.Recreate, 0)
	num("compact-ops", s.CompactOps, 0)
	if s.Hold {
		out = append(out, "--hold")
	}
	return out
}

// Replay is the command that makes this run again.
func (s *Settings) Replay() string {
	return strings.Join(append([]string{"purgelab", "run", "--seed", strconv.FormatUint(s.Seed, 10)}, s.Flags()...), " ")
}

// ReplayOf is the command that judges a property of this run again: of the trace a sweep
// does, of the one seed.
func (s *Settings) ReplayOf(property string) string {
	if property != TraceAccepted {
		return s.Replay()
	}
	return strings.Join(append([]string{"purgelab", "sweep", "--seeds", fmt.Sprintf("%d..%[1]d", s.Seed), "--traces"}, s.Flags()...), " ")
}
