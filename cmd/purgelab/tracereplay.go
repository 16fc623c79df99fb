package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"purgelab/impl/defect"
	"purgelab/linearizability/verdict"
	"purgelab/traces/behaviours"
	"purgelab/traces/replay"
)

// newTraceReplayCmd is "purgelab trace replay".
func newTraceReplayCmd() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Lead the implementation through behaviours of the specification",
		Long: `Lead a replica of the implementation through behaviours that 'purgelab trace
behaviours' wrote: deliver this op, take that step, crash here and keep exactly
these unsynced facts, boot. After every action the state read from the replica and
its disk must be the specification's, field by field; the first difference is the
verdict. How each action is taken is in docs/replay.md.

Exit code: 0 agree, 1 a difference, 2 undecided, 3 a malformed file, by line.`,
		Example: "  purgelab trace replay out/behaviours/sim-ordered-7.ndjson",
		Args:    someOf("FILE"),
		RunE: func(cmd *cobra.Command, files []string) error {
			defects, err := defect.Parse(name)
			if err != nil {
				return usageError("--defect: %w", err)
			}
			b := newBarOf(cmd.ErrOrStderr(), -1, "replay", "behaviours")
			defer b.done()
			begun, all, code := time.Now(), replayed{}, exitPass
			for _, file := range files {
				one, err := replayFile(cmd, file, defects, b)
				if err != nil {
					return err
				}
				b.clear()
				if err := one.print(cmd); err != nil {
					return err
				}
				if one.Difference != nil {
					code = exitViolated
				}
				all.Behaviours, all.Actions = all.Behaviours+one.Behaviours, all.Actions+one.Actions
			}
			b.done()
			if took := time.Since(begun).Seconds(); !jsonWanted(cmd) {
				fmt.Fprintf(cmd.OutOrStdout(), "\n%s, %s replayed in %.1f s, %.0f actions a second\n",
					plural(all.Behaviours, "behaviour"), plural(all.Actions, "action"), took, float64(all.Actions)/took)
			}
			return exitWith(code)
		},
	}
	cmd.Flags().StringVar(&name, "defect", "", "switch a bug on in the implementation")
	return cmd
}

// replayed is what came of a file.
type replayed struct {
	File       string             `json:"file"`
	Behaviours int                `json:"behaviours"` // replayed
	Actions    int                `json:"actions"`    // of them
	Difference *replay.Difference `json:"difference,omitempty"`
}

var errDiffers = errors.New("differs")

// replayFile replays the behaviours of a file up to the first difference.
func replayFile(cmd *cobra.Command, file string, defects defect.Set, b *bar) (out replayed, err error) {
	out.File = file
	f, err := os.Open(file)
	if err != nil {
		return out, &exitError{exitUsage, err}
	}
	defer f.Close()
	err = behaviours.Read(f, file, func(x *behaviours.Behaviour) error {
		if err := cmd.Context().Err(); err != nil {
			return undecidedError("interrupted after %s of %s", plural(out.Behaviours, "behaviour"), file)
		}
		diff, err := replay.Replay(x, defects)
		if err != nil {
			line := x.Line
			if misread := (*replay.MisreadError)(nil); errors.As(err, &misread) {
				line = misread.Line
			}
			return fmt.Errorf("%s:%d: %w", file, line, err)
		}
		b.step()
		out.Behaviours++
		out.Actions += len(x.Acts) - 1
		if out.Difference = diff; diff != nil {
			return errDiffers
		}
		return nil
	})
	var exit *exitError
	if err == nil || errors.Is(err, errDiffers) {
		return out, nil
	}
	if !errors.As(err, &exit) {
		err = &exitError{exitUsage, err}
	}
	return out, err
}

// print prints what came of a file.
func (r *replayed) print(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	if jsonWanted(cmd) {
		v := verdict.Pass
		if r.Difference != nil {
			v = verdict.Fail
		}
		return writeJSON(w, struct {
			*replayed
			Verdict verdict.Verdict `json:"verdict"`
		}{r, v})
	}
	text := fmt.Sprintf("agree: %s, %s", plural(r.Behaviours, "behaviour"), plural(r.Actions, "action"))
	if r.Difference != nil {
		text = r.Difference.Error()
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", r.File, text)
	return err
}
