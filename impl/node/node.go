// Package node is the shell around the replica machine: real files, a real
// clock, goroutines. The machine itself (package replica) is the one that the
// simulator runs; nothing of it is written again here.
//
// A Node is one replica of one partition. Two goroutines give inputs to its machine,
// one at a time. The first does nothing but this, over and over:
//
//	take in all that has come: ticks, messages, requests
//	let the machine do one piece of disk work
//	hand out what left the machine: messages, answers
//
// A second one makes the syncs of the journal. While it is in a sync the first
// materializes and answers what the sync before made durable, and takes in
// requests. These are written together when the sync ends, and share the next one,
// which begins at once: that is group commit. There are no sockets yet: nodes of one
// process send each other encoded messages over Links.
//
// There is no metadata plane either: a purge comes with the number of its intent,
// and a partition a majority of whose replicas lost their memory waits.
//
// A Node answers a request once. What was not answered when the node stops, or
// when the caller gives up, has an unknown outcome: it may have taken effect, or
// take effect later.
package node

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/gatherfs"
	"purgelab/impl/vfs/osfs"
	"purgelab/model/op"
)

// gatherBytes is how much of each file of messages or bookmarks is in memory before
// it is written.
const gatherBytes = 64 << 10

// DefaultTick is the time between two ticks of the machine.
const DefaultTick = 10 * time.Millisecond

// dataFolder holds the files of the replica, beside the lock.
const dataFolder = "data"

// Options of Open.
type Options struct {
	// Root is the folder of this replica. It is made if it is not there; its
	// parent is.
	Root string
	// Replica says who this is and how it behaves. FS, Dir and Rand are filled in,
	// and BootID if it is 0; so are, with what suits a broker, HeartbeatTicks,
	// ElectionTicks, CheckpointOps, Sessions and the budget of transfers.
	Replica replica.Config
	// Tick is the time between two ticks; 0 means DefaultTick.
	Tick time.Duration
	// Links to the other replicas; nil for one that is alone.
	Links *Links
	// Disk, if not nil, wraps the real files, to watch or to break them.
	Disk func(vfs.FS) vfs.FS
}

// ErrStopped means that the node stopped before it answered. What was asked may
// have taken effect.
var ErrStopped = errors.New("node: stopped")

// Node is a running replica. Its methods are safe for concurrent use.
type Node struct {
	id    int
	tick  time.Duration
	links *Links
	lock  *os.File
	begun time.Time
	in    inbox

	stopping chan struct{} // closed to end loop
	once     sync.Once
	clean    bool // set before stopping is closed
	done     chan struct{}
	err      error // why loop ended; read after done

	syncs chan func() error // to be made; at most one

	mu      sync.Mutex // guards what follows
	machine *replica.Replica
	got     received
	calls   map[uint64]*call // not answered, by token
	token   uint64
	work    bool                // the machine has some
	next    func() error        // sync that it asked for and nobody makes yet
	failed  error               // why it stopped, if that was after a sync
	ended   bool                // no more input
	late    *replica.SyncResult // of the sync under way when it ended
}

// call is a request that waits for its answer.
type call struct {
	req    *op.Request
	answer chan replica.Answer // one
}

// Format makes the disk of a replica that is being created: once, before it is opened
// for the first time. A folder without what it makes is not the one that the replica had.
func Format(o Options) error {
	real, err := files(o.Root)
	if err == nil {
		c := o.Replica
		c.FS, c.Dir = real, dataFolder
		err = replica.Format(c)
	}
	if err != nil {
		return fmt.Errorf("node: format %s: %w", o.Root, err)
	}
	return nil
}

// files is the folder of a replica, which is made if it is not there.
func files(root string) (vfs.FS, error) {
	if err := errors.Join(makeFolder(root), makeFolder(filepath.Join(root, dataFolder))); err != nil {
		return nil, err
	}
	return osfs.New(root)
}

// Open boots a replica from its folder and runs it. Errors are those of
// replica.Open, and that the folder is in use.
func Open(o Options) (*Node, error) {
	fail := func(err error) (*Node, error) { return nil, fmt.Errorf("node: open %s: %w", o.Root, err) }
	real, err := files(o.Root)
	if err != nil {
		return fail(err)
	}
	lock, err := lockFolder(o.Root)
	if err != nil {
		return fail(err)
	}
	machine, err := boot(o, real)
	if err != nil {
		lock.Close()
		return fail(err)
	}
	n := &Node{
		id: o.Replica.ID, machine: machine, tick: o.Tick, links: o.Links, lock: lock, begun: time.Now(),
		stopping: make(chan struct{}), done: make(chan struct{}), calls: map[uint64]*call{},
		syncs: make(chan func() error, 1), work: true,
	}
	if n.tick == 0 {
		n.tick = DefaultTick
	}
	n.in.wake = make(chan struct{}, 1)
	if n.links != nil {
		n.links.join(n)
	}
	go n.loop()
	return n, nil
}

// boot opens the machine on the files in o.Root.
func boot(o Options, real vfs.FS) (*replica.Replica, error) {
	c := o.Replica
	fill(&c)
	if c.BootID == 0 {
		var err error
		// Under a policy that syncs all nobody asks which boot it is.
		if c.BootID, err = thisBoot(); err != nil && c.Policy != (replica.Policy{}) {
			return nil, err
		}
	}
	if c.FS = real; o.Disk != nil {
		c.FS = o.Disk(real)
	}
	c.FS = gatherfs.New(c.FS, gatherBytes, stored)
	c.Dir, c.Rand, c.SyncBeside, c.JournalRoom = dataFolder, randomness(), true, true
	return replica.Open(c)
}

// fill sets what is 0: half a second until an election, at the default tick.
func fill(c *replica.Config) {
	for _, d := range []struct {
		v  *int
		to int
	}{{&c.HeartbeatTicks, 5}, {&c.ElectionTicks, 30}, {&c.CheckpointOps, 10_000}, {&c.Sessions, 1024}, {&c.Transfer.Budget, tickBudget}} {
		if *d.v == 0 {
			*d.v = d.to
		}
	}
}

// tickBudget is how many bytes of transfers leave in a tick, so that a replica that
// catches up leaves the disk and the links of the leader to the others: 400 MB/s at
// the default tick.
const tickBudget = 4 << 20

// stored tells the files of messages and bookmarks, which are appended to without a
// sync: the journal has what they lack. It is the one file that must be written at
// once.
func stored(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "seg-") || strings.HasPrefix(name, "bookmarks-")
}

// Do asks for an operation and waits for its answer. An error says nothing about
// whether it took effect. The request must not change before Do returns, and
// what it holds must not change ever.
func (n *Node) Do(ctx context.Context, req *op.Request) (replica.Answer, error) {
	c := &call{req: req, answer: make(chan replica.Answer, 1)}
	n.in.request(c)
	select {
	case a := <-c.answer:
		return a, nil
	case <-ctx.Done():
		return replica.Answer{}, ctx.Err()
	case <-n.done:
		select {
		case a := <-c.answer: // it came at the last moment
			return a, nil
		default:
			return replica.Answer{}, n.why()
		}
	}
}

// View reads the replica between two of its steps.
func (n *Node) View() (replica.View, error) {
	var v replica.View
	if !n.look(func(r *replica.Replica) { v = r.View() }) {
		<-n.done
		return v, n.why()
	}
	return v, nil
}

// look reads the machine; false if it has stopped.
func (n *Node) look(f func(*replica.Replica)) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.ended {
		f(n.machine)
	}
	return !n.ended
}

// Done is closed when the node has stopped, by itself or because it was told to.
func (n *Node) Done() <-chan struct{} { return n.done }

// why is the reason of a node that has stopped.
func (n *Node) why() error {
	if n.err != nil {
		return fmt.Errorf("%w: %w", ErrStopped, n.err)
	}
	return ErrStopped
}

// Close stops the node cleanly: what it wrote is durable when Close returns. An
// error is that of the replica, which had stopped by itself, or of its disk.
func (n *Node) Close() error {
	n.stop(true)
	return n.err
}

// Kill stops the node as the end of its process would: nothing is synced or
// finished any more.
func (n *Node) Kill() { n.stop(false) }

func (n *Node) stop(clean bool) {
	n.once.Do(func() {
		n.clean = clean
		close(n.stopping)
	})
	<-n.done
}

// makeFolder makes the folder of a replica; its name is durable.
func makeFolder(root string) error {
	if err := os.Mkdir(root, 0o755); err != nil {
		if errors.Is(err, os.ErrExist) {
			return nil
		}
		return err
	}
	parent, err := osfs.New(filepath.Dir(root))
	if err != nil {
		return err
	}
	return parent.SyncDir("node.mkdir.dirsync", ".")
}

// randomness is that of the operating system: election timers and identities of
// one boot must differ from those of any other.
func randomness() *mathrand.Rand {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // it never fails
	}
	return mathrand.New(mathrand.NewPCG(binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])))
}
