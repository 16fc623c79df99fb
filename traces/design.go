package traces

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// design is how the traces of one purge design are read and judged.
type design struct {
	name     string
	variants []string // that its trace modules cover
	// volatile: under a policy that is replicated all op numbers begin anew when
	// power fails everywhere, and nothing else is lost; the trace modules cover it.
	volatile bool
	rules    []Rule // the schema of its events, one per action
	local    judge
	group    judge
}

// judge is how one level of a design is judged.
type judge struct {
	level Level
	// root is the trace module, spec the specification's module that it extends, moves
	// the one that has the transfers of state.
	root, spec, moves string
	uses              []string // modules that root extends, beside those of the specification
	// constants of TraceData say which variants a trace is of.
	constants []constant
	// steps makes what TLC gets out of a piece; of an action without a rule they
	// say themselves what of them is read.
	steps func(p Piece, a *agreed) []step
	// starts, if not nil, makes what the disks hold at the beginning of a piece
	// whose op numbers begin anew, and of one whose are the first, as TLA+.
	starts func(p Piece, anew bool) string
	// log, if not nil, makes the ops that were agreed on, as TLA+, a sequence per
	// incarnation.
	log func(p Piece, a *agreed) [][]string
	// reason words why nothing explains a step in a state.
	reason func(s step, f facts) string
}

// Durability policies in a header.
const (
	persisted  = "persisted"
	replicated = "replicated"
)

// constant is true in the module of traces of a variant.
type constant struct{ name, variant string }

// designs are those that have trace specifications, by name.
var designs = []*design{&ordered, &resetRecord, &advance}

func findDesign(name string) *design {
	i := slices.IndexFunc(designs, func(d *design) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return designs[i]
}

func (d *design) judges() []*judge { return []*judge{&d.group, &d.local} }

// rule finds the rule of an action.
func (d *design) rule(a observe.Action) (Rule, bool) {
	for _, r := range d.rules {
		if r.Action == a {
			return r, true
		}
	}
	return Rule{}, false
}

// speaksOf tells whether the design says what an action is; of others a trace may
// hold events all the same.
func (d *design) speaksOf(a observe.Action) bool {
	r, ok := d.rule(a)
	return ok && r.Code != ""
}

// judgedAt tells whether the action is part of a level.
func (d *design) judgedAt(a observe.Action, l Level) bool {
	r, _ := d.rule(a)
	return r.fields(l) != nil
}

func (d *design) actionNames() string {
	var names []string
	for _, r := range d.rules {
		names = append(names, string(r.Action))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func designNames() []string {
	var names []string
	for _, d := range designs {
		names = append(names, d.name)
	}
	return names
}

// jobs makes what TLC is given of a trace.
func (d *design) jobs(t *Trace) []*job {
	var out []*job
	of := map[op.Partition]*agreed{}
	for _, p := range Split(t) {
		if of[p.Partition] == nil {
			of[p.Partition] = agreedOf(t, p.Partition)
		}
		out = append(out, d.job(p, t.Header, of[p.Partition]))
	}
	return out
}

// job makes what TLC is given of a piece.
func (d *design) job(p Piece, h Header, a *agreed) *job {
	j := &job{judge: &d.group, piece: p, variant: h.Variant, messages: h.Messages != replicated, bookmarks: h.Bookmarks != replicated}
	anew := d.volatile && (h.Messages == replicated || h.Bookmarks == replicated)
	if p.Level == Local {
		j.judge = &d.local
	}
	for _, s := range j.judge.steps(p, a) {
		if s.reads == nil {
			r, _ := d.rule(s.Action)
			s.reads = r.fields(p.Level)
		}
		j.steps = append(j.steps, s)
	}
	if j.judge.log != nil {
		j.log = j.judge.log(p, a)
	}
	if j.judge.starts != nil {
		j.starts = j.judge.starts(p, anew)
	}
	return j
}

// has tells whether the trace of a job is of a variant.
func (j *job) has(variant string) bool {
	return slices.Contains(strings.Split(j.variant, ","), variant)
}

// uncovered says which setting of a trace no trace specification covers yet;
// empty if they all are.
func (d *design) uncovered(t *Trace) string {
	h := t.Header
	for _, p := range []struct{ of, policy string }{{"messages", h.Messages}, {"bookmarks", h.Bookmarks}} {
		if p.policy != "" && p.policy != persisted && p.policy != replicated {
			return fmt.Sprintf("there is no trace specification of %s that are %s", p.of, p.policy)
		}
	}
	if h.Variant == "" {
		return ""
	}
	for _, v := range strings.Split(h.Variant, ",") {
		if !slices.Contains(d.variants, v) {
			return fmt.Sprintf("there is no trace specification of the variant %s of %s yet", v, d.name)
		}
	}
	return ""
}
