package traces

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Shown is how often traces show an action of the specification, or a situation
// that matters to a purge.
type Shown struct {
	Design string `json:"design"`
	What   string `json:"what"` // Ordered!PurgeBegin, or a situation
	Count  int    `json:"count"`
	First  string `json:"first,omitempty"` // the seed that showed it first, or the file
	// Never says why no trace can show it.
	Never string `json:"never,omitempty"`
}

// Missed tells whether a trace should have shown it and none did.
func (s *Shown) Missed() bool { return s.Count == 0 && s.Never == "" }

// groupReads is why an action is not in a trace of one replica.
const groupReads = "reads are judged against the group"

// noPlane and noLeader are why an action is not in a trace at all.
const (
	noPlane  = "the metadata plane is not in a trace"
	noLeader = "who proposes, and what is dropped, is not in a trace"
)

// never are the actions that no trace shows as steps of their own, and why.
var never = map[string]string{
	"Advance!ListOffsets":            groupReads,
	"Ordered!Answer":                 groupReads,
	"OrderedGroup!RequestPurge":      noPlane,
	"OrderedGroup!Reconcile":         noLeader,
	"ResetRecord!Cut":                "one with the Journal that replaces what is cut",
	"ResetRecord!DropFloor":          "done before the first boot of a sequence",
	"ResetRecord!Recreate":           "what is created again is another partition",
	"ResetRecordGroup!Propose":       noLeader,
	"ResetRecordGroup!Receive":       noLeader,
	"ResetRecordGroup!StoreProgress": "what a client knows is judged by its history",
}

// folded are actions of a group that have another name than the event, because they
// are more than it: module, event, action.
var folded = map[string]map[observe.Action]string{
	"ResetRecordGroup": {Materialize: "Apply", Filtered: "Apply", ResetRecord: "PurgeLocally"},
}

// Cover counts what traces show. actions are those of the specification by module,
// and every one that belongs to the design of a trace is in the answer, by design
// and name, situations last.
func Cover(list []*Trace, actions map[string][]string) []Shown {
	c := cover{at: map[string]int{}}
	for _, d := range designs {
		if !slices.ContainsFunc(list, func(t *Trace) bool { return t.Header.Design == d.name }) {
			continue
		}
		for _, j := range []*judge{&d.local, &d.group} {
			if d == &advance && j.level == Group {
				continue // those of ordered, without a purge
			}
			for _, a := range actions[j.spec] {
				name := j.spec + "!" + a
				c.row(d, name).Never = never[name]
			}
		}
		for _, s := range d.situations() {
			c.row(d, s)
		}
	}
	for _, t := range list {
		c.trace(t)
	}
	return c.rows
}

type cover struct {
	rows []Shown
	at   map[string]int // design and name -> index in rows
}

func (c *cover) row(d *design, what string) *Shown {
	key := d.name + " " + what
	i, ok := c.at[key]
	if !ok {
		i = len(c.rows)
		c.at[key] = i
		c.rows = append(c.rows, Shown{Design: d.name, What: what})
	}
	return &c.rows[i]
}

// saw counts what is a row already.
func (c *cover) saw(d *design, t *Trace, what string) {
	if i, ok := c.at[d.name+" "+what]; ok {
		r := &c.rows[i]
		r.Count++
		r.First = cmp.Or(r.First, t.origin())
	}
}

// origin names the seed of the run that left the trace.
func (t *Trace) origin() string {
	var s struct{ Seed *uint64 }
	if json.Unmarshal(t.Header.Settings, &s) == nil && s.Seed != nil {
		return fmt.Sprintf("seed %d", *s.Seed)
	}
	return t.Name
}

func (c *cover) trace(t *Trace) {
	d := findDesign(t.Header.Design)
	for p := range t.Header.Partitions {
		a := agreedOf(t, op.Partition(p))
		for i := range a.lines[1:] {
			c.saw(d, t, incarnationBegan)
			if len(a.lines[i].commits) > int(a.lines[i+1].kept)-firstOp {
				c.saw(d, t, committedLost)
			}
		}
	}
	for _, p := range Split(t) {
		j := d.job(p, t.Header, agreedOf(t, p.Partition))
		stage := observe.Action("")
		for i := range j.steps {
			s := &j.steps[i]
			if name, ok := s.action(j.judge); ok {
				c.saw(d, t, name)
			}
			if p.Level == Group {
				continue
			}
			switch s.Action {
			case ProcessCrash, PowerLoss:
				c.saw(d, t, crashAfter(stage))
			case Boot, Serve, PurgeComplete, PurgeBegin, PurgeSwitch:
				stage = s.Action
			default:
				if slices.ContainsFunc(stages, func(x stageStep) bool { return x.action == s.Action }) {
					stage = s.Action
				}
			}
		}
	}
}

// action is the action of the specification that the step is; false if it is one of
// the trace module only.
func (s *step) action(j *judge) (string, bool) {
	switch {
	case s.Ended, s.Action == NewIncarnation && !s.Unseen:
		return "", false
	case j == &ordered.local && s.Action == Reclaim && s.Generation == 0 && s.Offset > 0:
		return "", false // of segments below the start, which Ordered leaves out
	}
	name := string(s.Action)
	if n, ok := folded[j.spec][s.Action]; ok {
		name = n
	}
	return j.spec + "!" + name, true
}

// Situations.
const (
	incarnationBegan = "a new incarnation"
	committedLost    = "a new incarnation lacks what was committed"
)

func crashAfter(a observe.Action) string {
	if a == Boot {
		return "crash before Serve"
	}
	return "crash after " + string(a)
}

// situations are those of a design: a crash between any two durable steps of a
// purge, and, where its cleanup keeps a replica from serving, before it serves; and
// what becomes of the log.
func (d *design) situations() []string {
	var out []string
	switch d {
	case &ordered:
		out = append(out, crashAfter(PurgeBegin), crashAfter(PurgeSwitch))
	case &resetRecord:
		out = append(out, crashAfter(Boot))
		for _, s := range stages {
			if s.action != PurgeComplete {
				out = append(out, crashAfter(s.action))
			}
		}
		return out
	}
	return append(out, incarnationBegan, committedLost)
}
