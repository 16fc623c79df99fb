// Package contract knows what several brokers promise of a purge, as data, and
// judges their histories by it. docs/foreign.md lists the contracts.
//
// Two of them, restart and continue, are the contract of docs/contract.md, and
// their histories go to linearizability/check. The others are other machines,
// small enough for one page each, which porcupine searches the same way:
//
//	stream.go, streamstep.go  a log with gaps, filters and cursors
//	queue.go                  a queue whose messages are handed out and settled
//	search.go                 unknown outcomes, which wait until an answer needs them
//
// A history that does not tell everything is judged for what it tells; the
// result lists the promises that were not judged.
package contract

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/linearizability/foreign"
	"purgelab/model"
)

// machineKind says which machine a contract is.
type machineKind uint8

const (
	dense  machineKind = iota // package model
	stream                    // a log with gaps, and cursors
	queue                     // a queue
)

// Contract is what a kind of broker promises. The values are data: what they
// hold are the parameters of the machine.
type Contract struct {
	Name    string
	Systems string
	Says    string // of a purge, in one line
	Options []Option

	machine   machineKind
	numbering model.Numbering // of dense
	stream    streamRules
	// functions that histories under this contract may have.
	functions []string
	// failed: a purge that failed may have moved some of the cursors.
	failed  bool
	allowed map[string]bool // the weaker promises that are enough, by name
}

// Option is a promise that a system may not give.
type Option struct {
	Name string
	Says string
}

// The weaker promises. Each belongs to the contracts that list it.
var (
	shortPolls  = Option{"short-polls", "a poll may return less than there is, or nothing"}
	holes       = Option{"holes", "offsets rise but need not be dense: markers of transactions, compaction"}
	accepted    = Option{"accepted-purges", "a purge is acknowledged when it is committed and takes effect once, at any later time"}
	staleReads  = Option{"stale-reads", "a read that is not a consumer's may come from a replica that is behind"}
	undoneCuts  = Option{"undone-cuts", "a cut of unknown outcome may be seen and be undone later"}
	lows        = Option{"low-watermarks", "delete-records answers the lowest start of all replicas, which may be below that of the leader"}
	redelivery  = Option{"redelivery", "a cursor may fall back: a message comes again, and none is skipped"}
	prefetch    = Option{"prefetch", "a message may have been delivered long before the client took it"}
	returnOrder = Option{"any-return-order", "returned messages come back in any order, between the others"}
)

var streamFunctions = []string{foreign.Append, foreign.Poll, foreign.StoreBookmark, foreign.ListOffsets, foreign.Purge}

// Contracts lists them; the first is the default.
var Contracts = []Contract{
	{
		Name: "restart", Systems: "Iggy", Says: "messages and bookmarks go together, offsets restart at 0",
		Options: []Option{shortPolls, accepted, staleReads}, machine: dense, numbering: model.Restart, functions: denseFunctions,
	},
	{
		Name: "continue", Systems: "Kafka, Redpanda, nisshi", Says: "the start moves to the end, numbering and bookmarks stay",
		Options: []Option{shortPolls, holes, staleReads, undoneCuts, lows}, machine: dense, numbering: model.Continue, functions: denseFunctions,
		stream: streamRules{sets: true},
	},
	{
		Name: "nats", Systems: "NATS JetStream", Says: "everything up to the end as of some instant between call and effect goes; also by subject, below a sequence, or but for the newest",
		Options: []Option{shortPolls, staleReads, redelivery}, machine: stream, stream: streamRules{sampled: true}, functions: streamFunctions,
	},
	{
		Name: "pulsar", Systems: "Pulsar", Says: "each cursor moves to an end of its own; then closed ledgers below all cursors go",
		Options: []Option{shortPolls, redelivery}, machine: stream, stream: streamRules{perCursor: true}, functions: streamFunctions, failed: true,
	},
	{
		Name: "rabbitmq", Systems: "RabbitMQ quorum queues", Says: "what is ready goes, in the queue's order; what was delivered and not settled stays",
		Options: []Option{shortPolls, prefetch, returnOrder}, machine: queue,
		functions: []string{foreign.Append, foreign.Poll, foreign.Settle, foreign.Return, foreign.Purge},
	},
}

// Names lists the contracts.
func Names() []string {
	var out []string
	for _, c := range Contracts {
		out = append(out, c.Name)
	}
	return out
}

// OptionNames lists every weaker promise once.
func OptionNames() []string {
	var out []string
	for _, c := range Contracts {
		for _, o := range c.Options {
			if !slices.Contains(out, o.Name) {
				out = append(out, o.Name)
			}
		}
	}
	return out
}

// Find is the contract of a name.
func Find(name string) (Contract, error) {
	for _, c := range Contracts {
		if c.Name == name {
			return c, nil
		}
	}
	return Contract{}, fmt.Errorf("semantics %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Weaken is the contract for a system that gives weaker promises, by their names.
func (c Contract) Weaken(names []string) (Contract, error) {
	c.allowed = map[string]bool{}
	for _, name := range names {
		if !slices.ContainsFunc(c.Options, func(o Option) bool { return o.Name == name }) {
			var want []string
			for _, o := range c.Options {
				want = append(want, o.Name)
			}
			return c, fmt.Errorf("%s has no weaker promise %q: want one of %s", c.Name, name, strings.Join(want, ", "))
		}
		c.allowed[name] = true
	}
	if c.allows(undoneCuts) || c.allows(lows) {
		c.machine = stream // package model knows no start that goes back
	}
	return c, nil
}

func (c *Contract) allows(o Option) bool { return c.allowed[o.Name] }

// build makes the machine for the operations of a partition, of which is told t.
func (c *Contract) build(ops []foreign.Op, t *told) machine {
	if c.machine == queue {
		return queueMachine{queueRules{short: c.allows(shortPolls), anyOrder: c.allows(returnOrder)}, t.turns}
	}
	rules := c.stream
	rules.short, rules.redeliver, rules.undone = c.allows(shortPolls), c.allows(redelivery), c.allows(undoneCuts)
	rules.counted = slices.ContainsFunc(ops, func(o foreign.Op) bool { return tells(&o) })
	return streamMachine{rules, t.bases(ops)}
}
