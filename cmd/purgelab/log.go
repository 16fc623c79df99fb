package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"purgelab/linearizability/report"
	"purgelab/linearizability/run"
)

// logger writes to standard error at the level of --log-level. Logs explain a
// run to a person; no check reads them. Lines bear no clock of this machine,
// since what they tell has a time of its own.
func logger(cmd *cobra.Command) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name:        "purgelab",
		Level:       hclog.LevelFromString(cmd.Flag("log-level").Value.String()),
		Output:      cmd.ErrOrStderr(),
		DisableTime: true,
	})
}

// logRun tells a run in the order of simulated time: what does not hold at
// level info, what clients did at debug, and every step of a replica at trace.
func logRun(log hclog.Logger, r *run.Result) {
	type entry struct {
		at  int64
		log func(msg string, args ...any)
		msg string
		kv  []any
	}
	var all []entry
	if log.IsInfo() {
		for _, v := range r.Violations {
			all = append(all, entry{v.At, log.Info, "property violated", []any{"property", v.Property, "text", v.String()}})
		}
	}
	if log.IsDebug() {
		for _, o := range report.Operations(r.History) {
			all = append(all, entry{o.Start, log.Debug, "operation", []any{
				"process", o.Process, "partition", o.Partition, "name", o.Name, "until-ms", o.End, "outcome", o.Outcome, "detail", strings.ReplaceAll(o.Detail, "\n", " "),
			}})
		}
	}
	if log.IsTrace() {
		for _, e := range r.Trace {
			all = append(all, entry{e.Time, log.Trace, "step", []any{
				"replica", e.Replica, "partition", e.Partition, "action", e.Action, "op", e.Op, "kind", e.Kind,
				"generation", e.Generation, "applied", e.Applied, "start", e.Start, "end", e.End,
			}})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	for _, e := range all {
		e.log(e.msg, append([]any{"at-ms", e.at}, e.kv...)...)
	}
}
