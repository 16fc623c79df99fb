package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/foreign/contract"
	"purgelab/linearizability/history"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// noOrder is the refusal of a certificate for a history that is judged by a search.
func noOrder(name string, c *contract.Contract) error {
	return usageError("%s: want a history with positions under restart or continue, whose order is a certificate, got one that is judged by a search under %s", name, c.Name)
}

// writeCertificate writes the orders that prove a pass. A partition that passed by a
// search has none: then there is no certificate, and a line says so.
func writeCertificate(cmd *cobra.Command, file string, c *contract.Contract, h *contract.History, all []check.Result) error {
	claims, ok, err := c.Claims(h)
	if err != nil {
		return err
	}
	if !ok {
		return noOrder(h.Path, c)
	}
	for _, r := range all {
		if r.Order == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "purgelab: no certificate: partition %d, which is a %s, has no order that was proved\n", r.Partition, r.Verdict)
			return nil
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	for _, r := range all {
		err = errors.Join(err, judge.WriteCertificate(f, r.Partition, check.Operations(claims.Ops, r.Partition), r.Order))
	}
	return errors.Join(err, f.Close())
}

// verifyFile proves a history by a certificate, and looks for nothing. One that proves
// nothing leaves the history undecided.
func verifyFile(cmd *cobra.Command, name, certificate string, format foreign.Format, c *contract.Contract) (verdict.Verdict, error) {
	h, err := c.Read(name, format)
	if err != nil {
		return 0, &exitError{exitUsage, err}
	}
	claims, ok, err := c.Claims(h)
	if err != nil {
		return 0, &exitError{exitUsage, err}
	}
	if !ok {
		return 0, noOrder(name, c)
	}
	f, err := os.Open(certificate)
	if err != nil {
		return 0, &exitError{exitUsage, err}
	}
	defer f.Close()
	ops := claims.Ops
	orders, err := judge.ReadCertificate(f, func(p op.Partition) []model.Operation { return check.Operations(ops, p) })
	if err != nil {
		return 0, &exitError{exitUsage, fmt.Errorf("%s: %w", certificate, err)}
	}
	r := verdict.Result{Verdict: verdict.Pass, Property: check.Property}
	judged, parts := 0, history.Partitions(ops)
	for _, p := range parts {
		if err := model.Replay(c.Semantics(), check.Operations(ops, p), orders[p]); err != nil {
			r.Verdict, r.Reason = verdict.Undecided, fmt.Sprintf("the certificate proves nothing: partition %d: %v", p, err)
			break
		}
		judged += len(orders[p])
	}
	switch {
	case len(claims.Wrongs) > 0:
		w := claims.Wrongs[0]
		r.Verdict, r.Reason = verdict.Undecided, fmt.Sprintf("the certificate proves nothing: partition %d: %s", w.Partition, w.Reason)
	case judged == 0 && r.Verdict == verdict.Pass:
		r.Verdict, r.Reason = verdict.Undecided, "the history has no operation that can be judged"
	}
	if jsonWanted(cmd) {
		return r.Verdict, writeJSON(cmd.OutOrStdout(), checkLine{File: name, Result: r})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, by %s: %s in %s\n", name, r, certificate, plural(judged, "operation"), plural(len(parts), "partition"))
	return r.Verdict, nil
}
