package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/check"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/history"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/verdict"
	"purgelab/linearizability/workload"
	"purgelab/model/op"
)

// Result is what one run left.
type Result struct {
	Settings Settings
	Plan     *faults.Plan
	Workload *workload.Script // what clients asked; nothing if NoTrace
	History  []history.Event
	Trace    []observe.Event

	// Verdict is the worst of Results, which names every property checked.
	Verdict    verdict.Verdict
	Results    []verdict.Result
	Violations []invariant.Violation
	// Checked is the linearizability check by partition.
	Checked []check.Result
	// Rejection says why the specification does not accept the trace, in a few lines;
	// empty if it does or was not asked.
	Rejection string

	// Partitions is how many there were, each incarnation counted.
	Partitions int

	Ops     int    // client operations that ended
	Steps   uint64 // inputs given to replicas
	Millis  int64  // simulated
	Effects sim.Effects
	// Faults counts the planned faults that took effect.
	Faults map[faults.Kind]int
	// Rested and Served are the ticks that it took, see RestTicks and ServeTicks.
	Rested, Served int64
}

// Bounds of simulated time.
const (
	// workLimit is how long the clients may work after the last planned fault,
	// and opLimit what each operation adds.
	workLimit = 120 * sim.Second
	opLimit   = 50 * sim.Millisecond
)

// sessionTable is large enough that no session is evicted in a run: a
// registration whose answer was lost opens a session that the history does not
// show, so the judge could not tell whose turn it is to go.
const sessionTable = 1 << 16

// Run makes one run and judges it. An error means that it could not begin; what
// goes wrong later is in the result. When ctx ends, the result holds what was
// recorded until then and is undecided.
func Run(ctx context.Context, s Settings) (*Result, error) {
	return run(ctx, s, nil)
}

// run is Run with another way to open replicas, for tests.
func run(ctx context.Context, s Settings, open func(replica.Config) (sim.Member, error)) (*Result, error) {
	if err := s.Complete(); err != nil {
		return nil, err
	}
	m, err := simulate(ctx, &s, open)
	if err != nil {
		return nil, err
	}
	r := m.seen
	r.Violations = m.watch.Violations()
	r.judge(ctx, m)
	return r, nil
}

// simulation is a run before it is judged.
type simulation struct {
	plan    *faults.Plan
	watch   *invariant.Checker
	trace   *tracer
	script  *script
	cluster *sim.Cluster
	inject  *faults.Injection
	stuck   string // what keeps the cluster from coming to rest
	unmet   string // an intent that nobody carries out
	seen    *Result
	rested  int64 // ticks from the last fault until it was at rest
	ended   error // why it ended early
}

func simulate(ctx context.Context, s *Settings, open func(replica.Config) (sim.Member, error)) (*simulation, error) {
	defects, err := defect.Parse(s.Defect)
	if err != nil {
		return nil, err
	}
	design, err := replica.ParseDesign(s.Design)
	if err != nil {
		return nil, err
	}
	policy, err := s.policy()
	if err != nil {
		return nil, err
	}
	variants, err := replica.ParseVariants(s.Variant)
	if err != nil {
		return nil, err
	}
	m := &simulation{plan: s.Plan}
	if m.plan == nil {
		if m.plan, err = s.draw(); err != nil {
			return nil, err
		}
	}
	losses := 0
	if s.volatile() {
		m.plan, losses = m.plan.Together(s.Replicas)
	}
	shards := s.Partitions*(1+losses) + s.Recreate
	m.watch = invariant.New(s.Replicas, shards, s.Clients)
	m.watch.Promises(s.Messages == "persisted", s.Bookmarks == "persisted")
	if !m.plan.Storage() {
		m.watch.Sound()
	}
	m.trace = &tracer{check: m.watch, keep: !s.NoTrace, first: make([][]committed, shards), in: make([]int, shards)}
	if m.trace.keep {
		// Some more than what undisturbed replicas tell, so that it is seldom copied.
		m.trace.events = make([]observe.Event, 0, 1000+s.Ops*(s.Replicas+1))
	}
	var swarm *rand.Rand
	if s.Plan == nil && s.Faults == string(faults.Swarm) {
		swarm = sim.Split(s.Seed, "swarm")
	}
	m.script = &script{
		work: workload.New(workload.Options{
			Swarm:   swarm,
			Clients: s.Clients, Partitions: s.Partitions, Ops: s.Ops, Bare: s.Positions == "bare",
			Unknown: max(2, s.Ops/40), MaxThink: maxThink, Accepted: acceptedShare[s.PurgeAck], Recreate: s.Recreate,
		}, sim.Split(s.Seed, "workload")),
		check: m.watch, purges: map[op.Partition][]*sim.Call{}, patience: make([]int64, s.Clients),
	}
	if s.Script != nil {
		m.script.play = s.Script.Play()
	}
	m.script.keep = !s.NoTrace
	m.watch.Design(design)
	m.watch.Policy(policy)
	if design == replica.ResetRecord {
		m.script.work.WithoutConditions()
	}
	o := sim.Options{
		Seed: s.Seed, Replicas: s.Replicas, Partitions: s.Partitions, Recreations: s.Recreate, Losses: losses, Clients: s.Clients, Design: design,
		Sessions: sessionTable, Variants: variants, Policy: policy, Hold: s.Hold, Defects: defects, Sink: m.trace, Watch: m.watch, Open: open, DiskFaults: m.plan.Storage(),
	}
	s.shape(&o)
	m.cluster, err = sim.New(o, m.script)
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	m.inject = faults.Inject(m.cluster, m.plan, m.script.work.Fault)
	m.stuck, m.ended = m.phases(ctx, s)
	m.seen = m.result(s)
	if m.stuck == "" && m.ended == nil {
		begun := m.cluster.Now()
		m.stuck, m.ended = m.serve(ctx, s)
		m.seen.Rested, m.seen.Served = m.rested, ticksSince(begun, m.cluster)
	}
	if m.stuck != "" {
		m.unmet = m.cluster.Unsettled()
	}
	return m, nil
}

func (m *simulation) result(s *Settings) *Result {
	r := &Result{
		Settings: *s, Plan: m.plan, History: m.script.rec.Events(), Trace: m.trace.events,
		Ops: m.script.ended, Steps: m.cluster.Steps,
		Millis: m.cluster.Now() / sim.Millisecond, Effects: m.cluster.Effects, Faults: map[faults.Kind]int{},
		Partitions: m.cluster.Created(), Workload: &workload.Script{Steps: m.script.steps},
	}
	for _, k := range faults.Kinds {
		if n := m.inject.Effects(k); n > 0 {
			r.Faults[k] = n
		}
	}
	return r
}

// maxThink is the longest pause of a client, in microseconds.
const maxThink = 30 * sim.Millisecond

// acceptedShare is how many of 100 purges end when they are accepted.
var acceptedShare = map[string]int{"applied": 0, "accepted": 100, "mixed": 50}

// span is how long the clients are likely to work, in milliseconds: faults are
// planned over it, and those that are due later never happen.
func span(s *Settings) int64 {
	if s.Script != nil {
		return s.Script.Last() / sim.Millisecond
	}
	return 300 + int64(s.Ops/s.Clients)*30
}

// phases runs the clients under faults, then to rest, then reads everything. It
// returns what keeps the cluster from coming to rest, if anything does.
func (m *simulation) phases(ctx context.Context, s *Settings) (stuck string, err error) {
	c := m.cluster
	last := int64(0)
	for _, f := range m.plan.Faults {
		last = max(last, f.At+f.For)
	}
	limit := last*sim.Millisecond + workLimit + int64(s.Ops)*opLimit
	err = c.RunUntil(ctx, limit, func() bool {
		m.leaveLost()
		return c.Idle() || len(c.Refusals) > 0
	})
	if err != nil && !errors.Is(err, sim.ErrTimeLimit) {
		return "", err
	}
	m.inject.Stop()
	c.BePatient()
	begun := c.Now()
	if stuck, err = m.rest(ctx); stuck != "" || err != nil {
		return stuck, err
	}
	m.rested = ticksSince(begun, c)
	m.script.reveal(c)
	m.script.beQuiet()
	c.Resume()
	if stuck, err = m.rest(ctx); stuck != "" || err != nil {
		return stuck, err
	}
	m.watch.Promised(c.Now()/sim.Millisecond, c.Plane())
	for _, p := range c.Live() {
		if c.Lost(p) {
			continue
		}
		var members []sim.Member
		for id := 1; id <= s.Replicas; id++ {
			member := c.Member(id, p)
			if c.Unreadable(id, p) {
				member = nil
			}
			members = append(members, member)
		}
		m.watch.Rest(c.Now()/sim.Millisecond, op.Partition(p), members)
	}
	return "", nil
}

// leaveLost ends the calls on partitions whose damaged disks refuse to serve:
// nobody will ever answer them. The other partitions go on.
func (m *simulation) leaveLost() {
	for _, p := range m.cluster.Live() {
		if m.cluster.Lost(p) {
			m.cluster.GiveUp(p)
		}
	}
}
