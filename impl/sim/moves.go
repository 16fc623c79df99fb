package sim

import (
	"slices"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// Moves counts transfers of state.
type Moves struct {
	Compacted   int `json:"compacted,omitempty"`   // journals that dropped ops
	Offered     int `json:"offered,omitempty"`     // checkpoints that were offered
	Started     int `json:"started,omitempty"`     // pulls that began with nothing
	Resumed     int `json:"resumed,omitempty"`     // pulls that went on with what was there
	Elsewhere   int `json:"elsewhere,omitempty"`   // of those, pulls from another machine than before
	Interrupted int `json:"interrupted,omitempty"` // pulls that ended without an install
	Completed   int `json:"completed,omitempty"`   // installs
	Purged      int `json:"purged,omitempty"`      // purges that fell into a transfer
	// What was done to messages of transfers on their way.
	FlippedChunks    int `json:"flippedChunks,omitempty"`
	FlippedManifests int `json:"flippedManifests,omitempty"`
	Late             int `json:"late,omitempty"` // copies that came late
	// Refused, by reason, in the order of transfer.Reasons.
	Refused []int `json:"refused,omitempty"`
}

// pulls is who gets the state of a shard now, by machine.
type pulls struct {
	on     []bool
	from   []int     // where what it has staged came from last
	purged op.Number // the last purge that was counted
}

// note counts an event of a shard. A purge is counted when the first replica has
// carried it out: where numbering goes on it is a deletion like any other, and those
// are counted.
func (m *Moves) note(e *observe.Event, p *pulls, d replica.Design) {
	pulling := p.on
	end := func() {
		if pulling[e.Replica] {
			m.Interrupted++
		}
		pulling[e.Replica] = false
	}
	switch e.Action {
	case "Compact":
		m.Compacted++
	case "OfferTransfer":
		m.Offered++
	case "StageManifest":
		end()
		pulling[e.Replica] = true
		if e.Kind == "resumed" {
			m.Resumed++
			if e.Peer != p.from[e.Replica] {
				m.Elsewhere++
			}
		} else {
			m.Started++
		}
		p.from[e.Replica] = e.Peer
	case "CommitInstall":
		m.Completed++
		pulling[e.Replica] = false
	case "CopyState": // of a new incarnation; it may have been there
		if pulling[e.Replica] {
			m.Completed++
		}
		pulling[e.Replica] = false
	case "DropTransfer", "ProcessCrash", "PowerLoss":
		end()
	case "RefuseTransfer":
		if m.Refused == nil {
			m.Refused = make([]int, len(transfer.Reasons))
		}
		for i, r := range transfer.Reasons {
			if string(r) == e.Kind {
				m.Refused[i]++
			}
		}
	case "PurgeComplete":
		m.purge(op.Number(e.Generation), p)
	case "Materialize":
		if d == replica.Advance && e.Kind == "advance" {
			m.purge(e.Op, p)
		}
	}
}

// purge counts one, if it fell into a transfer; they have ascending numbers.
func (m *Moves) purge(n op.Number, p *pulls) {
	if n > p.purged && slices.Contains(p.on, true) {
		m.Purged++
	}
	p.purged = max(p.purged, n)
}

// Refused is how reports name the transfers refused for a reason.
func Refused(r transfer.Reason) string { return "transfers refused, " + string(r) }

// each calls f with every counter.
func (m *Moves) each(f func(name string, n int)) {
	f("journals compacted", m.Compacted)
	f("transfers offered", m.Offered)
	f("transfers started", m.Started)
	f("transfers resumed", m.Resumed)
	f("transfers resumed elsewhere", m.Elsewhere)
	f("transfers interrupted", m.Interrupted)
	f("transfers completed", m.Completed)
	f("purges amid a transfer", m.Purged)
	f("chunks flipped in a transfer", m.FlippedChunks)
	f("manifests flipped in a transfer", m.FlippedManifests)
	f("late messages of a transfer", m.Late)
	for i, r := range transfer.Reasons {
		n := 0
		if m.Refused != nil {
			n = m.Refused[i]
		}
		f(Refused(r), n)
	}
}

func (m *Moves) add(o *Moves) {
	m.Compacted += o.Compacted
	m.Offered += o.Offered
	m.Started += o.Started
	m.Resumed += o.Resumed
	m.Elsewhere += o.Elsewhere
	m.Interrupted += o.Interrupted
	m.Completed += o.Completed
	m.Purged += o.Purged
	m.FlippedChunks += o.FlippedChunks
	m.FlippedManifests += o.FlippedManifests
	m.Late += o.Late
	if o.Refused != nil && m.Refused == nil {
		m.Refused = make([]int, len(transfer.Reasons))
	}
	for i, n := range o.Refused {
		m.Refused[i] += n
	}
}
