package contract

import (
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// plan makes the items of one partition's operations for a machine.
type plan struct {
	contract *Contract
	told     *told
	keys     []string
	items    []*item
	unknown  []*item
	judged   int
	dropped  int // answers that tell too little, or refusals
	ids      int
}

func (p *plan) add(o *foreign.Op) {
	c := p.contract
	if o.Outcome == history.NoEffect {
		if o.F != foreign.Purge || !c.failed {
			return
		}
		part := *o
		part.Outcome, part.Return = history.Unknown, history.Never
		o = &part
	}
	if o.Outcome == history.Answered && o.Answer.Code != op.OK {
		p.dropped++
		if o.Answer.Code == op.Gone {
			p.loosen(o)
		}
		return
	}
	if o.Unread() || o.Outcome == history.Answered && o.F == foreign.Purge && c.allows(accepted) {
		if o.Unread() {
			p.dropped++
		}
		part := *o
		part.Outcome, part.Return, part.Answer = history.Unknown, history.Never, foreign.Answer{}
		o = &part
	}
	if o.Outcome == history.Unknown && o.F == foreign.Poll && c.machine != queue && (vague(o) || o.Ask.Strategy != op.Next) {
		part := *o // it is not known from where it read
		part.Ask.Max = nil
		o = &part
	}
	if o.Outcome == history.Unknown && !changes(o) {
		return // nobody will ever see that it happened
	}
	switch {
	case c.machine == queue:
		p.push(p.early(p.told.plain(o)))
	case o.F == foreign.Poll && c.allows(staleReads) && o.Ask.Strategy != op.Next:
		p.dropped++ // of one that may be old, learn checks that it is no invention
		if o.Ask.AutoCommit {
			p.loosen(o)
		}
		return
	case o.F == foreign.ListOffsets && c.stream.sets && c.allows(staleReads):
		p.dropped++
		return
	case vague(o):
		p.dropped++
		p.loosen(o)
		return
	case o.F == foreign.GetBookmark, !p.told.placed && unplaceable(o):
		p.dropped++
		p.loosen(o)
		return
	case o.F == foreign.Purge && c.stream.perCursor:
		p.purgeCursors(o)
	case o.F == foreign.Purge && c.stream.sampled && o.Ask.At == nil && o.Ask.Keep == nil:
		p.phases(o, "")
	default:
		p.push(p.told.plain(o))
	}
	p.judged++
}

// changes tells whether an operation may leave something behind.
func changes(o *foreign.Op) bool {
	switch o.F {
	case foreign.GetBookmark, foreign.ListOffsets:
		return false
	case foreign.Poll:
		return o.Ask.AutoCommit || o.Ask.Strategy == op.Next
	}
	return true
}

// vague tells whether an operation asks by a timestamp, which histories of other systems do
// not tell, or may begin at the end if its bookmark is below the start.
func vague(o *foreign.Op) bool {
	return o.F == foreign.Poll && (o.Ask.Strategy == op.AtTimestamp || o.Ask.Reset != op.Earliest) ||
		o.F == foreign.ListOffsets && o.Ask.Which == op.OffsetForTimestamp
}

// unplaceable tells whether an operation cannot be judged, nor its effect be known,
// without positions.
func unplaceable(o *foreign.Op) bool {
	switch o.F {
	case foreign.ListOffsets:
		return true
	case foreign.Poll:
		return o.Ask.Strategy == op.AtOffset
	}
	return false
}

// loosen adds that nobody knows any more where the cursor of o is.
func (p *plan) loosen(o *foreign.Op) {
	if o.Ask.Key == "" || !changes(o) || p.contract.machine == queue {
		return
	}
	x := p.told.plain(o)
	c := *o
	c.F, c.Ask.At = foreign.StoreBookmark, nil
	x.op = &c
	p.push(x)
}

// early lets a delivery happen at any time since its consumer appeared, if that
// is allowed.
func (p *plan) early(x *item) *item {
	if x.op.F == foreign.Poll && p.contract.allows(prefetch) {
		for _, y := range p.items {
			if y.op.Ask.Key == x.op.Ask.Key && y.op.F == foreign.Poll {
				x.call = min(x.call, y.call)
			}
		}
	}
	return x
}

func (p *plan) push(x *item) {
	if x.unknown >= 0 {
		x.unknown = len(p.unknown)
		p.unknown = append(p.unknown, x)
	}
	p.items = append(p.items, x)
}

// phases adds a purge that sees the end first and removes up to there later.
func (p *plan) phases(o *foreign.Op, key string) {
	p.ids++
	x := p.told.plain(o)
	x.phase, x.id, x.key = effect, p.ids, key
	if x.unknown < 0 {
		first := *x
		first.phase = sampling
		p.push(&first)
	}
	p.push(x)
}

// purgeCursors adds a purge that moves one cursor, or all of them and then trims.
func (p *plan) purgeCursors(o *foreign.Op) {
	if o.Ask.Key != "" {
		p.phases(o, o.Ask.Key)
		return
	}
	for _, k := range p.keys {
		p.phases(o, k)
	}
	x := p.told.plain(o)
	x.phase = trim
	p.push(x)
}
