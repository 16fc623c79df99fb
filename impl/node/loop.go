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
	synced := make(chan struct{})
	go func() {
		defer close(synced)
		for call := range n.syncs {
			n.sync(call)
		}
	}()
	err := n.run()
	close(n.syncs)
	<-synced // no file is let go under a sync
	if n.links != nil {
		n.links.leave(n)
	}
	if n.err = err; n.err == nil && n.late != nil {
		n.err = n.step(replica.Input{Sync: n.late})
	}
	// Else nothing more is done, not even to files: what is gathered in memory for
	// them is lost, and the garbage collector closes them.
	if n.err == nil && n.clean {
		n.err = n.machine.Close()
	}
	n.machine = nil
	n.err = errors.Join(n.err, n.lock.Close())
}

// run lets the machine do what there is to do, and waits when there is nothing.
func (n *Node) run() error {
	ticks := time.NewTicker(n.tick)
	defer ticks.Stop()
	for busy := true; ; {
		ticked, stop := n.wait(busy, ticks.C)
		n.mu.Lock()
		err := n.failed
		if err == nil && !stop {
			err = n.turn(ticked)
		}
		if n.next != nil && err == nil {
			n.syncs <- n.next
			n.next = nil
		}
		busy = n.work
		n.ended = stop || err != nil
		n.mu.Unlock()
		if stop || err != nil {
			return err
		}
	}
}

// wait returns when something came or is to be done.
func (n *Node) wait(busy bool, ticks <-chan time.Time) (ticked, stop bool) {
	if busy {
		select {
		case <-n.stopping:
			return false, true
		case <-ticks:
			return true, false
		default:
			return false, false
		}
	}
	select {
	case <-n.in.wake:
		return false, false
	case <-ticks:
		return true, false
	case <-n.stopping:
		return false, true
	}
}

// sync makes a sync that the machine asked for, and goes straight on to the next
// one if there is something to sync by then, since a disk that waits is time lost.
func (n *Node) sync(call func() error) {
	for call != nil {
		result := &replica.SyncResult{Err: call()}
		n.mu.Lock()
		if n.ended {
			n.late, call = result, nil
		} else {
			err := n.step(replica.Input{Sync: result})
			if err == nil && n.work {
				err = n.step(replica.Input{Work: true}) // calls that came go into the batch after it
			}
			call, n.next = n.next, nil
			if n.failed = err; err != nil || n.work {
				n.in.signal()
			}
		}
		n.mu.Unlock()
	}
}

// turn takes in what has come and does one piece of work. n.mu is held.
func (n *Node) turn(ticked bool) error {
	if ticked {
		if err := n.step(replica.Input{Tick: true}); err != nil {
			return err
		}
	}
	n.in.take(&n.got)
	for _, m := range n.got.messages {
		msg, err := m.decode()
		if err != nil {
			return fmt.Errorf("node: message from replica %d: %w", m.from, err)
		}
		if err := n.step(replica.Input{Message: &msg}); err != nil {
			return err
		}
	}
	for _, c := range n.got.calls {
		n.token++
		n.calls[n.token] = c
		if err := n.step(replica.Input{Request: &replica.Request{Token: n.token, Op: c.req}}); err != nil {
			return err
		}
	}
	if !n.work {
		return nil
	}
	return n.step(replica.Input{Work: true})
}

// step gives the machine one input and hands out what leaves it. n.mu is held.
func (n *Node) step(in replica.Input) error {
	in.Now = n.now()
	out, err := n.machine.Step(in)
	if err != nil {
		return err
	}
	n.work = out.Work
	if out.Sync != nil {
		n.next = out.Sync
	}
	for i := range out.Messages {
		if n.links != nil {
			if err := n.links.send(&out.Messages[i]); err != nil {
				return err
			}
		}
	}
	for i := range out.Answers {
		a := out.Answers[i]
		if c := n.calls[a.Token]; c != nil {
			delete(n.calls, a.Token)
			c.answer <- a
		}
	}
	return nil
}

// now is the wall clock, which does not fall while the node runs.
func (n *Node) now() int64 { return n.begun.Add(time.Since(n.begun)).UnixMilli() }
