package sim

import (
	"math/rand/v2"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/replica"
	"purgelab/model/op"
)

// Network holds the properties of every link. Probabilities are per message.
type Network struct {
	Loss      float64 `json:"loss"`
	Duplicate float64 `json:"duplicate"`
	// Slow is the chance that a message takes up to SlowDelay instead of
	// MinDelay..MaxDelay, and is overtaken by many others.
	Slow float64 `json:"slow"`
	// Delays in microseconds.
	MinDelay  int64 `json:"minDelay,omitempty"`  // 100
	MaxDelay  int64 `json:"maxDelay,omitempty"`  // 1500
	SlowDelay int64 `json:"slowDelay,omitempty"` // 60000
}

func (n *Network) defaults() {
	if n.MinDelay == 0 {
		n.MinDelay = 100
	}
	if n.MaxDelay == 0 {
		n.MaxDelay = 1500
	}
	if n.SlowDelay == 0 {
		n.SlowDelay = 60 * Millisecond
	}
}

// network decides the fate of each message. Ends are replicas 1..n; 0 stands
// for the clients.
type network struct {
	Network
	ends    int
	cut     []int    // per ordered link: how many faults hold it cut
	dropped []uint64 // per ordered link: messages that met a cut
	rand    []*rand.Rand
}

func (n *network) init(o Network, replicas int, seed uint64) {
	n.Network, n.ends = o, replicas+1
	n.cut = make([]int, n.ends*n.ends)
	n.dropped = make([]uint64, n.ends*n.ends)
	n.rand = make([]*rand.Rand, n.ends*n.ends)
	for i := range n.rand {
		n.rand[i] = Split(seed, "link-"+string(rune('0'+i/n.ends))+"-"+string(rune('0'+i%n.ends)))
	}
}

// lostInTransit is a delay that never comes.
const lostInTransit = -1

// route draws what happens to one message: the delays of its copies,
// lostInTransit for a copy that does not arrive. The second is lostInTransit
// nearly always.
func (n *network) route(from, to int, mayDuplicate bool, fx *Effects) (first, second int64) {
	l := from*n.ends + to
	r := n.rand[l]
	second = lostInTransit
	switch {
	case n.cut[l] > 0:
		n.dropped[l]++
		fx.Partitioned++
		first = lostInTransit
	case n.Loss > 0 && r.Float64() < n.Loss:
		fx.Lost++
		first = lostInTransit
	default:
		first = n.delay(r, fx)
	}
	if mayDuplicate && n.Duplicate > 0 && n.cut[l] == 0 && r.Float64() < n.Duplicate {
		fx.Duplicated++
		second = n.delay(r, fx)
	}
	return first, second
}

func (n *network) delay(r *rand.Rand, fx *Effects) int64 {
	if n.Slow > 0 && r.Float64() < n.Slow {
		fx.Slowed++
		return n.MaxDelay + r.Int64N(n.SlowDelay)
	}
	return n.MinDelay + r.Int64N(n.MaxDelay-n.MinDelay+1)
}

// parcel is a raft message on its way.
type parcel struct {
	m     replica.Message
	shard int
}

// send takes a message from a replica. Messages are never changed after they
// were sent, by raft neither, so copies share one.
func (c *Cluster) send(h int, m replica.Message) {
	if c.o.Watch != nil && m.Raft != nil && !m.Raft.GetReject() {
		switch m.Raft.GetType() {
		case raftpb.MsgAppResp:
			c.o.Watch.Acknowledged(m.From, op.Partition(h), op.Number(m.Raft.GetIndex())+c.machines[m.From].members[h].shift)
		case raftpb.MsgVoteResp:
			c.o.Watch.Voted(m.From, m.Partition, m.Raft.GetTerm())
		}
	}
	p := parcel{m, h}
	if m.Transfer != nil {
		if m.Transfer.Chunk != nil && c.o.Watch != nil {
			c.o.Watch.Served(c.now/Millisecond, m.From, op.Partition(h), m.Transfer.Chunk.Data)
		}
		p = c.spoilt(p)
	}
	first, second := c.net.route(m.From, m.To, true, &c.Effects)
	if first != lostInTransit {
		c.schedule(first, event{kind: evMessage, slot: c.messages.put(p)})
	}
	if second != lostInTransit {
		c.schedule(second, event{kind: evMessage, slot: c.messages.put(p)})
	}
}

func (c *Cluster) deliver(slot int32) {
	p := c.messages.take(slot)
	if !c.machines[p.m.To].up {
		c.Effects.ToDead++
		return
	}
	c.inMessage = p.m
	if h := c.machines[p.m.To].current[p.m.Partition]; h != nobody && !c.over(p.shard) {
		c.step(p.m.To, h, replica.Input{Message: &c.inMessage})
	}
}

// SetNetwork changes the properties of all links from now on.
func (c *Cluster) SetNetwork(n Network) {
	n.defaults()
	c.net.Network = n
}

// Network as it is now.
func (c *Cluster) Network() Network { return c.net.Network }

// Cut cuts the link from one replica to another; cuts add up. End 0 stands for
// the clients.
func (c *Cluster) Cut(from, to int) { c.net.cut[from*c.net.ends+to]++ }

// Mend takes back one Cut.
func (c *Cluster) Mend(from, to int) {
	if l := from*c.net.ends + to; c.net.cut[l] > 0 {
		c.net.cut[l]--
	}
}

// Dropped counts the messages that met a cut on this link.
func (c *Cluster) Dropped(from, to int) uint64 { return c.net.dropped[from*c.net.ends+to] }
