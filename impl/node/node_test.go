package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/consensus"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// options are those of a replica with small files and many checkpoints.
func options(t testing.TB) Options {
	return Options{
		Root: t.TempDir() + "/p0",
		Tick: 2 * time.Millisecond,
		Replica: replica.Config{
			Cluster: 7, HeartbeatTicks: 5, ElectionTicks: 150, CheckpointOps: 16, Sessions: 64,
			SegmentBytes: 4 << 10, JournalBytes: 16 << 10,
		},
	}
}

// partition opens replicas that are closed when the test ends.
func partition(t *testing.T, o Options, replicas int) *Partition {
	p, err := OpenPartition(o, replicas)
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

func ask(t *testing.T, p *Partition, req *op.Request) op.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	reply, err := p.Do(ctx, req)
	require.NoError(t, err)
	return reply
}

func put(t *testing.T, p *Partition, payloads ...string) op.Reply {
	req := &op.Request{Kind: op.Append}
	for _, s := range payloads {
		req.Payloads = append(req.Payloads, op.Payload(s))
	}
	r := ask(t, p, req)
	require.Equal(t, op.OK, r.Code)
	return r
}

// poll reads from the start what is there, up to max.
func poll(t *testing.T, p *Partition, max uint32) []string {
	r := ask(t, p, &op.Request{Kind: op.Poll, Strategy: op.First, Max: max})
	require.Equal(t, op.OK, r.Code)
	var out []string
	for _, x := range r.Records {
		out = append(out, string(x.Payload))
	}
	return out
}

// TestContract: what clients see of one replica and of three, across restarts of
// every kind.
func TestContract(t *testing.T) {
	for _, replicas := range []int{1, 3} {
		for _, clean := range []bool{true, false} {
			t.Run(fmt.Sprintf("replicas=%d,clean=%v", replicas, clean), func(t *testing.T) {
				o := options(t)
				p := partition(t, o, replicas)
				restart := func() {
					for id := 1; id <= replicas; id++ {
						if clean {
							require.NoError(t, p.Stop(id))
						} else {
							p.Kill(id)
						}
					}
					for id := 1; id <= replicas; id++ {
						require.NoError(t, p.Start(id))
					}
				}
				key := op.Key{Kind: op.Group, ID: 3}
				require.EqualValues(t, 0, put(t, p, "a", "b").Position.Offset)
				require.EqualValues(t, 2, put(t, p, "c").Position.Offset)
				r := ask(t, p, &op.Request{Kind: op.Poll, Key: key, Max: 2, AutoCommit: true})
				require.Len(t, r.Records, 2)
				restart()
				require.Equal(t, []string{"a", "b", "c"}, poll(t, p, 9))
				r = ask(t, p, &op.Request{Kind: op.Poll, Key: key, Max: 9})
				require.Len(t, r.Records, 1, "the bookmark is there")
				for i := range 40 { // checkpoints and new files
					put(t, p, fmt.Sprintf("%d-%0500d", i, i))
				}
				restart()
				require.Len(t, poll(t, p, 99), 43)
				r = ask(t, p, &op.Request{Kind: op.Purge, Intent: 5})
				require.Equal(t, op.OK, r.Code)
				require.EqualValues(t, 5, r.Position.Generation)
				put(t, p, "fresh")
				restart()
				require.Equal(t, []string{"fresh"}, poll(t, p, 9))
				r = ask(t, p, &op.Request{Kind: op.GetBookmark, Key: key})
				require.False(t, r.Found, "no bookmark of the generation before")
			})
		}
	}
}

// TestClients: many at once, while replicas are killed and restarted; every
// append that was answered is there once, at its offset.
func TestClients(t *testing.T) {
	o := options(t)
	p := partition(t, o, 3)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	at := map[op.Offset]string{}
	for c := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < 60; {
				text := fmt.Sprintf("client %d message %d", c, i)
				short, done := context.WithTimeout(ctx, time.Second)
				r, err := p.Do(short, &op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload(text)}})
				done()
				if ctx.Err() != nil {
					return
				}
				if err == nil && r.Code == op.OK {
					mu.Lock()
					at[r.Position.Offset] = text
					mu.Unlock()
					i++
				}
			}
		}()
	}
	for i := range 6 {
		time.Sleep(50 * time.Millisecond)
		id := i%3 + 1
		p.Kill(id)
		require.NoError(t, p.Start(id))
	}
	wg.Wait()
	require.NoError(t, ctx.Err(), "every client got its answers in time")
	require.Len(t, at, 8*60)
	got := poll(t, p, 1<<20)
	for o, text := range at {
		require.Equal(t, text, got[o], "offset %d", o)
	}
}

// TestPowerLoss: under a policy that syncs nothing a replica that was not stopped
// before its machine lost power comes back as another member, and one that was
// stopped as itself.
func TestPowerLoss(t *testing.T) {
	for _, clean := range []bool{true, false} {
		o := options(t)
		o.Replica.Policy = replica.Policy{Messages: replica.Replicated, Bookmarks: replica.Replicated}
		o.Replica.BootID = 1
		p := partition(t, o, 3)
		put(t, p, "a")
		id := p.Leader()%3 + 1
		if clean {
			require.NoError(t, p.Stop(id))
		} else {
			p.Kill(id)
		}
		put(t, p, "b")
		p.o.Replica.BootID = 2
		require.NoError(t, p.Start(id))
		n := p.Replica(id)
		var suspect error
		n.look(func(r *replica.Replica) { suspect = r.Report().Suspect })
		var unclean *replica.UncleanError
		require.Equal(t, !clean, errors.As(suspect, &unclean))
		joins(t, n, 2)
		// It counts: without one of the others there is a majority still.
		p.Kill(p.Leader())
		require.EqualValues(t, 2, put(t, p, "c").Position.Offset)
	}
}

// joins waits until a replica has all messages up to end, and a vote.
func joins(t *testing.T, n *Node, end op.Offset) {
	t.Helper()
	require.Eventually(t, func() bool {
		suspect := true
		n.look(func(r *replica.Replica) { suspect = r.Standing().Suspect })
		v, err := n.View()
		require.NoError(t, err)
		return !suspect && v.Facts.End == end
	}, 20*time.Second, 5*time.Millisecond, "it has all messages, and a vote")
}

// TestEmptyDisk: a replica whose disk is gone knows it by itself, whether its process
// was restarted or all of them. One of three joins again as another member; one that is
// alone does not begin anew.
func TestEmptyDisk(t *testing.T) {
	for _, all := range []bool{false, true} {
		o := options(t)
		p := partition(t, o, 3)
		put(t, p, "a", "b")
		id := p.Leader()%3 + 1
		require.NoError(t, p.Stop(id))
		require.NoError(t, os.RemoveAll(p.options(id).Root))
		if all {
			require.NoError(t, p.Close())
			p = partition(t, o, 3)
		} else {
			require.NoError(t, p.Start(id))
		}
		var suspect error
		p.Replica(id).look(func(r *replica.Replica) { suspect = r.Report().Suspect })
		var lost *replica.LostError
		require.ErrorAs(t, suspect, &lost)
		joins(t, p.Replica(id), 2)
		p.Kill(p.Leader())
		require.EqualValues(t, 2, put(t, p, "c").Position.Offset)
	}
	o := options(t)
	p := partition(t, o, 1)
	put(t, p, "a")
	require.NoError(t, p.Close())
	require.NoError(t, os.RemoveAll(p.options(1).Root))
	_, err := OpenPartition(o, 1)
	var lost *replica.LostError
	require.ErrorAs(t, err, &lost)
}

// TestStopped: what was not answered has an unknown outcome, and a folder has
// one replica at a time.
func TestStopped(t *testing.T) {
	o := options(t)
	o.Replica.ID, o.Replica.Members = 1, []int{1, 2, 3} // nobody to agree with
	require.NoError(t, Format(o))
	n, err := Open(o)
	require.NoError(t, err)
	_, err = Open(o)
	require.ErrorContains(t, err, "in use by another replica")

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	a, err := n.Do(context.Background(), &op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload("x")}})
	require.NoError(t, err)
	require.Equal(t, op.NotLeader, a.Reply.Code)
	<-ctx.Done()
	n.Kill()
	_, err = n.Do(context.Background(), &op.Request{Kind: op.ListOffsets})
	require.ErrorIs(t, err, ErrStopped)
	_, err = n.View()
	require.ErrorIs(t, err, ErrStopped)
}

// TestDefaults: who sets nothing gets a broker that works.
func TestDefaults(t *testing.T) {
	p := partition(t, Options{Root: t.TempDir() + "/p0"}, 1)
	r := ask(t, p, &op.Request{Kind: op.Register})
	require.Equal(t, op.OK, r.Code)
	req := &op.Request{Kind: op.Append, Session: r.Session, Sequence: 1, Payloads: []op.Payload{op.Payload("a")}}
	require.EqualValues(t, 0, ask(t, p, req).Position.Offset)
	require.EqualValues(t, 0, ask(t, p, req).Position.Offset, "a repeat")
	require.Equal(t, []string{"a"}, poll(t, p, 9))
}

// TestForeign: the disk of another replica is refused, and left alone.
func TestForeign(t *testing.T) {
	o := options(t)
	p, err := OpenPartition(o, 1)
	require.NoError(t, err)
	put(t, p, "mine")
	require.NoError(t, p.Close())
	o.Replica.Cluster++
	_, err = OpenPartition(o, 1)
	require.ErrorContains(t, err, "want 8/p0/r1/i1, got 7/p0/r1/i1")
	o.Replica.Cluster--
	require.Equal(t, []string{"mine"}, poll(t, partition(t, o, 1), 9))
}

// brokenSync fails the syncs of the journal once it is told to.
type brokenSync struct {
	vfs.FS
	broken *atomic.Bool
}

type brokenFile struct {
	vfs.File
	broken *atomic.Bool
}

func (b brokenSync) Create(l vfs.Label, path string) (vfs.File, error) {
	f, err := b.FS.Create(l, path)
	return brokenFile{f, b.broken}, err
}

func (b brokenFile) Sync(l vfs.Label) error {
	if b.broken.Load() {
		return &fs.PathError{Op: "sync", Path: "journal", Err: errors.New("input/output error")}
	}
	return b.File.Sync(l)
}

// TestDiskError: a disk whose sync fails stops the node, and nobody is answered.
func TestDiskError(t *testing.T) {
	o := options(t)
	o.Replica.ID, o.Replica.Members = 1, []int{1}
	var broken atomic.Bool
	o.Disk = func(real vfs.FS) vfs.FS { return brokenSync{real, &broken} }
	require.NoError(t, Format(o))
	n, err := Open(o)
	require.NoError(t, err)
	for {
		v, err := n.View()
		require.NoError(t, err)
		if v.Role == consensus.Leader && v.Serving {
			break
		}
		time.Sleep(time.Millisecond)
	}
	req := &op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload("x")}}
	a, err := n.Do(context.Background(), req)
	require.NoError(t, err)
	require.Equal(t, op.OK, a.Reply.Code)
	broken.Store(true)
	_, err = n.Do(context.Background(), req)
	require.ErrorIs(t, err, ErrStopped)
	var disk *replica.DiskError
	require.ErrorAs(t, err, &disk)
	require.ErrorAs(t, n.Close(), &disk)
}
