package node

import (
	"fmt"
	"sync"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"purgelab/impl/replica"
	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// inboxMessages is how many messages wait for a node at most; more are lost, as
// on a network.
const inboxMessages = 1 << 14

// inbox is what has come for a node and was not taken in yet.
type inbox struct {
	mu   sync.Mutex
	got  received
	wake chan struct{} // holds one: something came
}

// received is what came, in the order of its kind.
type received struct {
	calls    []*call
	messages []parcel
}

func (b *inbox) request(c *call) {
	b.mu.Lock()
	b.got.calls = append(b.got.calls, c)
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) message(p parcel) {
	b.mu.Lock()
	if len(b.got.messages) < inboxMessages {
		b.got.messages = append(b.got.messages, p)
	}
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take exchanges what came for the slices of what was taken before.
func (b *inbox) take(into *received) {
	clear(into.calls)
	clear(into.messages)
	empty := received{into.calls[:0], into.messages[:0]}
	b.mu.Lock()
	*into, b.got = b.got, empty
	b.mu.Unlock()
}

// parcel is an encoded message on its way.
type parcel struct {
	from, to    int
	partition   op.Partition
	incarnation op.Incarnation
	join        uint64
	raft        []byte // nil: there is none
	member      uint64
	transfer    *transfer.Message // its manifest encoded
	manifest    []byte
}

func (p *parcel) decode() (replica.Message, error) {
	m := replica.Message{From: p.from, To: p.to, Partition: p.partition, Incarnation: p.incarnation, Join: p.join, Member: p.member}
	if p.transfer != nil {
		t := *p.transfer
		m.Transfer = &t
		if p.manifest != nil {
			var err error
			if t.Offer, err = transfer.DecodeManifest("message", p.manifest); err != nil {
				return m, err
			}
		}
	}
	if p.raft == nil {
		return m, nil
	}
	m.Raft = new(raftpb.Message)
	return m, proto.Unmarshal(p.raft, m.Raft)
}

// Links join the replicas of a partition that run in one process. Messages are
// encoded and decoded afresh, as on a wire, so no two goroutines share one.
type Links struct {
	mu    sync.Mutex
	nodes map[int]*Node
}

func (l *Links) join(n *Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nodes == nil {
		l.nodes = map[int]*Node{}
	}
	l.nodes[n.id] = n
}

func (l *Links) leave(n *Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nodes[n.id] == n {
		delete(l.nodes, n.id)
	}
}

// send gives a message to the node that it is for, if that one runs.
func (l *Links) send(m *replica.Message) error {
	l.mu.Lock()
	to := l.nodes[m.To]
	l.mu.Unlock()
	if to == nil {
		return nil
	}
	p := parcel{from: m.From, to: m.To, partition: m.Partition, incarnation: m.Incarnation, join: m.Join, member: m.Member, transfer: m.Transfer}
	if m.Transfer != nil && m.Transfer.Offer != nil {
		p.manifest = m.Transfer.Offer.Encode()
	}
	if m.Raft != nil {
		var err error
		if p.raft, err = proto.Marshal(m.Raft); err != nil {
			return fmt.Errorf("node: message to replica %d: %w", m.To, err)
		}
	}
	to.in.message(p)
	return nil
}
