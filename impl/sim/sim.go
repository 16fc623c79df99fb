// Package sim runs a cluster of replicas in one thread on simulated time. It is
// the world around the replicas: clocks, network, disks and clients. One seed
// gives one run, to the byte.
//
// # Machines
//
// A machine has one disk (crashfs), one replica of the metadata plane, in the
// directory meta, and one replica of each partition, in p<partition>. The
// plane's replicas are a raft group of their own on the same network; each tells
// the replicas of its machine which purges are intended, and may lag behind. Everything happens as an event on one heap, ordered by
// (time, sequence). A replica is stepped by one event at a time and its outputs
// become later events, so between any two steps of a replica anything may
// happen elsewhere, or to it.
//
// # Fault model
//
//	network   Each ordered link loses, delays (so reorders) and duplicates
//	          messages independently; it can be cut in one direction or both.
//	          Clients' links lose, delay and
//	          duplicate too, except that a request which the replica could not
//	          recognise as a repeat (register) is never duplicated.
//	          Nothing is altered on the way but what messages of transfers carry,
//	          and of those copies may come very late: see spoil.go.
//	process   A process crash drops the replicas of a machine and keeps what its
//	          operating system cached: every completed write survives.
//	power     A power loss drops the cache too: any drawn subset of the writes
//	          and names that were not synced survives, torn at 512 bytes. It may
//	          strike one, several or all machines at one instant.
//	at a call A crash of either kind can be aimed at the n-th disk call whose
//	          label begins with a prefix, before or after its effect; so also
//	          inside a recovery.
//	disk      Each piece of disk work takes a drawn time, longer after a sync.
//	storage   Calls of a disk fail by rules (package faultfs). A machine whose
//	          replica stops over it is restarted, by a loss of power. Bytes that
//	          the disk proves to have kept rot, are overwritten by writes that
//	          went astray, or are read wrongly; their replica must refuse them,
//	          so no more than a minority of machines is struck. See rot.go.
//	clocks    Ticks of different machines are not aligned; their rate is equal.
//	memory    A replica that cannot trust its memory joins its group again, or its
//	          partition goes on in a new incarnation. The disk of a machine's
//	          partitions may be replaced by an empty one, or by that of another
//	          replica, which must be refused, until the own one is back. That of
//	          the plane's replica may be replaced or damaged, too. See replace.go,
//	          foreign.go and plane.go.
//
// Not modelled yet: clocks that drift, memory that flips. Nothing is byzantine.
//
// # Randomness
//
// Each purpose (a link, the disks, the clients, the elections of one boot) draws
// from a generator of its own, split from the root seed by name: one more draw
// for the network leaves the workload alone. Watchers draw nothing.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/meta"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// Units of simulated time. Replicas and traces count milliseconds; the heap
// counts microseconds, so that steps of one millisecond still interleave.
const (
	Microsecond int64 = 1
	Millisecond       = 1000 * Microsecond
	Second            = 1000 * Millisecond

	// Tick is how often the time of replicas goes on.
	Tick = 10 * Millisecond
)

// Member is a replica as the simulator drives it. *replica.Replica is one; a
// test may bring a toy of its own.
type Member interface {
	Step(replica.Input) (replica.Output, error)
	View() replica.View
	Bookmarks() []engine.BookmarkEntry
	Records(from op.Offset, max int) ([]op.Record, error)
}

// Options describe a cluster. The zero value of a field means the default that
// New documents beside it.
type Options struct {
	Seed       uint64
	Replicas   int // 3
	Partitions int // 1
	// Recreations is how often a partition may be created again.
	Recreations int
	// Losses is how often all machines may lose power together where op numbers
	// begin anew then.
	Losses  int
	Clients int // 4
	Design  replica.Design
	Network Network
	Disk    DiskSpeed
	// CheckpointOps, Sessions, SegmentBytes and JournalBytes go to the replicas.
	// The defaults are small, so that short runs roll files and checkpoint.
	CheckpointOps, Sessions, SegmentBytes, JournalBytes int
	// Compact and Transfer go to the replicas, too: off.
	Compact  replica.Compaction
	Transfer replica.TransferOptions
	// Hold makes leaders hold admission while a purge is outstanding.
	Hold    bool
	Defects defect.Set
	// Sink sees the events of all replicas in the order of the run, and those
	// that only the world knows of (crashes). May be nil.
	Sink observe.Sink
	// Variants of the design.
	Variants replica.Variants
	// Policy of every partition.
	Policy replica.Policy
	// Watch, if not nil, is shown a replica after each boot and after steps at
	// which its state may have changed much. It must only read.
	Watch Watch
	// DiskFaults lets disks fail: see BreakDisk and Rot.
	DiskFaults bool
	// Open boots a replica; replica.Open when nil.
	Open func(replica.Config) (Member, error)
}

// Watch sees replicas from inside. at is milliseconds.
type Watch interface {
	// Booted is called after a replica opened its disk.
	Booted(at int64, id int, p op.Partition, m Member)
	// Stepped is called now and then after a step.
	Stepped(at int64, id int, p op.Partition, m Member)
	// Acknowledged is called when a replica sends a message that promises to
	// keep the log up to op.
	Acknowledged(id int, p op.Partition, upTo op.Number)
	// Voted is called when a replica sends a message that gives its vote.
	Voted(id int, p op.Partition, term uint64)
	// Served is called when a replica sends a chunk of messages.
	Served(at int64, id int, p op.Partition, chunk []byte)
	// Planned is called when the metadata plane answers a command, by the token of
	// its caller, which repeats of it share. s is the state then.
	Planned(at int64, token uint64, reply *meta.Reply, s *meta.State)
	// Answered is called when a replica answers a request; asked is the op
	// number that was committed when the client first sent it.
	Answered(at int64, id int, r *op.Request, reply *op.Reply, applied, asked op.Number)
}

// Cluster is one simulated world.
type Cluster struct {
	o         Options
	now       int64
	seq       uint64
	heap      eventHeap
	machines  []machine // 0 is unused: replicas count from 1
	shards    []shard   // by serial number; then those whose op numbers began anew
	lines     []line    // by shard
	after     []int     // per shard: the one that follows it when they do; 0: none
	sequences int       // begun anew
	renewals  int       // begun
	net       network
	spoil     spoiler
	clients   []client
	script    Script
	trace     recorder

	messages slab[parcel]
	requests slab[requestParcel]
	answers  slab[answerParcel]
	calls    slab[func()]

	metaMessages slab[meta.Message]
	asks         slab[askParcel]
	grants       slab[grantParcel]
	asking       int             // commands for the metadata plane that are on their way
	topics       [][]meta.Result // purges of all partitions at once

	// What a step is given; here, so that it is not allocated each time.
	inMessage replica.Message
	inRequest replica.Request

	losing *losing // nil: no base is to be lost

	diskRand, powerRand *rand.Rand
	processes           int // next process identity
	patient             bool

	// Steps counts the inputs given to replicas.
	Steps uint64
	// Effects counts the faults that took effect.
	Effects Effects
	// Refusals are replicas that stopped for another reason than a crash.
	Refusals []Refusal
	// Stopped are those that refused a disk which was damaged on purpose, as they
	// must: they stay down, and are not missed.
	Stopped []Refusal
}

// Refusal is a replica that could not go on although its machine did.
type Refusal struct {
	At        int64 // milliseconds
	Replica   int
	Partition op.Partition
	Err       error
}

func (r Refusal) String() string {
	if r.Partition == meta.OwnPartition {
		return fmt.Sprintf("replica %d of the metadata plane refuses at %d ms: %v", r.Replica, r.At, r.Err)
	}
	return fmt.Sprintf("replica %d of partition %d refuses at %d ms: %v", r.Replica, r.Partition, r.At, r.Err)
}

// Split gives the generator of one purpose.
func Split(seed uint64, purpose string) *rand.Rand {
	// FNV-1a, so that the name decides the stream and nothing else does.
	h := uint64(14695981039346656037)
	for i := 0; i < len(purpose); i++ {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}

// New builds a cluster and boots every machine.
func New(o Options, s Script) (*Cluster, error) {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Replicas, 3)
	def(&o.Partitions, 1)
	def(&o.Clients, 4)
	def(&o.CheckpointOps, 40)
	def(&o.Sessions, 64)
	def(&o.SegmentBytes, 2<<10)
	def(&o.JournalBytes, 16<<10)
	o.Network.defaults()
	o.Disk.defaults()
	if o.Open == nil {
		o.Open = func(c replica.Config) (Member, error) {
			r, err := replica.Open(c)
			if err != nil {
				return nil, err // never a typed nil in the interface
			}
			return r, nil
		}
	}
	c := &Cluster{
		o: o, script: s,
		diskRand:  Split(o.Seed, "disk"),
		powerRand: Split(o.Seed, "power"),
		processes: o.Clients,
	}
	c.initShards()
	c.trace.init(c, o.Sink)
	c.net.init(o.Network, o.Replicas, o.Seed)
	c.spoil.rand = Split(o.Seed, "spoil")
	if err := c.initMachines(); err != nil {
		return nil, err
	}
	c.initClients()
	return c, nil
}

// Now is the simulated time in microseconds.
func (c *Cluster) Now() int64 { return c.now }

// Options as completed by New.
func (c *Cluster) Options() Options { return c.o }

// After calls f once, d microseconds from now.
func (c *Cluster) After(d int64, f func()) {
	c.schedule(d, event{kind: evCall, slot: c.calls.put(f)})
}

func (c *Cluster) schedule(d int64, e event) {
	e.at = c.now + d
	e.seq = c.seq
	c.seq++
	c.heap.push(e)
}

// ErrTimeLimit means that simulated time ran out before the condition held.
var ErrTimeLimit = errors.New("sim: time limit")

// RunUntil runs events until done returns true, which is asked every few
// simulated milliseconds, or until limit microseconds have passed from now on
// (ErrTimeLimit), or ctx ends.
func (c *Cluster) RunUntil(ctx context.Context, limit int64, done func() bool) error {
	end := c.now + limit
	const every = 5 * Millisecond
	next := c.now
	for {
		if c.heap.list[0].at >= next {
			if done() {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			for next <= c.heap.list[0].at {
				next += every
			}
			if c.heap.list[0].at > end {
				return ErrTimeLimit
			}
		}
		e := c.heap.pop()
		c.now = e.at
		c.handle(&e)
	}
}

func (c *Cluster) handle(e *event) {
	switch e.kind {
	case evTick:
		c.tick(int(e.who), e.epoch)
	case evWork:
		c.work(int(e.who), int(e.partition), e.epoch)
	case evMessage:
		c.deliver(e.slot)
	case evRequest:
		c.deliverRequest(int(e.who), e.slot)
	case evAnswer:
		c.deliverAnswer(int(e.who), e.slot)
	case evWake:
		c.wake(int(e.who), e.epoch)
	case evTimeout:
		c.timeout(int(e.who), e.epoch)
	case evAsk:
		c.deliverAsk(int(e.who), e.slot)
	case evGrant:
		c.deliverGrant(int(e.who), e.slot)
	case evMetaWork:
		c.metaWork(int(e.who), e.epoch)
	case evMetaMessage:
		c.deliverMeta(e.slot)
	case evRestart:
		c.restart(int(e.who), e.epoch)
	case evCall:
		c.calls.take(e.slot)()
	}
}
