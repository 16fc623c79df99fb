package node

import (
	"errors"
	"fmt"
	"time"

	"purgelab/impl/replica"
)

// loop runs the machine until it is told to stop, or the machine does.
func (n *Node) loop() {
	defer close(n.done)
	n.err = n.run()
	if result := n.awaitSync(); result != nil && n.err == nil {
		_, n.err = n.step(replica.Input{Sync: result})
	}
	if n.links != nil {
		n.links.leave(n)
	}
	if n.err == nil && n.clean {
		n.err = n.machine.Close()
	} else {
		n.machine.Release()
	}
	n.err = errors.Join(n.err, n.lock.Close())
}

func (n *Node) run() error {
	syncs := make(chan func() error, 1)
	defer close(syncs)
	n.syncs = syncs
	go n.syncBeside(syncs)
	ticks := time.NewTicker(n.tick)
	defer ticks.Stop()
	var got received
	for work := true; ; {
		ticked := false
		if !work {
			select {
			case <-n.in.wake:
			case <-ticks.C:
				ticked = true
			case <-n.stopping:
				return nil
			}
		} else {
			select {
			case <-n.stopping:
				return nil
			case <-ticks.C:
				ticked = true
			default:
			}
		}
		n.in.take(&got)
		out, err := n.takeIn(&got, ticked)
		if err == nil && (work || out) {
			work, err = n.step(replica.Input{Work: true})
		}
		if err != nil {
			return err
		}
	}
}

// syncBeside makes the syncs that the machine asks for, one at a time, while loop
// goes on.
func (n *Node) syncBeside(calls <-chan func() error) {
	for call := range calls {
		n.in.synced(&replica.SyncResult{Err: call()})
	}
}

// awaitSync waits for the sync that is under way, so that no file is let go under
// it; nil if there is none.
func (n *Node) awaitSync() *replica.SyncResult {
	for n.syncing {
		var got received
		<-n.in.wake
		n.in.take(&got)
		if got.synced != nil {
			n.syncing = false
			return got.synced
		}
	}
	return nil
}

// takeIn gives the machine what has come; work tells whether it now has some.
func (n *Node) takeIn(got *received, ticked bool) (work bool, err error) {
	if ticked {
		if work, err = n.step(replica.Input{Tick: true}); err != nil {
			return false, err
		}
	}
	if got.synced != nil {
		n.syncing = false
		if work, err = n.step(replica.Input{Sync: got.synced}); err != nil {
			return false, err
		}
	}
	for _, m := range got.messages {
		msg, err := m.decode()
		if err != nil {
			return false, fmt.Errorf("node: message from replica %d: %w", m.from, err)
		}
		if work, err = n.step(replica.Input{Message: &msg}); err != nil {
			return false, err
		}
	}
	for _, c := range got.calls {
		n.token++
		n.calls[n.token] = c
		if work, err = n.step(replica.Input{Request: &replica.Request{Token: n.token, Op: c.req}}); err != nil {
			return false, err
		}
	}
	for _, look := range got.looks {
		look(n.machine)
	}
	return work, nil
}

// step gives the machine one input and hands out what leaves it.
func (n *Node) step(in replica.Input) (work bool, err error) {
	in.Now = n.now()
	out, err := n.machine.Step(in)
	if err != nil {
		return false, err
	}
	for i := range out.Messages {
		if n.links != nil {
			if err := n.links.send(&out.Messages[i]); err != nil {
				return false, err
			}
		}
	}
	if out.Sync != nil {
		n.syncing = true
		n.syncs <- out.Sync
	}
	for i := range out.Answers {
		a := out.Answers[i]
		if c := n.calls[a.Token]; c != nil {
			delete(n.calls, a.Token)
			c.answer <- a
		}
	}
	return out.Work, nil
}

// now is the wall clock, which does not fall while the node runs.
func (n *Node) now() int64 { return n.begun.Add(time.Since(n.begun)).UnixMilli() }
