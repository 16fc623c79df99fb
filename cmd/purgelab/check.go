package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/foreign/contract"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

// newCheckCmd is "purgelab check".
func newCheckCmd() *cobra.Command {
	semantics := newChoice(contract.Contracts[0].Name, contract.Names()...)
	format := newChoice(string(foreign.Auto), foreign.Formats...)
	var allow []string
	var timeout time.Duration
	var html, certificate, verify string
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Judge recorded histories, ours or another system's",
		Long: `Judge recorded histories: is there an order of the operations, each at one
instant between its call and its return, in which a partition that keeps the
contract gives exactly the recorded answers? docs/history.md describes the files
and docs/contract.md the contract; docs/foreign.md the formats and contracts of
other systems. Files may be packed by gzip or zstd.

What a history does not tell is not judged, and the output lists it.

Exit code: 0 every history is linearizable, 1 one is not, 2 undecided, 3 a file
cannot be read: its name, the line and what was wanted are printed.`,
		Example: `  purgelab check out/seven/history.jsonl
  purgelab check theirs.jsonl --semantics continue --html why.html
  purgelab check jepsen/history.edn --semantics continue --allow holes
  purgelab check purges.csv --semantics nats
  purgelab check out/seven/history.jsonl --certificate seven.order
  purgelab check out/seven/history.jsonl --verify seven.order`,
		Args: someOf("FILE"),
		RunE: func(cmd *cobra.Command, files []string) error {
			debug.SetGCPercent(check.GCPercent)
			c, err := contract.Find(semantics.value)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if c, err = c.Weaken(allow); err != nil {
				return &exitError{exitUsage, fmt.Errorf("--allow: %w", err)}
			}
			if (certificate != "" || verify != "") && len(files) > 1 {
				return usageError("a certificate is that of one history, got %d", len(files))
			}
			if verify != "" {
				v, err := verifyFile(cmd, files[0], verify, foreign.Format(format.value), &c)
				if err != nil {
					return err
				}
				return exitWith(v.ExitCode())
			}
			code := exitPass
			for _, name := range files {
				o := contract.Options{Timeout: timeout}
				if html != "" {
					o.HTML = pages(html, name, len(files) > 1, cmd.ErrOrStderr())
				}
				v, err := checkFile(cmd, name, foreign.Format(format.value), &c, o, certificate)
				if err != nil {
					return err
				}
				code = worse(code, v.ExitCode())
			}
			return exitWith(code)
		},
	}
	cmd.Flags().Var(semantics, "semantics", "the contract of a purge: "+semantics.list())
	completeChoices(cmd, "semantics", semantics)
	cmd.Flags().Var(format, "format", "how the files are written: "+format.list())
	completeChoices(cmd, "format", format)
	cmd.Flags().StringSliceVar(&allow, "allow", nil, "promises that the system does not give: "+strings.Join(contract.OptionNames(), ", "))
	completeList(cmd, "allow", contract.OptionNames())
	cmd.Flags().DurationVar(&timeout, "timeout", 2*time.Minute, "undecided after this long, per partition; 0: no limit of time, only of search steps")
	cmd.Flags().StringVar(&html, "html", "", "file for a timeline of the operations that are wrong together")
	cmd.Flags().StringVar(&certificate, "certificate", "", "file for the order that proves a pass")
	cmd.Flags().StringVar(&verify, "verify", "", "a certificate: prove the history by it, and look for nothing")
	return cmd
}

// checkLine is the verdict on one file.
type checkLine struct {
	File       string               `json:"file"`
	Partitions []check.Result       `json:"partitions"`
	NotJudged  []contract.NotJudged `json:"not_judged"`
	verdict.Result
}

func checkFile(cmd *cobra.Command, name string, format foreign.Format, c *contract.Contract, o contract.Options, certificate string) (verdict.Verdict, error) {
	h, err := c.Read(name, format)
	if err != nil {
		return 0, &exitError{exitUsage, err}
	}
	if h.Len() == 0 {
		return 0, usageError("%s: no operation: there is nothing to judge", name)
	}
	report, err := c.Judge(cmd.Context(), h, o)
	if e := (*foreign.Error)(nil); errors.As(err, &e) {
		return 0, &exitError{exitUsage, err}
	}
	if err != nil {
		return 0, err
	}
	total, all := report.Total, report.Partitions
	if certificate != "" {
		if err := writeCertificate(cmd, certificate, c, h, all); err != nil {
			return 0, err
		}
	}
	if jsonWanted(cmd) {
		return total.Verdict, writeJSON(cmd.OutOrStdout(), checkLine{name, all, report.NotJudged, total})
	}
	out := cmd.OutOrStdout()
	judged, unknown := 0, 0
	for _, r := range all {
		judged, unknown = judged+r.Operations, unknown+r.Unknown
	}
	fmt.Fprintf(out, "%s: %s %s: %s in %s, %d of unknown outcome\n", name, total.Verdict, total.Property, plural(judged, "operation"), plural(len(all), "partition"), unknown)
	for _, r := range all {
		if r.Verdict == verdict.Pass {
			continue
		}
		where := ""
		if r.Line > 0 {
			where = fmt.Sprintf("%s:%d: ", name, r.Line)
		}
		fmt.Fprintf(out, "  partition %d: %s%s\n", r.Partition, where, strings.ReplaceAll(r.Reason, "\n", "\n  "))
		if r.Promise != "" {
			fmt.Fprintf(out, "    but %s\n", r.Promise)
		}
		if err := printShown(out, "    ", r.Shown); err != nil {
			return 0, err
		}
	}
	for _, n := range report.NotJudged {
		fmt.Fprintf(out, "  not judged: %s\n", n)
	}
	return total.Verdict, nil
}

// pages opens the file for porcupine's page of a partition. Several histories,
// and partitions after the first, get names of their own.
func pages(html, name string, several bool, log io.Writer) func(op.Partition) (io.WriteCloser, error) {
	return func(p op.Partition) (io.WriteCloser, error) {
		file := html
		ext := filepath.Ext(html)
		stem := strings.TrimSuffix(html, ext)
		if several {
			base := filepath.Base(name)
			stem += "-" + strings.TrimSuffix(base, filepath.Ext(base))
			file = stem + ext
		}
		if p > 0 {
			file = fmt.Sprintf("%s-p%d%s", stem, p, ext)
		}
		fmt.Fprintf(log, "purgelab: the page is %s\n", file)
		return os.Create(file)
	}
}
