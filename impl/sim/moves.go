package sim

import (
	"purgelab/impl/observe"
	"purgelab/impl/transfer"
)

// Moves counts transfers of state.
type Moves struct {
	Compacted   int `json:"compacted,omitempty"`   // journals that dropped ops
	Offered     int `json:"offered,omitempty"`     // checkpoints that were offered
	Started     int `json:"started,omitempty"`     // pulls that began with nothing
	Resumed     int `json:"resumed,omitempty"`     // pulls that went on with what was there
	Interrupted int `json:"interrupted,omitempty"` // pulls that ended without an install
	Completed   int `json:"completed,omitempty"`   // installs
	Purged      int `json:"purged,omitempty"`      // purges that fell into a transfer
	// Refused, by reason, in the order of transfer.Reasons.
	Refused []int `json:"refused,omitempty"`
}

// note counts an event; pulling is, per machine, whether it pulls now.
func (m *Moves) note(e *observe.Event, pulling []bool) {
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
		} else {
			m.Started++
		}
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
		for _, on := range pulling {
			if on {
				m.Purged++
				return
			}
		}
	}
}

// each calls f with every counter.
func (m *Moves) each(f func(name string, n int)) {
	f("journals compacted", m.Compacted)
	f("transfers offered", m.Offered)
	f("transfers started", m.Started)
	f("transfers resumed", m.Resumed)
	f("transfers interrupted", m.Interrupted)
	f("transfers completed", m.Completed)
	f("purges amid a transfer", m.Purged)
	for i, r := range transfer.Reasons {
		n := 0
		if m.Refused != nil {
			n = m.Refused[i]
		}
		f("transfers refused, "+string(r), n)
	}
}

func (m *Moves) add(o *Moves) {
	m.Compacted += o.Compacted
	m.Offered += o.Offered
	m.Started += o.Started
	m.Resumed += o.Resumed
	m.Interrupted += o.Interrupted
	m.Completed += o.Completed
	m.Purged += o.Purged
	if o.Refused != nil && m.Refused == nil {
		m.Refused = make([]int, len(transfer.Reasons))
	}
	for i, n := range o.Refused {
		m.Refused[i] += n
	}
}
