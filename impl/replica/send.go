package replica

import "go.etcd.io/raft/v3/raftpb"

func (r *Replica) send(ms []*raftpb.Message) {
	for _, m := range ms {
		r.out.Messages = append(r.out.Messages, Message{From: r.cfg.ID, To: machineOf(m.GetTo()), Partition: r.cfg.Partition, Incarnation: r.cfg.Incarnation, Raft: m})
	}
}

// DropProposals makes this replica drop what it would propose, and call dropped for
// each, until it is called with nil: see package consensus.
func (r *Replica) DropProposals(dropped func()) {
	if r.node != nil {
		r.node.DropProposals(dropped)
	}
}
