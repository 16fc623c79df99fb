package replay

import (
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/consensus"
	"purgelab/impl/replica"
	"purgelab/traces/behaviours"
)

// This file has the replica lead, for what only a leader does. Whom the driver speaks for
// then follows: it votes for the replica, and takes every op that it is sent.

// lead lets time pass until the replica leads. It begins with an op of its own.
func (d *driver) lead() error {
	d.leads = true
	const most = 100 // ticks: no replica waits as long
	for range most {
		if d.r.View().Role == consensus.Leader {
			return nil
		}
		if err := d.step(replica.Input{Tick: true}); err != nil {
			return err
		}
		if err := d.assent(); err != nil {
			return err
		}
	}
	return &missing{"Hold"}
}

// assent answers all that the replica sends.
func (d *driver) assent() error {
	for {
		if err := d.agree(); err != nil {
			return err
		}
		if len(d.sent) == 0 {
			return nil
		}
		m := d.sent[0]
		d.sent = d.sent[1:]
		yes := &raftpb.Message{Term: m.Term, Context: m.Context}
		switch m.GetType() {
		case raftpb.MsgPreVote:
			yes.Type = raftpb.MsgPreVoteResp.Enum()
		case raftpb.MsgVote:
			yes.Type = raftpb.MsgVoteResp.Enum()
		case raftpb.MsgApp:
			yes.Type, yes.Index = raftpb.MsgAppResp.Enum(), ptr(m.GetIndex()+uint64(len(m.Entries)))
		case raftpb.MsgHeartbeat:
			yes.Type = raftpb.MsgHeartbeatResp.Enum()
		default:
			continue
		}
		if err := d.tell(yes); err != nil {
			return err
		}
	}
}

func takeHold(d *driver, a *behaviours.Act) error {
	if err := d.lead(); err != nil {
		return err
	}
	r, err := request(len(d.log)+1, a.With["o"].(map[string]any))
	if err != nil {
		return err
	}
	// Nobody waits for what has no number, and such a change is refused.
	d.asked++
	r.Session, r.Sequence = 1, d.asked
	return d.shows("Hold", func() error {
		return d.step(replica.Input{Request: &replica.Request{Token: 1, Op: &r}})
	})
}
