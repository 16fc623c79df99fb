package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"purgelab/traces/behaviours"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// behavioursAsked is what "purgelab trace behaviours" is asked for.
type behavioursAsked struct {
	model, out   string
	count, steps int
	seed         int64
	cover        bool
	// counterexample: of a model that violates a property.
	counterexample bool
}

// newTraceBehavioursCmd is "purgelab trace behaviours".
func newTraceBehavioursCmd() *cobra.Command {
	o := behavioursAsked{steps: 30, seed: 1}
	cmd := &cobra.Command{
		Use:   "behaviours --model NAME (--count N | --cover | --counterexample) --out DIR",
		Short: "Write behaviours of the specification, to be replayed on the implementation",
		Long: `Write behaviours of a model, as TLC finds them: --count of them
drawn by chance, the same ones for the same --seed, or with --cover a set that
together takes every transition of the model. The models are those of the modules
SIM*.tla, see 'purgelab spec list'.

With --counterexample the model is one whose specification has a defect, such as
defect-marker-no-dirsync of one replica or defect-stale-read of a group, or one that
shows what a design cannot give, such as limit-reset-record-offset. What TLC finds
becomes a scenario, tlc-<defect>.txt (docs/scenarios.md): a replica or a group is led
the same way, with the defect of that name and without it, and what was done is judged
by the specification again. docs/replay.md says which models are led.

Behaviours go into <model>-<seed>.ndjson or <model>-cover.ndjson, in the schema of
docs/replay.md: of each action its name, its parameters, and the state after it.
'purgelab trace replay' leads the implementation through them.`,
		Example: "  purgelab trace behaviours --model sim-ordered --count 100 --seed 7 --out out/behaviours\n" +
			"  purgelab trace behaviours --model sim-ordered --cover --out out/behaviours\n" +
			"  purgelab trace behaviours --model defect-marker-no-dirsync --counterexample --out out/behaviours",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.model == "" || o.out == "" {
				return usageError("--model %q, --out %q: want a model and a folder", o.model, o.out)
			}
			kinds := 0
			for _, x := range []bool{o.count > 0, o.cover, o.counterexample} {
				if x {
					kinds++
				}
			}
			if kinds != 1 {
				return usageError("--count %d, --cover %v, --counterexample %v: want one of them", o.count, o.cover, o.counterexample)
			}
			if o.steps < 1 {
				return usageError("--steps %d: want at least 1", o.steps)
			}
			return writeBehaviours(cmd, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", "", "model of the specification")
	f.IntVar(&o.count, "count", 0, "behaviours to draw")
	f.IntVar(&o.steps, "steps", o.steps, "actions of a drawn behaviour at most")
	f.Int64Var(&o.seed, "seed", o.seed, "seed of what is drawn")
	f.BoolVar(&o.cover, "cover", false, "take every transition of the model")
	f.BoolVar(&o.counterexample, "counterexample", false, "a counterexample, as a scenario")
	f.StringVar(&o.out, "out", "", "folder for the behaviours")
	return cmd
}

// writeBehaviours writes a file, whole or not at all.
func writeBehaviours(cmd *cobra.Command, o behavioursAsked) error {
	root, list, err := loadModels()
	if err != nil {
		return err
	}
	if list, err = models.Select(list, models.Tiers[len(models.Tiers)-1], []string{o.model}); err != nil {
		return usageError("--model: %w", err)
	}
	m := list[0]
	if o.counterexample {
		err = behaviours.Drivable(m)
	} else {
		err = behaviours.Simulable(m)
	}
	if err == nil && o.cover && m.Mode != "check" {
		err = fmt.Errorf("model %s: it has too many transitions to take each: draw some with --count", m.Name)
	}
	if err != nil {
		return usageError("--model: %w", err)
	}
	tool, err := findTLC(cmd.Context(), root, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := makeFolder("out", o.out); err != nil {
		return err
	}
	if o.counterexample {
		return writeCounterexample(cmd, tool, filepath.Join(root, "spec"), m, o.out)
	}
	name := fmt.Sprintf("%s-%d.ndjson", m.Name, o.seed)
	if o.cover {
		name = m.Name + "-cover.ndjson"
	}
	path := filepath.Join(o.out, name)
	file, err := os.Create(path + ".new")
	if err != nil {
		return usageError("--out: %w", err)
	}
	found, err := findBehaviours(cmd, tool, filepath.Join(root, "spec"), m, o, file)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(path+".new", path)
	} else {
		os.Remove(path + ".new")
	}
	if err != nil && interrupted(cmd.Context(), err) {
		return undecidedError("interrupted")
	} else if err != nil {
		return undecidedError("%w", err)
	}
	if jsonWanted(cmd) {
		found.File = path
		return writeJSON(cmd.OutOrStdout(), found)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s  %v\n", path, found)
	return err
}

// foundBehaviours is what was written to a file.
type foundBehaviours struct {
	File        string `json:"file"`
	Behaviours  int    `json:"behaviours"`
	Actions     int    `json:"actions"`
	Seed        int64  `json:"seed,omitempty"`        // of what was drawn
	Transitions int    `json:"transitions,omitempty"` // each of which is taken
	States      int    `json:"states,omitempty"`
}

func (f foundBehaviours) String() string {
	text := fmt.Sprintf("%s, %s", plural(f.Behaviours, "behaviour"), plural(f.Actions, "action"))
	if f.States == 0 {
		return fmt.Sprintf("%s, seed %d", text, f.Seed)
	}
	return fmt.Sprintf("%s, take each of %s between %s", text, plural(f.Transitions, "transition"), plural(f.States, "state"))
}

// findBehaviours writes behaviours to file and says what it wrote.
func findBehaviours(cmd *cobra.Command, tool tlc.Tool, spec string, m models.Model, o behavioursAsked, file *os.File) (found foundBehaviours, err error) {
	ctx, w := cmd.Context(), behaviours.NewWriter(file)
	total := o.count
	if o.cover {
		total = -1 // not known before
	}
	b := newBarOf(cmd.ErrOrStderr(), total, m.Name, "behaviours")
	defer b.done()
	write := func(x *behaviours.Behaviour) error {
		b.step()
		found.Behaviours++
		found.Actions += len(x.Acts) - 1
		return w.Write(x)
	}
	if o.cover {
		g, err := behaviours.Explore(ctx, tool, spec, m)
		if err != nil {
			return found, err
		}
		found.Transitions, found.States = g.Transitions(), g.States()
		err = g.Cover(write)
		return found, errors.Join(err, w.Close())
	}
	found.Seed = o.seed
	err = behaviours.Simulate(ctx, tool, spec, m, o.count, o.steps, o.seed, write)
	return found, errors.Join(err, w.Close())
}
