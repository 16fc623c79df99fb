package traces

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"purgelab/impl/observe"
)

// Shown is how often traces show an action of the specification, or a situation
// that matters to a purge.
type Shown struct {
	Design string `json:"design"`
	What   string `json:"what"` // Ordered!PurgeBegin, or a situation
	Count  int    `json:"count"`
	First  string `json:"first,omitempty"` // the seed that showed it first, or the file
	Trace  string `json:"trace,omitempty"` // the name of that trace
	// Never says why no trace can show it.
	Never string `json:"never,omitempty"`
	// Held, of an action, says what its events are held to where that is not the action.
	Held string `json:"held,omitempty"`
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

// Why steps of a transfer are not.
const (
	refuses = "it changes nothing: it is a situation"
	staged  = "one with the StageState that comes after"
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
	"Transfer!RefuseTransfer":        refuses,
	"TransferReset!CommitElsewhere":  "ops that are not given come with the offer that has their effects",
	"TransferReset!RefuseTransfer":   refuses,
	"TransferReset!StageChunk":       staged,
	"TransferReset!SyncPiece":        staged,
	"Transfer!StageChunk":            staged,
	"Transfer!SyncPiece":             staged,
	"TransferGroup!RefuseTransfer":   refuses,
	"TransferGroup!StageChunk":       staged,
	"TransferGroup!Compact":          "a matter of one replica",
	"TransferGroup!DropOffer":        "an offer that nobody takes leaves no event",
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
			for _, m := range d.modules(j.level) {
				for _, a := range actions[m] {
					name := m + "!" + a
					r := c.row(d, name)
					r.Never, r.Held = never[name], bounded[j.root][observe.Action(a)]
				}
			}
		}
		for _, s := range situations {
			if why, ok := s.in(d); ok {
				c.row(d, s.name).Never = why
			}
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
		r.First, r.Trace = cmp.Or(r.First, t.origin()), cmp.Or(r.Trace, t.Name)
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
	for _, what := range shownBy(t) {
		c.saw(d, t, what)
	}
	for _, j := range d.jobs(t) {
		if j.piece.Level == Local {
			for _, what := range crashesIn(j.steps) {
				c.saw(d, t, what)
			}
		}
		for i := range j.steps {
			if name, ok := j.steps[i].action(j.judge); ok {
				c.saw(d, t, name)
			}
		}
	}
}

// modules are those of the specification that hold the actions of a level: that of the
// design, and that of its transfers.
func (d *design) modules(l Level) []string {
	j := &d.local
	if l == Group {
		j = &d.group
	}
	return []string{j.spec, j.moves}
}

// ofTransfer are the actions of a transfer that the modules of transfers have.
var ofTransfer = []observe.Action{Compact, OfferTransfer, RefuseTransfer, StageManifest, StageState, CommitInstall, DropTransfer, CommitElsewhere}

// action is the action of the specification that the step is; false if it is one of
// the trace module only.
func (s *step) action(j *judge) (string, bool) {
	switch {
	case s.Ended, s.Action == NewIncarnation && !s.Unseen:
		return "", false
	case j == &ordered.local && s.Action == Reclaim && s.Generation == 0 && s.Offset > 0:
		return "", false // of segments below the start, which Ordered leaves out
	}
	if slices.Contains(ofTransfer, s.Action) {
		return j.moves + "!" + string(s.Action), true
	}
	name := string(s.Action)
	if n, ok := folded[j.spec][s.Action]; ok {
		name = n
	}
	return j.spec + "!" + name, true
}
