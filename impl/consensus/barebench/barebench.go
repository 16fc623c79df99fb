// Package barebench is the yardstick for speed: a group of bare raft.RawNodes
// over raft's own MemoryStorage in one loop, with no disk, no network, no
// encoding and no faults. Whatever this project adds to consensus is measured
// beside it in the same process, since absolute figures say more about the
// machine than about the code. It reads no clock; the caller does.
package barebench

import (
	"errors"
	"fmt"
	"io"
	"log"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// Group is a raft group in one loop. The logs stay in memory as they grow.
type Group struct {
	nodes   []*member
	queue   []*raftpb.Message
	applied int
}

type member struct {
	raw   *raft.RawNode
	store *raft.MemoryStorage
}

// New makes a group of replicas, of which the first leads.
func New(replicas int) (*Group, error) {
	g := &Group{}
	var voters []uint64
	for i := range replicas {
		voters = append(voters, uint64(i+1))
	}
	one := uint64(1)
	for _, id := range voters {
		store := raft.NewMemoryStorage()
		err := store.ApplySnapshot(&raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
			Index: &one, Term: &one, ConfState: &raftpb.ConfState{Voters: voters},
		}})
		if err != nil {
			return nil, fmt.Errorf("barebench: %w", err)
		}
		raw, err := raft.NewRawNode(&raft.Config{
			ID: id, Storage: store, HeartbeatTick: 1, ElectionTick: 6,
			PreVote: true, CheckQuorum: true, DisableProposalForwarding: true,
			MaxSizePerMsg: 64 << 10, MaxInflightMsgs: 64, MaxCommittedSizePerReady: 256 << 10,
			Logger: &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)},
		})
		if err != nil {
			return nil, fmt.Errorf("barebench: %w", err)
		}
		g.nodes = append(g.nodes, &member{raw: raw, store: store})
	}
	if err := g.nodes[0].raw.Campaign(); err != nil {
		return nil, fmt.Errorf("barebench: campaign: %w", err)
	}
	if err := g.run(); err != nil {
		return nil, err
	}
	if s := g.nodes[0].raw.BasicStatus(); s.RaftState != raft.StateLeader {
		return nil, errors.New("barebench: the first member does not lead")
	}
	g.applied = 0
	return g, nil
}

// Propose proposes one entry and runs the group until it is quiet: by then
// every member has applied it.
func (g *Group) Propose(data []byte) error {
	if err := g.nodes[0].raw.Propose(data); err != nil {
		return fmt.Errorf("barebench: propose: %w", err)
	}
	return g.run()
}

// Applied counts the entries that members applied since New, over all members.
func (g *Group) Applied() int { return g.applied }

func (g *Group) run() error {
	for {
		for _, m := range g.nodes {
			if err := g.ready(m); err != nil {
				return err
			}
		}
		if len(g.queue) == 0 {
			return nil
		}
		queue := g.queue
		g.queue = nil
		for _, msg := range queue {
			if err := g.nodes[msg.GetTo()-1].raw.Step(msg); err != nil {
				return fmt.Errorf("barebench: step: %w", err)
			}
		}
	}
}

func (g *Group) ready(m *member) error {
	for m.raw.HasReady() {
		rd := m.raw.Ready()
		if !raft.IsEmptyHardState(rd.HardState) {
			if err := m.store.SetHardState(rd.HardState); err != nil {
				return fmt.Errorf("barebench: hard state: %w", err)
			}
		}
		if err := m.store.Append(rd.Entries); err != nil {
			return fmt.Errorf("barebench: append: %w", err)
		}
		g.queue = append(g.queue, rd.Messages...)
		g.applied += len(rd.CommittedEntries)
		m.raw.Advance(rd)
	}
	return nil
}
