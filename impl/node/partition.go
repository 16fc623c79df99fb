package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"purgelab/impl/consensus"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/osfs"
	"purgelab/model/op"
)

// Partition is all replicas of a partition in this process, numbered from 1, each
// in the folder replica-<number> below Root. The file created there says that the disks of
// all of them were formatted. Its methods are safe for concurrent
// use, but a replica must not be started twice at once.
type Partition struct {
	o     Options
	links Links
	mu    sync.Mutex
	nodes []*Node // nil: down
	guess int     // who leads, as far as anybody said
}

// OpenPartition boots a number of replicas, which it creates if Root does not say that
// they were. o says what all of them have in common: its Root is the folder of all, ID and
// Members are filled in.
func OpenPartition(o Options, replicas int) (*Partition, error) {
	p := &Partition{o: o, nodes: make([]*Node, replicas), guess: 1}
	p.o.Replica.Members = nil
	for id := 1; id <= replicas; id++ {
		p.o.Replica.Members = append(p.o.Replica.Members, id)
	}
	if err := makeFolder(o.Root); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	if err := p.create(replicas); err != nil {
		return nil, fmt.Errorf("node: create a partition: %w", err)
	}
	for id := 1; id <= replicas; id++ {
		if err := p.Start(id); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

// create formats the disks of all replicas, and then notes that it did.
func (p *Partition) create(replicas int) error {
	const note = "created"
	root, err := osfs.New(p.o.Root)
	if err != nil {
		return err
	}
	f, err := root.Open(note)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, vfs.ErrNotExist) {
		return err
	}
	for id := 1; id <= replicas; id++ {
		if err := Format(p.options(id)); err != nil {
			return err
		}
	}
	if f, err = root.Create("node.create", note); err != nil {
		return err
	}
	return errors.Join(f.Close(), root.SyncDir("node.create.dirsync", "."))
}

// options of one of the replicas.
func (p *Partition) options(id int) Options {
	o := p.o
	o.Replica.ID, o.Root, o.Links = id, filepath.Join(p.o.Root, fmt.Sprintf("replica-%d", id)), &p.links
	return o
}

// Start boots a replica that is down.
func (p *Partition) Start(id int) error {
	n, err := Open(p.options(id))
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.nodes[id-1] = n
	p.mu.Unlock()
	return nil
}

// Replica is the node of a replica, nil if it is down.
func (p *Partition) Replica(id int) *Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nodes[id-1]
}

// Kill ends a replica as the end of its process would.
func (p *Partition) Kill(id int) {
	if n := p.takeDown(id); n != nil {
		n.Kill()
	}
}

// Stop ends a replica cleanly.
func (p *Partition) Stop(id int) error {
	if n := p.takeDown(id); n != nil {
		return n.Close()
	}
	return nil
}

func (p *Partition) takeDown(id int) *Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.nodes[id-1]
	p.nodes[id-1] = nil
	return n
}

// Close ends all replicas cleanly.
func (p *Partition) Close() error {
	var err error
	for id := range p.nodes {
		err = errors.Join(err, p.Stop(id+1))
	}
	return err
}

// askAgain is the pause after an answer that means that nobody leads yet.
const askAgain = 5 * time.Millisecond

// Do asks the leader, and looks for one as long as replicas say that the request
// had no effect because they do not lead. An error says nothing about whether it
// took effect.
func (p *Partition) Do(ctx context.Context, req *op.Request) (op.Reply, error) {
	for {
		p.mu.Lock()
		id := p.guess
		n := p.nodes[id-1]
		p.mu.Unlock()
		next := id%len(p.nodes) + 1
		if n != nil {
			a, err := n.Do(ctx, req)
			if err != nil {
				return op.Reply{}, err
			}
			if a.Reply.Code != op.NotLeader && a.Reply.Code != op.NotReady {
				return a.Reply, nil
			}
			if a.Leader > 0 {
				next = a.Leader
			}
		}
		p.mu.Lock()
		if p.guess == id {
			p.guess = next
		}
		p.mu.Unlock()
		select {
		case <-ctx.Done():
			return op.Reply{}, ctx.Err()
		case <-time.After(askAgain):
		}
	}
}

// Leader is the replica that leads with the highest term, 0 if none does.
func (p *Partition) Leader() int {
	leader, term := 0, uint64(0)
	for i := range p.nodes {
		if n := p.Replica(i + 1); n != nil {
			if v, err := n.View(); err == nil && v.Role == consensus.Leader && v.Term > term {
				leader, term = v.ID, v.Term
			}
		}
	}
	return leader
}
