package traces

import (
	"fmt"
	"strings"

	"purgelab/impl/observe"
)

// Actions of the design reset-record.
const (
	Journal         observe.Action = "Journal"
	Filtered        observe.Action = "Filtered"
	ResetFrontier   observe.Action = "ResetFrontier"
	UnlinkSegments  observe.Action = "UnlinkSegments"
	SyncSegments    observe.Action = "SyncSegments"
	ResetRecord     observe.Action = "ResetRecord"
	UnlinkBookmarks observe.Action = "UnlinkBookmarks"
	SyncBookmarks   observe.Action = "SyncBookmarks"
	StepFails       observe.Action = "StepFails"
	SyncFails       observe.Action = "SyncFails"
	RecordNotSynced observe.Action = "RecordNotSynced"
	RetryPurge      observe.Action = "RetryPurge"
	Hold            observe.Action = "Hold"
	Release         observe.Action = "Release"
	Refuse          observe.Action = "Refuse"
	BeginSequence   observe.Action = "BeginSequence"
)

// resetRecord: one replica against ResetRecord, whose journal and records are in
// the trace.
var resetRecord = design{
	name:     "reset-record",
	variants: words("tagged-bookmarks keep-floor retry-sync"),
	volatile: true,
	local: judge{level: Local, moves: "TransferReset", root: "TraceResetRecord", spec: "ResetRecord", steps: resetSteps, starts: resetStart, log: stagedOps, reason: resetReason,
		constants: []constant{{"TraceTagged", "tagged-bookmarks"}, {"TraceKeepFloor", "keep-floor"}, {"TraceRetrySync", "retry-sync"}}},
	group: judge{level: Group, moves: "TransferResetGroup", root: "TraceResetRecordGroup", uses: words("TraceTold"), spec: "ResetRecordGroup", steps: resetGroupSteps, starts: resetGroupStart, log: resetLog, reason: resetGroupReason},
	rules: append([]Rule{
		{Action: Commit, Needs: words("op term kind"), May: words("count key offset"), Kinds: opKinds,
			Group: words("r op t k key o n u ap st en"),
			Spec:  "ResetRecordGroup!Commit", Code: "impl/replica: apply"},
		{Action: Journal, Needs: words("op last"),
			Local: words("op does u n ap st en"),
			Spec:  "ResetRecord!Journal", Code: "impl/replica: consensusStage"},
		{Action: Materialize, Needs: words("op kind"), May: words("offset count key"), Kinds: effectKinds,
			Local: words("op k key o n ap st en g"), Group: words("r op k key o n ap st en g"),
			Spec: "ResetRecord!Materialize", Code: "impl/replica: materialize"},
		{Action: Filtered, Needs: words("op kind"), May: words("offset count key"), Kinds: effectKinds,
			Local: words("op ap st en g"), Group: words("r op k n ap st en g"),
			Spec: "ResetRecord!Filtered", Code: "impl/replica: applyFiltered"},
		{Action: Checkpoint, Needs: words("op"),
			Local: words("op g ap st en"),
			Spec:  "ResetRecord!Checkpoint", Code: "impl/engine/flat: save"},
		{Action: ResetFrontier, Needs: words("op gen"),
			Local: words("op g ap st en"),
			Spec:  "ResetRecord!ResetFrontier", Code: "impl/engine/flat: wipe"},
		{Action: UnlinkSegments, Needs: words("op gen"),
			Local: words("op g ap st en"),
			Spec:  "ResetRecord!UnlinkSegments", Code: "impl/engine/flat: wipe"},
		{Action: SyncSegments, Needs: words("op gen"),
			Local: words("op g ap st en"),
			Spec:  "ResetRecord!SyncSegments", Code: "impl/engine/flat: wipe"},
		{Action: ResetRecord, Needs: words("op gen"),
			Local: words("op g ap st en"), Group: words("r op g ap st en"),
			Spec: "ResetRecord!ResetRecord", Code: "impl/engine/flat: wipe"},
		{Action: UnlinkBookmarks, Needs: words("gen"), May: words("op"),
			Local: words("op g ap st en"),
			Spec:  "ResetRecord!UnlinkBookmarks", Code: "impl/engine/flat: wipe"},
		{Action: SyncBookmarks, Needs: words("gen"), May: words("op"),
			Local: words("op g ap st en"),
			Spec:  "ResetRecord!SyncBookmarks", Code: "impl/engine/flat: wipe"},
		{Action: PurgeComplete, Needs: words("gen"), May: words("op"),
			Local: words("op g ap st en"),
			Spec:  "ResetRecord!PurgeComplete", Code: "impl/engine/flat: wipe"},
		{Action: StepFails,
			Local: words(""),
			Spec:  "ResetRecord!StepFails", Code: "impl/replica: purgeStep"},
		{Action: SyncFails,
			Local: words(""),
			Spec:  "ResetRecord!SyncFails", Code: "impl/replica: purgeStep"},
		{Action: RecordNotSynced, Needs: words("gen"),
			Local: words("g"),
			Spec:  "ResetRecord!RecordNotSynced", Code: "impl/replica: purgeStep"},
		{Action: RetryPurge, Needs: words("gen"),
			Local: words("g"),
			Spec:  "ResetRecord!RetryPurge", Code: "impl/replica: purgeStep"},
		{Action: Hold, Needs: words("kind"), May: words("key offset count"), Kinds: effectKinds,
			Local: words("k key o n"),
			Spec:  "ResetRecord!Hold", Code: "impl/replica: hold"},
		{Action: Release, Needs: words("kind"), May: words("key offset count"), Kinds: effectKinds,
			Local: words("k key o n"),
			Spec:  "ResetRecord!Release", Code: "impl/replica: release"},
		{Action: Refuse, Needs: words("kind"), May: words("key offset count"), Kinds: effectKinds,
			Local: words("k key o n"),
			Spec:  "ResetRecord!Refuse", Code: "impl/replica: refuseHeld"},
		{Action: ProcessCrash,
			Local: words("l"), Group: words("r"),
			Spec: "ResetRecord!ProcessCrash", Code: "impl/sim: down"},
		{Action: PowerLoss,
			Local: words("l f k n x g ap"), Group: words("r"),
			Spec: "ResetRecord!PowerLoss", Code: "impl/sim: down"},
		{Action: Boot, Needs: words("kind front last"), May: words("op count key resetting"), Kinds: bootKinds,
			Local: words("op k n f l x g ap st en"), Group: words("r ap g"),
			Spec: "ResetRecord!Boot", Code: "impl/replica: Open"},
		{Action: BeginSequence,
			Local: words(""), Group: words("r"),
			Spec: "ResetRecord!BeginSequence", Code: "impl/sim: beginSequence"},
		{Action: Serve,
			Local: words("g ap st en"),
			Spec:  "ResetRecord!Serve", Code: "impl/replica: checkServing"},
		{Action: BecomeLeader, Needs: words("term"),
			Group: words("r t g ap st en"),
			Spec:  "ResetRecordGroup!BecomeLeader", Code: "impl/replica: followRole"},
		{Action: Answer, Needs: words("kind"), May: words("key offset count"),
			Group: words("r k key o n g ap st en"),
			Spec:  "ResetRecordGroup!Answer", Code: "impl/replica: served"},
	}, resetMoveRules()...),
}

// resetStart is what outlives an op sequence on a replica's disk: the records of its
// purges, as its first boot shows them.
func resetStart(p Piece, anew bool) string {
	var e observe.Event
	if anew && len(p.Lines) > 0 && p.Lines[0].Action == Boot {
		e = p.Lines[0].Event
	}
	done := e.Generation
	if e.Kind == "begun" {
		done-- // or any that is lower
	}
	return fmt.Sprintf("[g |-> %d, floor |-> %d, done |-> %d]", e.Generation, e.Op, done)
}

// resetGroupStart is the same of all replicas.
func resetGroupStart(p Piece, anew bool) string {
	at := make([]observe.Event, p.Replicas)
	seen := make([]bool, p.Replicas)
	for _, l := range p.Lines {
		if i := l.Replica - 1; anew && !seen[i] && l.Action == Boot {
			at[i], seen[i] = l.Event, true
		}
	}
	var out []string
	for _, e := range at {
		out = append(out, fmt.Sprintf("[g |-> %d, floor |-> %d]", e.Generation, e.Op))
	}
	return strings.Join(out, ", ")
}
