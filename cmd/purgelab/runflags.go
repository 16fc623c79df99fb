package main

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
)

// runFlags are the flags that describe a run, shared by every command that
// makes one.
type runFlags struct {
	seed                                                                       uint64
	replicas, design, messages, bookmarks, positions, purgeAck, faults, defect *choice
	hold                                                                       bool
	partitions, clients, ops, recreate, compactOps                             int
	timeout                                                                    time.Duration

	variant, workload string
}

// add gives a command the flags, all but --seed.
func (f *runFlags) add(cmd *cobra.Command) {
	f.replicas = newChoice("3", "1", "3", "5")
	f.design = newChoice("ordered", "ordered", "reset-record", "advance")
	f.messages = newChoice("persisted", "persisted", "replicated")
	f.bookmarks = newChoice("persisted", "persisted", "replicated")
	f.positions = newChoice("tagged", "tagged", "bare")
	f.purgeAck = newChoice("applied", "applied", "accepted", "mixed")
	f.faults = newChoice("none", append([]string{"none", "network", "process", "power", "storage", "all", "cleanup", "memory", "swarm"}, matrixClasses()...)...)
	f.faults.other, f.faults.hint = fileExists, "a file FILE.json"
	f.defect = newChoice("", defect.Names()...)
	fs := cmd.Flags()
	for _, c := range []struct {
		name string
		c    *choice
		help string
	}{
		{"replicas", f.replicas, "replicas of each partition"},
		{"design", f.design, "design of the purge"},
		{"messages", f.messages, "when an append is acknowledged"},
		{"bookmarks", f.bookmarks, "when a bookmark is acknowledged"},
		{"positions", f.positions, "what clients send for a position"},
		{"purge-ack", f.purgeAck, "when a purge is acknowledged"},
		{"faults", f.faults, "what breaks"},
		{"defect", f.defect, "switch a bug on"},
	} {
		fs.Var(c.c, c.name, c.help+": "+c.c.list())
		if c.name != "faults" { // whose value may be a file, too
			completeChoices(cmd, c.name, c.c)
		}
	}
	fs.StringVar(&f.variant, "variant", "", "variants of design reset-record, with commas between them: "+strings.Join(replica.VariantNames, ", "))
	completeList(cmd, "variant", replica.VariantNames)
	fs.StringVar(&f.workload, "workload", "", "a file FILE.jsonl of what clients ask, instead of --clients and --ops that are drawn")
	fs.IntVar(&f.partitions, "partitions", 1, "partitions")
	fs.IntVar(&f.clients, "clients", 4, "clients at a time")
	fs.IntVar(&f.ops, "ops", 300, "operations, of all clients together")
	fs.IntVar(&f.recreate, "recreate", 0, "how many times a partition is deleted and created again")
	fs.IntVar(&f.compactOps, "compact-ops", 0, "compact a journal that holds more ops, and move state to whoever needs what was dropped; 0: never")
	fs.BoolVar(&f.hold, "hold", false, "hold appends and changes of bookmarks while a purge is outstanding")
	fs.DurationVar(&f.timeout, "timeout", 30*time.Second, "longest time to judge one history")
}

// addSeed gives a command the flag --seed.
func (f *runFlags) addSeed(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the run (default: a random one, which is printed)")
}

// matrixClasses are the classes of the guarantee matrix but none.
func matrixClasses() []string {
	var out []string
	for _, c := range faults.Matrix[1:] {
		out = append(out, string(c))
	}
	return out
}

// fromPlan takes flags that were not given from the plan of faults, if that is one
// which is kept to show something.
func (f *runFlags) fromPlan(cmd *cobra.Command) error {
	if slices.Contains(f.faults.legal, f.faults.value) {
		return nil
	}
	kept, err := run.KeptFlags(f.faults.value)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	for i := 0; i < len(kept); i++ {
		name, value := strings.TrimPrefix(kept[i], "--"), "true"
		if i+1 < len(kept) && !strings.HasPrefix(kept[i+1], "--") {
			i++
			value = kept[i]
		}
		if flag := cmd.Flags().Lookup(name); flag != nil && !flag.Changed {
			if err := cmd.Flags().Set(name, value); err != nil {
				return usageError("%s: settings: --%s: %w", f.faults.value, name, err)
			}
		}
	}
	return nil
}

// settings reads the flags. A combination that does not exist is bad usage.
func (f *runFlags) settings(cmd *cobra.Command) (run.Settings, error) {
	if err := f.fromPlan(cmd); err != nil {
		return run.Settings{}, err
	}
	s := run.Settings{
		Seed: f.seed, Partitions: f.partitions, Design: f.design.value,
		Messages: f.messages.value, Bookmarks: f.bookmarks.value, Positions: f.positions.value, PurgeAck: f.purgeAck.value, Hold: f.hold, Recreate: f.recreate, CompactOps: f.compactOps,
		Clients: f.clients, Ops: f.ops, Faults: f.faults.value, Defect: f.defect.value, Timeout: f.timeout,
	}
	s.Replicas = int(f.replicas.value[0] - '0')
	s.Variant, s.Workload = f.variant, f.workload
	if flag := cmd.Flags().Lookup("seed"); flag != nil && !flag.Changed {
		s.Seed = randomSeed()
	}
	for _, n := range []struct {
		flag string
		v    int
	}{{"partitions", f.partitions}, {"clients", f.clients}, {"ops", f.ops}} {
		if n.v < 1 {
			return s, usageError("--%s %d: want at least 1", n.flag, n.v)
		}
	}
	if f.workload != "" && (cmd.Flags().Changed("ops") || cmd.Flags().Changed("clients")) {
		return s, usageError("--workload %s: want neither --ops nor --clients: it has its own", f.workload)
	}
	if err := s.Complete(); err != nil {
		return s, &exitError{exitUsage, err}
	}
	return s, nil
}

// randomSeed is short enough to be read aloud.
func randomSeed() uint64 {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return uint64(time.Now().UnixNano() % 1_000_000)
	}
	return binary.LittleEndian.Uint64(b[:]) % 1_000_000
}

func fileExists(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
