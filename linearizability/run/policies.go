package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"purgelab/impl/sim"
	"purgelab/impl/transfer"
	"purgelab/linearizability/verdict"
)

// Policies are the sweeps that show what holds under each durability policy: every
// design in which a replica can join again, every policy of messages and of
// bookmarks, every size of a group, with logs that stay whole and with logs that are
// compacted, so that state is moved. Together they must have met what they are for.
type Policies struct {
	Settings Settings // of all; Design, Replicas, Messages, Bookmarks and CompactOps are set
	From, To uint64   // seeds of each sweep
	Jobs     int      // runs at a time; one per core when 0
	// Out is a folder with one for each sweep; see Sweep.Out.
	Out string
	// Progress, if not nil, is called after each run with the runs made so far.
	Progress func(done, total int)
}

// PolicySweep is one of them.
type PolicySweep struct {
	Settings Settings
	Summary  *Summary // nil: not begun
}

// Name of a sweep's folder.
func (s *PolicySweep) Name() string {
	x := &s.Settings
	name := fmt.Sprintf("%s-%d-%s-%s", x.Design, x.Replicas, x.Messages, x.Bookmarks)
	if x.CompactOps > 0 {
		name += "-compacted"
	}
	return name
}

// compactOps makes transfers common where logs are compacted.
const compactOps = 6

// PolicyTable is the sweeps with one kind of log, and the effects that they must have
// seen, summed over all of them: each is a promise that nothing else would have put to
// the test.
type PolicyTable struct {
	Log    string // which kind
	Met    []string
	Sweeps []PolicySweep
}

// Tables sorts sweeps by their logs.
func Tables(all []PolicySweep) []PolicyTable {
	whole, compacted := PolicyTable{Log: "whole", Met: metWhole}, PolicyTable{Log: fmt.Sprintf("compacted to %d ops", compactOps), Met: metCompacted()}
	for _, s := range all {
		t := &whole
		if s.Settings.CompactOps > 0 {
			t = &compacted
		}
		t.Sweeps = append(t.Sweeps, s)
	}
	return []PolicyTable{whole, compacted}
}

var metWhole = []string{
	"replicas that lost their memory", "suspects rejoined", "memberships changed", "incarnations begun", "acknowledged operations lost",
	"disks replaced", "foreign disks refused", "replicas of the plane rejoined",
}

// metCompacted are the fates of transfers, and the reasons for which one may be refused
// though nobody has a bug: no group lets what is committed go back, nor has a later
// incarnation begun where its offer meets a member of an older one, but for an instant.
func metCompacted() []string {
	out := []string{"transfers started", "transfers interrupted", "transfers resumed", "transfers resumed elsewhere", "transfers completed", "purges amid a transfer"}
	for _, r := range []transfer.Reason{
		transfer.OlderIncarnation, transfer.NotAbove, transfer.Contradiction, transfer.WrongChecksum, transfer.WrongChunk, transfer.AnotherOffer,
		transfer.Behind, transfer.Recovering, transfer.Suspect,
	} {
		out = append(out, sim.Refused(r))
	}
	return out
}

// Sweeps lists them, in the order in which they are made.
func (p *Policies) Sweeps() []PolicySweep {
	var out []PolicySweep
	for _, compact := range []int{0, compactOps} {
		for _, design := range []string{"ordered", "advance"} {
			for _, replicas := range []int{1, 3, 5} {
				for _, messages := range []string{"persisted", "replicated"} {
					for _, bookmarks := range []string{"persisted", "replicated"} {
						s := p.Settings
						s.Design, s.Replicas, s.Messages, s.Bookmarks, s.CompactOps = design, replicas, messages, bookmarks, compact
						out = append(out, PolicySweep{Settings: s})
					}
				}
			}
		}
	}
	return out
}

// Run makes the sweeps one after the other. When ctx ends, those that were begun have
// what they found; they go on when Run is called again with the same Out.
func (p *Policies) Run(ctx context.Context) ([]PolicySweep, error) {
	all := p.Sweeps()
	each := int(p.To - p.From + 1)
	for i := range all {
		if ctx.Err() != nil {
			return all, nil
		}
		w := &Sweep{Settings: all[i].Settings, From: p.From, To: p.To, Jobs: p.Jobs}
		if p.Out != "" {
			w.Out = filepath.Join(p.Out, all[i].Name())
		}
		if p.Progress != nil {
			w.Progress = func(s *Summary) { p.Progress(i*each+s.Runs, len(all)*each) }
		}
		var err error
		if all[i].Summary, err = w.Run(ctx); err != nil && ctx.Err() == nil {
			return all, fmt.Errorf("%s: %w", all[i].Name(), err)
		}
	}
	return all, nil
}

// Clear removes what sweeps left in Out if all came to their end, or if anew; what was
// interrupted stays, to go on.
func (p *Policies) Clear(anew bool) error {
	for _, s := range p.Sweeps() {
		if anew {
			break
		}
		text, err := os.ReadFile(filepath.Join(p.Out, s.Name(), stateFile))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		var old Summary
		if err == nil {
			err = json.Unmarshal(text, &old)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", s.Name(), stateFile, err)
		}
		if slices.Contains(old.Done, false) {
			return nil
		}
	}
	for _, s := range p.Sweeps() {
		if err := os.RemoveAll(filepath.Join(p.Out, s.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Sum adds up what sweeps met.
func Sum(list []PolicySweep) (e sim.Effects) {
	for i := range list {
		if s := list[i].Summary; s != nil {
			e.Add(s.Effects)
		}
	}
	return e
}

// Unmet lists what the sweeps must have met, and did not.
func Unmet(list []PolicySweep) []string {
	var out []string
	for _, t := range Tables(list) {
		e := Sum(t.Sweeps)
		e.Each(func(name string, n int) {
			if n == 0 && slices.Contains(t.Met, name) {
				out = append(out, name)
			}
		})
	}
	return out
}

// VerdictOf is that of all sweeps together: those that were made to their end and did
// not meet what they are for have not shown anything, which is a failure.
func VerdictOf(list []PolicySweep) verdict.Verdict {
	v := verdict.Pass
	for i := range list {
		if s := list[i].Summary; s == nil {
			v = verdict.Worst(v, verdict.Undecided)
		} else {
			v = verdict.Worst(v, s.Verdict())
		}
	}
	if v == verdict.Pass && len(Unmet(list)) > 0 {
		return verdict.Fail
	}
	return v
}
