package meta

import (
	"cmp"
	"math"
	"slices"

	"purgelab/impl/defect"
	"purgelab/model/op"
)

// State is what the log of the plane says. The same ops give the same state on
// every replica.
type State struct {
	topics   []TopicState // by number
	sessions []session    // by number
	created  Serial       // how many serial numbers were given out
	machines []int        // that have a member of each partition
	limit    int          // of sessions
	gapEvery int
	defects  defect.Set
}

// TopicState is a topic with all partitions that it ever had, by number.
type TopicState struct {
	Topic      Topic
	Partitions []Partition
}

// Partition is one partition in its latest incarnation.
type Partition struct {
	Topic       Topic
	ID          op.Partition
	Incarnation op.Incarnation
	Serial      Serial
	Deleted     bool
	// First is the incarnation that was created; those after it go on from the one
	// before, and Source says from what.
	First  op.Incarnation
	Source Source
	// Sealed: the incarnation is to end. Standings are what machines reported of
	// their members: if sealed, since then. The list is never modified in place.
	Sealed    bool
	Standings []Standing
	// Intents are the purges since the partition was created, by generation. The
	// list only grows, and its elements never change.
	Intents []Intent
}

// Intent is a purge that was promised.
type Intent struct {
	Generation op.Generation
	// Previous is the generation of the intent before it in this incarnation, 0
	// if it is the first.
	Previous op.Generation
	Expected *op.Position
}

// Highest is the generation of the latest intent, 0 without one.
func (p *Partition) Highest() op.Generation {
	if len(p.Intents) == 0 {
		return 0
	}
	return p.Intents[len(p.Intents)-1].Generation
}

// session remembers the last command of a caller.
type session struct {
	id    op.Session
	last  op.Sequence // 0: none yet
	reply Reply
	used  op.Number
}

func newState(initial []Placement, machines []int, limit, gapEvery int) State {
	s := State{limit: limit, gapEvery: gapEvery, machines: machines}
	for _, p := range initial {
		s.create(p)
	}
	return s
}

// Topics are all topics, by number.
func (s *State) Topics() []TopicState { return s.topics }

// Each calls f with every partition that ever was, topic by topic, by number.
func (s *State) Each(f func(*Partition)) {
	for i := range s.topics {
		for j := range s.topics[i].Partitions {
			f(&s.topics[i].Partitions[j])
		}
	}
}

// Partition finds a partition, deleted ones too; nil if there never was one.
func (s *State) Partition(id op.Partition) *Partition {
	for i := range s.topics {
		for j := range s.topics[i].Partitions {
			if p := &s.topics[i].Partitions[j]; p.ID == id {
				return p
			}
		}
	}
	return nil
}

// Outcome tells what a command of a session came to, as long as it is the last
// one of it.
func (s *State) Outcome(id op.Session, n op.Sequence) (Reply, bool) {
	if i, ok := s.session(id); ok && s.sessions[i].last == n {
		return s.sessions[i].reply, true
	}
	return Reply{}, false
}

func (s *State) session(id op.Session) (int, bool) {
	return slices.BinarySearchFunc(s.sessions, id, func(x session, id op.Session) int { return cmp.Compare(x.id, id) })
}

// execute carries a command out, once for each session and sequence.
func (s *State) execute(n op.Number, r *Request) (reply Reply, changed bool) {
	if r.Kind == Register {
		s.register(n)
		return Reply{Session: op.Session(n)}, false
	}
	if r.Kind.repeatable() {
		return Reply{Results: []Result{s.standing(r)}}, true
	}
	i, ok := s.session(r.Session)
	if !ok {
		return Reply{Code: op.SessionExpired}, false
	}
	switch x := &s.sessions[i]; {
	case r.Sequence < x.last:
		return Reply{Code: op.StaleSequence}, false
	case r.Sequence == x.last && !(s.defects.Has(defect.IntentRepeated) && r.Kind == PurgePartition):
		return x.reply, false
	}
	reply = Reply{Results: s.perform(n, r)}
	x := &s.sessions[i]
	x.last, x.reply, x.used = r.Sequence, reply, n
	return reply, slices.ContainsFunc(reply.Results, func(r Result) bool { return r.Code == op.OK })
}

// register opens a session named by its op; when the table is full the one goes
// that executed nothing for longest.
func (s *State) register(n op.Number) {
	if s.limit > 0 && len(s.sessions) >= s.limit {
		oldest := 0
		for i := range s.sessions {
			if s.sessions[i].used < s.sessions[oldest].used {
				oldest = i
			}
		}
		s.sessions = slices.Delete(s.sessions, oldest, oldest+1)
	}
	s.sessions = append(s.sessions, session{id: op.Session(n), used: n})
}

func (s *State) perform(n op.Number, r *Request) []Result {
	if r.Kind == PurgeTopic {
		var out []Result
		for i := range s.topics {
			if s.topics[i].Topic != r.Topic {
				continue
			}
			for j := range s.topics[i].Partitions {
				one := Request{Kind: PurgePartition, Partition: s.topics[i].Partitions[j].ID}
				for _, b := range r.Believed {
					if b.Partition == one.Partition {
						one.Incarnation = b.Incarnation
					}
				}
				out = append(out, s.purge(n, &one))
			}
		}
		if s.defects.Has(defect.TopicFailsTogether) {
			return failTogether(out)
		}
		return out
	}
	switch r.Kind {
	case CreatePartition:
		return []Result{s.createNew(r)}
	case PurgePartition:
		return []Result{s.purge(n, r)}
	}
	p, refusal := s.existing(r)
	if p == nil {
		return []Result{refusal}
	}
	switch r.Kind {
	case RecreatePartition:
		s.renew(p)
		return []Result{p.result()}
	case ForceIncarnation:
		if !p.Sealed || len(p.Standings) == 0 {
			// It goes on, or nobody has said yet what there is to go on from.
			return []Result{{Partition: p.ID, Code: op.PolicyViolation, Incarnation: p.Incarnation, Serial: p.Serial}}
		}
		s.begin(p, true)
		return []Result{p.result()}
	}
	p.Deleted, p.Intents = true, nil
	return []Result{p.result()}
}

// failTogether is a defect: the first refusal is that of all.
func failTogether(list []Result) []Result {
	i := slices.IndexFunc(list, func(r Result) bool { return r.Code != op.OK })
	if i < 0 {
		return list
	}
	out := slices.Clone(list)
	for k := range out {
		out[k] = Result{Partition: out[k].Partition, Code: list[i].Code}
	}
	return out
}

// existing finds the partition of a request, or says what is wrong with it.
func (s *State) existing(r *Request) (*Partition, Result) {
	p := s.Partition(r.Partition)
	switch {
	case p == nil || p.Deleted:
		return nil, Result{Partition: r.Partition, Code: op.UnknownPartition}
	case r.Incarnation != 0 && r.Incarnation != p.Incarnation:
		return nil, Result{Partition: r.Partition, Code: op.StaleIncarnation, Incarnation: p.Incarnation, Serial: p.Serial}
	}
	return p, Result{}
}

func (p *Partition) result() Result {
	return Result{Partition: p.ID, Incarnation: p.Incarnation, Serial: p.Serial}
}

func (s *State) createNew(r *Request) Result {
	p := s.Partition(r.Partition)
	switch {
	case p == nil:
		return s.create(Placement{r.Topic, r.Partition}).result()
	case !p.Deleted || p.Topic != r.Topic:
		return Result{Partition: r.Partition, Code: op.PolicyViolation, Incarnation: p.Incarnation, Serial: p.Serial}
	}
	s.renew(p)
	return p.result()
}

// create adds a partition that never was.
func (s *State) create(at Placement) *Partition {
	i, found := slices.BinarySearchFunc(s.topics, at.Topic, func(t TopicState, n Topic) int { return int(t.Topic) - int(n) })
	if !found {
		s.topics = slices.Insert(s.topics, i, TopicState{Topic: at.Topic})
	}
	t := &s.topics[i]
	j, _ := slices.BinarySearchFunc(t.Partitions, at.Partition, func(p Partition, n op.Partition) int { return int(p.ID) - int(n) })
	t.Partitions = slices.Insert(t.Partitions, j, Partition{Topic: at.Topic, ID: at.Partition})
	s.renew(&t.Partitions[j])
	return &t.Partitions[j]
}

// renew begins the next incarnation: nothing of the one before it counts.
func (s *State) renew(p *Partition) {
	p.Incarnation++
	p.Serial = s.created
	p.Deleted, p.Intents = false, nil
	p.First, p.Source, p.Sealed, p.Standings = p.Incarnation, Source{}, false, nil
	s.created++
}

func (s *State) purge(n op.Number, r *Request) Result {
	p, refusal := s.existing(r)
	if p == nil {
		return refusal
	}
	g := p.Highest()
	step := op.Generation(1)
	if s.gapEvery > 0 && int(n)%s.gapEvery == 0 {
		step = 2
	}
	if g > math.MaxInt32-step {
		return Result{Partition: p.ID, Code: op.PolicyViolation, Incarnation: p.Incarnation, Serial: p.Serial}
	}
	p.Intents = append(p.Intents, Intent{Generation: g + step, Previous: g, Expected: r.Expected})
	out := p.result()
	out.Generation = g + step
	return out
}
