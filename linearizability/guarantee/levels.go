package guarantee

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/invariant"
)

// level is one model of a subject under a class: a module, and a configuration of
// it that stands in the specification for no faults and has constants set anew.
type level struct {
	name   string // that a reader sees
	dir    string // of the module, in the specification
	module string
	cfg    string // relative to the specification
	set    map[string]string
	// only, if not nil, are the properties that are asked; refutes are those that the
	// level can show to be violated and not to hold.
	only    []string
	refutes []string
}

// Names of properties that have another one in a model.
var modelNames = map[string]string{
	"RefinesPartition":         "Linearizable",
	"NextContractOfConsumer":   "NextContract",
	"NoLateProgressOfConsumer": "NoLateProgress",
}

func (l *level) called(name string) string {
	if other, ok := modelNames[name]; ok {
		return other
	}
	return name
}

func (l *level) named(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, l.called(n))
	}
	return out
}

// levels are the models of a subject under a class.
func levels(s Subject, class faults.Class) []*level {
	if s.Design != "reset-record" && (s.Messages == replicated || s.Bookmarks == replicated) {
		return unsynced(s, class)
	}
	if class == faults.Transfer {
		return append(levels(s, faults.PowerOne), transfers(s)...)
	}
	if s.Messages != s.Bookmarks {
		return nil // of this design there are models in which both are synced, or none
	}
	switch s.Design {
	case "ordered":
		return append(append(agreed(s), orderedLocal(class), orderedGroup(s, class)), purges(s, class)...)
	case "reset-record":
		list := append([]*level{resetLocal(s, class)}, resetGroup(s, class)...)
		if s.Messages == replicated {
			return list
		}
		return append(agreed(s), list...)
	case "advance":
		return append(agreed(s), advanceLocal(class), advanceGroup(s, class))
	}
	return nil
}

// unsynced are the models of a subject that does not sync all that it acknowledges.
// Where no power fails nothing of that is lost. Where it does, be it because a disk
// failed, members join anew, or a new incarnation goes on from what one of them has.
// There is no model of one replica whose journal lacks what it has applied.
func unsynced(s Subject, class faults.Class) []*level {
	switch class {
	case faults.None, faults.Retry, faults.LeaderChange, faults.OneProcess:
		s.Messages, s.Bookmarks = persisted, persisted
		return levels(s, class)
	}
	list := append(agreed(s), s.alone(succession(s)))
	if class == faults.Transfer {
		list = append(list, transfers(s)...)
	}
	return list
}

// transfers are the models of states that travel: every durable step of one replica,
// and what others do meanwhile. Where what was acknowledged may be lost a new
// incarnation may begin while a state travels.
func transfers(s Subject) []*level {
	local := &level{name: "MCTransfer", module: "MCTransfer", cfg: "MCTransfer.cfg", set: map[string]string{}}
	group := &level{name: "MCTransferGroup", module: "MCTransferGroup", cfg: "MCTransferGroup.cfg", set: map[string]string{}}
	ofInstalls := append([]string{"InstallAtomic"}, invariant.Installs...)
	switch {
	case s.Design == "advance":
		local.cfg, local.only = "MCTransferAdvance.cfg", append(ofInstalls, ofDeletions...)
		return []*level{local}
	case s.Messages == replicated || s.Bookmarks == replicated:
		// What else holds there is said by the model of what may be lacking.
		group.cfg, group.only, local.only = "MCTransferGroupSuccession.cfg", ofInstalls, ofInstalls
	}
	return []*level{local, group}
}

// succession is the model of what a new incarnation may lack, by policy: each has a
// configuration that ends in a moment, and the one in which all may be lacking a
// larger one.
func succession(s Subject) *level {
	l := &level{name: "MCOrderedGroupSuccession", module: "MCOrderedGroup", cfg: "MCOrderedGroupSuccession.cfg", set: map[string]string{}}
	policy := "<- VolatileAll"
	switch {
	case s.Bookmarks == persisted:
		l.cfg, policy = "MCOrderedGroupSuccessionMessages.cfg", "<- VolatileMessages"
	case s.Messages == persisted:
		l.cfg, policy = "MCOrderedGroupSuccessionBookmarks.cfg", "<- VolatileBookmarks"
	}
	if s.Design == "advance" {
		l.cfg, l.only = "MCOrderedGroupSuccessionAdvance.cfg", append([]string{"AckDurable", "IncarnationIsolation"}, ofDeletions...)
		l.set["Persisted"] = policy
	}
	return l
}

// crashes of one replica in a class, by the names of actions, and how many. A record
// that rots is refused: a replica that crashed and never boots again. A sync that
// fails restarts the machine, and one of a folder shows only when power fails later.
// A power loss may leave all that a process that dies leaves, so where either may
// come, once, it is a power loss.
func crashes(class faults.Class) (names []string, most int, inRecovery bool) {
	switch class {
	case faults.OneProcess, faults.Damaged:
		return []string{"ProcessCrash"}, 1, false
	case faults.PowerOne, faults.PowerMinority, faults.PowerMajority, faults.PowerAll, faults.DirSync, faults.SyncError, faults.Topic:
		return []string{"PowerLoss"}, 1, false
	case faults.Second:
		return []string{"PowerLoss", "ProcessCrash"}, 2, true
	}
	return nil, 0, false
}

// local is the model of one replica.
func local(module, cfg string, class faults.Class, more ...string) *level {
	names, most, inRecovery := crashes(class)
	return &level{
		name: module, dir: "matrix", module: module, cfg: cfg,
		set: map[string]string{"Faults": set(append(names, more...)), "MaxCrashes": number(most), "InRecovery": truth(inRecovery)},
	}
}

func orderedLocal(class faults.Class) *level {
	return local("MatrixOrderedLocal", "matrix/OrderedLocal.cfg", class)
}

func advanceLocal(class faults.Class) *level {
	return local("MatrixAdvance", "matrix/Advance.cfg", class)
}

// orderedGroup is the model of three replicas with a consumer. A process that dies and
// power that fails are the same there; with neither, all four ops that late progress
// takes are had, with one, three.
func orderedGroup(s Subject, class faults.Class) *level {
	l := &level{
		name: "MatrixOrderedGroup", dir: "matrix", module: "MatrixOrderedGroup", cfg: "matrix/OrderedGroup.cfg",
		set: map[string]string{"Untagged": truth(s.Positions == "bare")},
	}
	s.alone(l)
	down := 0
	switch class {
	case faults.None:
		return l
	case faults.Retry:
		l.set["Faults"] = set([]string{"Retry"})
	case faults.LeaderChange:
		l.set["Faults"] = set([]string{"BecomeLeader", "Retry"})
	case faults.PowerMajority:
		down = 2
	case faults.PowerAll:
		down = 3
	default:
		down = 1
	}
	if s.Replicas == 1 {
		down = min(down, 1)
	}
	l.set["MaxOps"], l.set["Kinds"] = "= 3", `= {"append", "request", "store"}`
	if down > 0 {
		l.set["Faults"], l.set["MaxCrashes"] = set([]string{"PowerLoss", "BecomeLeader", "Retry"}), number(down)
	}
	if down > 1 {
		l.set["Kinds"] = `= {"append"}`
	}
	return l
}

// advanceGroup is the same with deletions of all records in place of purges.
func advanceGroup(s Subject, class faults.Class) *level {
	l := orderedGroup(s, class)
	l.set["Untagged"] = truth(false) // there is one generation: see MatrixAdvance
	l.set["MaxIntent"], l.set["MaxOps"] = "= 0", "= 3"
	l.set["Kinds"] = strings.Replace(or(l.set["Kinds"], `= {"append", "store"}`), "{", `{"advance", "commit", `, 1)
	l.only = ofDeletions
	return l
}

// ofDeletions are the properties that a group of replicas without purges shows.
var ofDeletions = []string{
	"HistoryAgreement", "NoResurrectedBookmark", "NoFreshLoss", "NoHiddenFresh", "OffsetUnique", "BookmarkBound", "NextContract", "NoLateProgress",
	"SessionOnce", "EarliestIsStart", "StartMonotone", "LatestMonotone", "CommittedPrefixSafe", "NoPhantomEmpty", "Linearizable",
}

// agreed are the models of consensus. Whatever the class, they have more faults, so what
// holds there holds here: any replicas lose power at any time, and anyone may lead who
// holds as much as a majority. When faults end and a quorum runs, all is agreed on some
// day; of reset-record, whose purge is no op of the log, and of one machine this is not
// said.
func agreed(s Subject) []*level {
	list := []*level{agreedLog(s)}
	if s.Design == "reset-record" || s.Replicas == 1 {
		return list
	}
	l := &level{name: "MCRecovery", module: "MCRecovery", cfg: "MCRecovery.cfg", set: map[string]string{}}
	if s.Design == "advance" {
		l.only = []string{"NoStuckReplica"} // there is no intent
	}
	return append(list, l)
}

func agreedLog(s Subject) *level {
	l := &level{name: "MCAgreedLog", module: "MCAgreedLog", cfg: "MCAgreedLog.cfg", set: map[string]string{}}
	if s.Replicas == 1 {
		l.set["MaxReplaced"] = number(0) // a new disk in place of the only one is no fault of any class
	}
	return s.alone(l)
}

// alone makes a model of several replicas one of a single replica, if the subject is.
func (s Subject) alone(l *level) *level {
	if s.Replicas == 1 {
		l.set["Replicas"] = "= {r1}"
	}
	return l
}

// purges is the model of purges that come through, where a replica stays up: it has
// the faults of all such classes.
func purges(s Subject, class faults.Class) []*level {
	switch class {
	case faults.OneProcess, faults.PowerOne, faults.PowerMinority:
		if s.Replicas == 1 {
			return nil
		}
	case faults.None, faults.Retry, faults.LeaderChange:
	default:
		return nil
	}
	return []*level{s.alone(&level{name: "MCLiveness", module: "MCLiveness", cfg: "MCLiveness.cfg", set: map[string]string{}})}
}

// answeredAsBefore: an append that a kept floor hides is answered as of the generation
// before, whenever it was asked for. In the models it is not said when, so they cannot
// show that the generation which clients are told never goes back.
func (s Subject) answeredAsBefore() []string {
	if s.has("keep-floor") {
		return []string{"GenerationMonotone"}
	}
	return nil
}

// resetLocal is the model of one replica. A variant is set where it can matter: that of
// syncs where those of folders fail, since a step that syncs a file makes a new one; that
// of floors where op numbers begin anew.
func resetLocal(s Subject, class faults.Class) *level {
	var more []string
	anew := s.Messages == replicated && class == faults.PowerAll
	switch {
	case class == faults.DirSync:
		more = []string{"StepFails", "SyncFails"}
	case anew:
		more = []string{"BeginSequence"}
	}
	l := local("MatrixResetRecordLocal", "matrix/ResetRecordLocal.cfg", class, more...)
	l.refutes = s.answeredAsBefore()
	l.set["Tagged"] = truth(s.has("tagged-bookmarks"))
	l.set["RetrySync"] = truth(s.has("retry-sync") && class == faults.DirSync)
	switch {
	case class == faults.Retry:
		l.set["Generations"], l.set["MaxOps"] = "= {1, 2}", number(2)
	case anew:
		l.set["MaxSeqs"], l.set["KeepFloor"] = number(1), truth(s.has("keep-floor"))
	}
	return l
}

// resetGroup is the model of two replicas with a consumer, or of one. Where journals are
// synced, a crash does nothing there but change the leader, since a replica boots where
// it was.
func resetGroup(s Subject, class faults.Class) []*level {
	l := &level{
		name: "MCResetRecordGroup", module: "MCResetRecordGroup", cfg: "matrix/ResetRecordGroup.cfg",
		set:     map[string]string{"Bare": truth(s.Positions == "bare")},
		refutes: append([]string{"Linearizable"}, s.answeredAsBefore()...),
	}
	s.alone(l)
	switch {
	case class == faults.None:
	case class == faults.Retry:
		l.set["MaxIntent"], l.set["MaxOps"] = number(2), number(2)
	case s.Messages == replicated && class == faults.PowerAll:
		l.set["MaxSeqs"], l.set["MaxOps"], l.set["KeepFloor"] = number(1), number(2), truth(s.has("keep-floor"))
	case s.Replicas != 1:
		l.set["MaxTerms"] = number(1)
		// A start that is not 0 takes another kind of op, and fewer of them.
		cut := *l
		cut.set = maps.Clone(l.set)
		cut.set["Ops"], cut.set["MaxOps"] = `= {"append", "advance"}`, number(2)
		return []*level{l, &cut}
	}
	return []*level{l}
}

// has tells whether a variant is among those of the subject.
func (s Subject) has(variant string) bool {
	return slices.Contains(strings.Split(s.Variant, ","), variant)
}

// Values of constants.

func set(names []string) string {
	slices.Sort(names)
	if len(names) == 0 {
		return "= {}"
	}
	return `= {"` + strings.Join(names, `", "`) + `"}`
}

func number(n int) string { return fmt.Sprintf("= %d", n) }

func truth(b bool) string { return "= " + strings.ToUpper(fmt.Sprint(b)) }

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
