package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"purgelab/impl/defect"
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
			code := exitPass
			for _, file := range files {
				differs, err := replayFile(cmd, file, defects)
				if err != nil {
					return err
				}
				if differs {
					code = exitViolated
				}
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
func replayFile(cmd *cobra.Command, file string, defects defect.Set) (differs bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return false, &exitError{exitUsage, err}
	}
	defer f.Close()
	out := replayed{File: file}
	err = behaviours.Read(f, file, func(b *behaviours.Behaviour) error {
		if err := cmd.Context().Err(); err != nil {
			return undecidedError("interrupted after %s of %s", plural(out.Behaviours, "behaviour"), file)
		}
		diff, err := replay.Replay(b, defects)
		if err != nil {
			return err
		}
		out.Behaviours++
		out.Actions += len(b.Acts) - 1
		if out.Difference = diff; diff != nil {
			return errDiffers
		}
		return nil
	})
	var exit *exitError
	if err != nil && !errors.Is(err, errDiffers) {
		if !errors.As(err, &exit) {
			err = &exitError{exitUsage, err}
		}
		return false, err
	}
	if jsonWanted(cmd) {
		return out.Difference != nil, writeJSON(cmd.OutOrStdout(), out)
	}
	w := cmd.OutOrStdout()
	if out.Difference == nil {
		_, err = fmt.Fprintf(w, "%s: agree: %s, %s\n", file, plural(out.Behaviours, "behaviour"), plural(out.Actions, "action"))
		return false, err
	}
	_, err = fmt.Fprintf(w, "%s: %v\n", file, out.Difference)
	return true, err
}
