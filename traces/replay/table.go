package replay

import (
	"slices"

	"purgelab/impl/observe"
	"purgelab/traces/behaviours"
)

// This file holds every action of the specification beside the call of the driver that
// takes it and the place in the implementation. docs/replay.md has the same tables.

// Row says how the driver takes an action of the specification, and where the
// implementation does it.
type Row struct {
	Action observe.Action
	Call   string // of the driver
	Code   string // place in the implementation
	Note   string // where one is not one
	take   func(*driver, *behaviours.Act) error
}

// Design is how one purge design is replayed.
type Design struct {
	Name string
	Rows []Row
	// want is a state of the specification as an implementation can show it, and disk is
	// what the implementation's shows of the variables that are on the disk.
	want func(state map[string]any) map[string]any
	disk func(*driver) (map[string]any, error)
}

// Table is all designs.
var Table = []Design{
	{"ordered", orderedRows, wantOrdered, (*driver).orderedDisk},
	{"advance", advanceRows, wantAdvance, (*driver).advanceDisk},
	{"reset-record", resetRows, wantReset, (*driver).resetDisk},
}

// GroupRow is a Row of a group.
type GroupRow struct {
	Row
	take func(*group, *behaviours.Act) error
}

func groupRow(action observe.Action, call, code, note string, take func(*group, *behaviours.Act) error) GroupRow {
	return GroupRow{Row{Action: action, Call: call, Code: code, Note: note}, take}
}

// Group is how a group of replicas of a design is replayed.
type Group struct {
	Name string
	Rows []GroupRow
	// want is a state of the specification as an implementation can show it, and state
	// what the implementation shows of it.
	want  func(state map[string]any) map[string]any
	state func(g *group, state map[string]any) map[string]any
}

// Groups is all designs.
var Groups = []Group{
	{"ordered", slices.Concat(logGroupRows, moveGroupRows), wantLogGroup, (*group).logState},
	{"advance", slices.DeleteFunc(slices.Concat(logGroupRows, moveGroupRows), func(r GroupRow) bool { return purging[r.Action] }), wantLogGroup, (*group).logState},
	{"reset-record", slices.Concat(resetGroupRows, moveResetRows), wantResetGroup, (*group).resetState},
	{agreedName, agreedRows, wantAgreed, (*group).agreedState},
}

// purging are actions that advance does not have: its purge is a deletion.
var purging = map[observe.Action]bool{"RequestPurge": true, "Reconcile": true, "PurgeComplete": true, "PurgeDuplicate": true}

var orderedRows = []Row{
	{"Boot", "open the replica on its disk", "impl/replica: Open", "", takeBoot},
	{"Serve", "none", "impl/replica: checkServing", "It serves as soon as it may, in the step that leads there; `up` is compared as if the specification did.", takeNothing},
	{"Materialize", "bring op `n` if it is not in the journal; tell that it is committed; apply one op", "impl/replica: apply, materialize", "A journal write, its sync and the commit are part of it.", takeMaterialize},
	{"PurgeBegin", "bring op `n`, apply it, take steps of the purge", "impl/engine/tagged: Task.begin", "Begun already: none, since the marker is the same.", takePurgeBegin},
	{"PurgeSwitch", "take steps of the purge", "impl/engine/tagged: Task.change", "After a boot the marker is written again first. Switched already: none, since the folder is the same.", takePurgeSwitch},
	{"PurgeComplete", "take steps of the purge", "impl/engine/tagged: Task.complete", "After a boot marker and folder are made again first.", takePurgeComplete},
	{"PurgeDuplicate", "bring op `n`, apply it", "impl/replica: applyPurge", "", takePurgeDuplicate},
	{"Checkpoint", "take steps of a checkpoint", "impl/engine/tagged: Task.record", "The syncs before the record are steps of their own.", takeCheckpoint},
	{"Reclaim", "remove one thing until a folder is gone", "impl/engine/tagged: Reclaim", "One step for each file, and for the folder; bookmark logs and segments that the specification leaves out go on the way.", takeReclaimFolder},
	{"ProcessCrash", "end the program, keep the cache", "impl/vfs/crashfs: ProcessCrash", "", takeProcessCrash},
	{"PowerLoss", "end the program; of what is not synced keep the first `s` batches and `b` bookmarks of the folder that a boot will open, marker `m`, and the removals of folders but those of `back`", "impl/vfs/crashfs: PowerLossKeeping", "Journal and folders left behind are kept whole.", takePowerLossOrdered},
	{"Answer", "put read `q` in as one that need not wait for the leader, take its phases", "impl/replica: advanceRead", "The proof of leadership, and its wait, are the group's matter.", takeAnswer},
	{"CommitElsewhere", "none", "impl/replica: consensusStage", "The op is brought when the replica materializes it.", takeCommitElsewhere},
	{"Compact", "take steps of trimming", "impl/replica: trimStep", "Every op is in a file of its own, and the last one in the one that is being written, so who leads is elected anew first. Of the home before an install nothing is dropped.", takeCompact},
	{"StageManifest", "offer the state as of op `n`", "impl/replica: offered, beginPull", "The state is that of another replica, which was brought all ops up to `n`.", takeStageManifest},
	{"RefuseTransfer", "offer the state as of op `n`", "impl/transfer: Own.Fresh; impl/replica: fresh", "", takeRefuseTransfer},
	{"StageChunk", "bring the chunk that the replica asked for", "impl/transfer: Pull.Take", "After a boot the offer is made again first. The last chunk is synced in the same step: a crash that comes next finds the disk before that.", takeStageChunk},
	{"SyncPiece", "none", "impl/segment: Intake.sync", "In the step of the last chunk; after a boot when the offer is made again.", takeSyncPiece},
	{"StageState", "take steps of staging", "impl/engine/tagged: imported", "", takeStageState},
	{"CommitInstall", "take steps of staging, and install", "impl/replica: install", "The boot that follows is in the same step: a loss of power that comes next finds the disk before that.", takeCommitInstall},
	{"DropTransfer", "have the disk refuse the next call of the transfer; remove what is staged", "impl/replica: refused, homeStep", "One that was overtaken is dropped by the replica itself.", takeDropTransfer},
}

var advanceRows = []Row{
	{"Boot", "open the replica on its disk", "impl/replica: Open", "", takeBoot},
	{"Serve", "none", "impl/replica: checkServing", "As in ordered.", takeNothing},
	{"Materialize", "bring op `n` if it is not in the journal; tell that it is committed; apply one op", "impl/replica: apply, materialize", "A journal write, its sync and the commit are part of it. Files of messages are so small that each holds one batch.", takeMaterialize},
	{"Checkpoint", "take steps of a checkpoint", "impl/engine/tagged: Task.record", "The syncs before the record are steps of their own.", takeCheckpoint},
	{"Reclaim", "remove one thing until a segment is gone", "impl/engine/tagged: Reclaim", "", takeReclaimSegment},
	{"ListOffsets", "ask for the earliest and the latest offset", "impl/replica: advanceRead", "As an Answer of ordered.", takeListOffsets},
	{"Answer", "put read `q` in as one that need not wait for the leader, take its phases", "impl/replica: advanceRead", "Of SIMAdvance: reads by the contract.", takeAnswer},
	{"ProcessCrash", "end the program, keep the cache", "impl/vfs/crashfs: ProcessCrash", "", takeProcessCrash},
	{"PowerLoss", "end the program; of what is not synced keep the first `s` batches and `b` bookmarks, and the removals of segments but those of `back`", "impl/vfs/crashfs: PowerLossKeeping", "The journal is kept whole.", takePowerLossAdvance},
	{"CommitElsewhere", "none", "impl/replica: consensusStage", "As in ordered, and so are all actions of a transfer.", takeCommitElsewhere},
	{"Compact", "take steps of trimming", "impl/replica: trimStep", "", takeCompact},
	{"StageManifest", "offer the state as of op `n`", "impl/replica: offered, beginPull", "", takeStageManifest},
	{"RefuseTransfer", "offer the state as of op `n`", "impl/transfer: Own.Fresh; impl/replica: fresh", "", takeRefuseTransfer},
	{"StageChunk", "bring the chunk that the replica asked for", "impl/transfer: Pull.Take", "Each is a file of its own, and synced in the same step: a crash that comes next finds the disk before that.", takeStageChunk},
	{"SyncPiece", "none", "impl/segment: Intake.sync", "", takeSyncPiece},
	{"StageState", "take steps of staging", "impl/engine/tagged: imported", "", takeStageState},
	{"CommitInstall", "take steps of staging, and install", "impl/replica: install", "", takeCommitInstall},
	{"DropTransfer", "have the disk refuse the next call of the transfer; remove what is staged", "impl/replica: refused, homeStep", "", takeDropTransfer},
}

var resetRows = []Row{
	{"Boot", "open the replica on its disk; if a cleanup is pending, up to where it begins", "impl/replica: Open", "The boot itself ends a cleanup: it is made once for each step, on a copy of the disk, and stopped at the disk call after it.", takeBootReset},
	{"Serve", "none", "impl/replica: checkServing", "As in ordered.", takeNothing},
	{"Journal", "bring op `n`, not committed", "impl/replica: consensusStage", "Its write and its sync.", takeJournal},
	{"Cut", "none", "impl/consensus: Ready", "Another leader, whose log ends with op `n`, brings what comes in the place of the others.", takeCut},
	{"Filtered", "tell that op `n` is committed, apply one op", "impl/replica: applyFiltered", "", takeFiltered},
	{"Materialize", "tell that op `n` is committed, apply one op", "impl/replica: apply, materialize", "", takeMaterializeReset},
	{"Checkpoint", "take steps of a checkpoint", "impl/engine/flat: save.record", "The syncs before the record are steps of their own.", takeCheckpoint},
	{"ResetFrontier", "tell intent `g`, take steps of the purge", "impl/engine/flat: wipe.frontier", "", takeResetFrontier},
	{"UnlinkSegments", "take steps of the purge", "impl/engine/flat: wipe.unlinkSegments", "One step for each file.", takePurgeStep},
	{"SyncSegments", "take steps of the purge", "impl/engine/flat: wipe.syncSegments", "", takePurgeStep},
	{"ResetRecord", "take steps of the purge", "impl/engine/flat: wipe.record", "", takePurgeStep},
	{"UnlinkBookmarks", "take one step of the purge; in a boot, stop it after the removal", "impl/engine/flat: wipe.unlinkBookmarks", "", takeUnlinkBookmarks},
	{"SyncBookmarks", "take steps of the purge; in a boot, stop it after the second folder", "impl/engine/flat: wipe.syncBookmarks", "One step for each folder.", takeSyncBookmarks},
	{"PurgeComplete", "take steps of the purge; in a boot, let it end", "impl/engine/flat: wipe.complete", "", takePurgeCompleteReset},
	{"StepFails", "have the disk refuse the call of the next step, take it", "impl/replica: purgeStep", "A sync that fails stops the replica instead. In counterexamples only.", takeStepFails},
	{"SyncFails", "have the disk forget the names that the sync of the next step is for, take it", "impl/replica: purgeStep", "Of the variant retry-sync; any other replica stops: that is a PowerLoss. In counterexamples only.", takeSyncFails},
	{"RetryPurge", "none", "impl/replica: retried", "In the step that comes next. In counterexamples only.", takeNothing},
	{"Hold", "let time pass until the replica leads, ask it for `o`", "impl/replica: hold", "In counterexamples only.", takeHold},
	{"Release", "none", "impl/replica: release", "In the step that ends the purge. In counterexamples only.", takeNothing},
	{"Answer", "put read `q` in as one that need not wait for the leader, take its phases", "impl/replica: advanceRead", "Of SIMResetRecord: reads by the contract.", takeAnswer},
	{"CommitElsewhere", "none", "impl/replica: consensusStage", "As in ordered, and so are all actions of a transfer.", takeCommitElsewhere},
	{"Compact", "take steps of trimming", "impl/replica: trimStep", "", takeCompact},
	{"StageManifest", "offer the state `x`", "impl/replica: offered, beginPull", "The state is that of another replica, which purged when its journal ended with the floor, and was brought all ops up to that of the offer.", takeStageManifest},
	{"RefuseTransfer", "offer the state `x`", "impl/transfer: Own.Fresh; impl/replica: fresh", "", takeRefuseTransfer},
	{"StageChunk", "bring the chunk that the replica asked for", "impl/transfer: Pull.Take", "", takeStageChunk},
	{"SyncPiece", "none", "impl/segment: Intake.sync", "", takeSyncPiece},
	{"StageState", "take steps of staging", "impl/engine/flat: imported", "", takeStageState},
	{"CommitInstall", "take steps of staging, and install", "impl/replica: install", "", takeCommitInstall},
	{"DropTransfer", "have the disk refuse the next call of the transfer; remove what is staged", "impl/replica: refused, homeStep", "", takeDropTransfer},
	{"ProcessCrash", "end the program, keep the cache; in a boot, of the copy of the disk", "impl/vfs/crashfs: ProcessCrash", "", takeProcessCrashReset},
	{"BeginSequence", "end the program, keep nothing that was not synced; open the replica until op numbers have begun anew", "impl/replica: beginSequence", "Messages and bookmarks are replicated then. In counterexamples only.", takeBeginSequence},
	{"Recreate", "end the program; make a folder of another incarnation beside that of the first, which stays", "impl/replica: Format", "In counterexamples only.", takeRecreate},
	{"PowerLoss", "end the program; of what is not synced keep what the state after it shows: the first entries of each file, or the file that was removed", "impl/vfs/crashfs: PowerLossKeeping", "Journal and records are kept whole.", takePowerLossReset},
}

var logGroupRows = []GroupRow{
	groupRow("RequestPurge", "none", "impl/meta", "Nobody is told before its Reconcile.", func(*group, *behaviours.Act) error { return nil }),
	groupRow("Reconcile", "tell the leader the intent, let it journal what it proposes", "impl/replica: reconcile", "One that it knows it has proposed by itself.", takeReconcile),
	groupRow("Propose", "put the request in, let the leader journal it", "impl/replica: request, propose", "The first op of a leader, an empty one, is there already.", takePropose),
	groupRow("Commit", "bring all that run op `n` and no more, but who needs what the log has dropped; the leader hears of it", "impl/consensus: Ready", "Before the first op of its term a leader does not know what is committed.", takeCommit),
	groupRow("BecomeLeader", "bring replica `r` all that stays and no more, let it campaign, and one vote", "impl/consensus: Tick; impl/replica: followRole", "", takeBecomeLeader),
	groupRow("Materialize", "let replica `r` know that op `n` is committed, apply one op", "impl/replica: apply, materialize", "", takeGroupMaterialize),
	groupRow("PurgeComplete", "the same, and take all steps of the purge", "impl/engine/tagged: Task", "", takeGroupPurge),
	groupRow("PurgeDuplicate", "the same as Materialize", "impl/replica: applyPurge", "", takeGroupDuplicate),
	groupRow("Answer", "put read `q` in as one that need not wait for the leader, take its phases", "impl/replica: advanceRead", "", takeGroupAnswer),
	groupRow("ProcessCrash", "end the program of replica `r`, keep the cache", "impl/vfs/crashfs: ProcessCrash", "", takeGroupCrash),
	groupRow("PowerLoss", "the same; nothing that was not synced is left", "impl/vfs/crashfs: PowerLossKeeping", "Of a journal that need not be synced the first ops are left, as many as the model says.", takeGroupPowerLoss),
	groupRow("Boot", "open replica `r` on its disk", "impl/replica: Open", "It begins at its last checkpoint: that of the boundary, unless it has saved one to offer its state.", takeGroupBoot),
	groupRow("Rejoin", "none, if replica `r` lost power under a policy that does not sync all; else put an empty disk in", "impl/replica: renounce, joinGroup, admitMember", "It finds out when it boots. Three ops that only take a number take it in: it asks for the first two, the leader proposes them, and the last by itself.", takeRejoin),
	groupRow("NewIncarnation", "open all that are down; let the plane decide, seal all as it says; let all copy the log that it chose, and materialize it", "impl/meta: begin; impl/replica: seal, openCopying", "The op with which it begins is none of the implementation. Up to where a replica says that it agrees with the one before, which is a hint, must be committed of the log that was chosen.", takeNewIncarnation),
}

var moveGroupRows = []GroupRow{
	groupRow("OfferTransfer", "take steps of a checkpoint, if the last one is not as of op `n`; ask for an offer in the name of each other replica", "impl/replica: serve", "The specification has one offer for whoever is behind, the implementation one for each.", takeOfferTransfer),
	groupRow("Compact", "take steps of trimming", "impl/replica: trimStep", "Of who leads, by whole files: the one that is being written may hold op `n`. Others keep their journals; nobody is brought from one of these what the specification has dropped.", takeGroupCompact),
	groupRow("StageManifest", "let replica `r` hear that there is an offer, bring its request, and the offer", "impl/replica: offered, beginPull", "The driver speaks for the leader's raft, as of an op above all that `r` has.", takeGroupManifest),
	groupRow("RefuseTransfer", "the same; or bring replica `r` what replica `s` offered in an incarnation before", "impl/transfer: Own.Fresh; impl/replica: fresh, otherIncarnation", "", takeGroupRefuse),
	groupRow("StageChunk", "bring what replica `r` asks for, and what the leader sends: first all batches of messages but the last, then that one", "impl/transfer: Pull.Take; impl/replica: serveStep", "What is no message comes with the offer. After a boot, or from another leader than before, the offer is made again first.", takeGroupChunk),
	groupRow("CommitInstall", "take steps of staging, and install; tell the leader", "impl/replica: install", "All durable steps of it, and the boot that follows.", takeGroupInstall),
	groupRow("DropTransfer", "have the disk refuse the next call of the transfer; or, of what replica `r` came to by itself, take a step of staging, or let time pass; remove what is staged", "impl/replica: refused, tickFetch, homeStep", "", takeGroupDropTransfer),
	groupRow("DropOffer", "let time pass in which nobody asks", "impl/transfer: Sender.Tick; impl/replica: stopServing", "Who leads no more has dropped it in the step in which it heard of that.", takeDropOffer),
}

var resetGroupRows = []GroupRow{
	groupRow("Propose", "put the request in, let the leader journal it", "impl/replica: request, propose", "The first op of a leader, an empty one, is there already.", takeResetPropose),
	groupRow("StoreProgress", "the same, with the bookmark that the consumer has come to", "impl/replica: request, propose", "", takeResetPropose),
	groupRow("Receive", "bring replica `r` the next op and no more", "impl/replica: consensusStage", "", takeReceive),
	groupRow("Commit", "let the leader hear of it from those that have the op", "impl/consensus: Ready", "Before the first op of its term a leader does not know what is committed.", takeResetCommit),
	groupRow("RequestPurge", "none", "impl/meta", "Nobody is told before its PurgeLocally.", func(*group, *behaviours.Act) error { return nil }),
	groupRow("Apply", "let replica `r` know that the op is committed, apply one op", "impl/replica: apply, applyFiltered", "", takeApply),
	groupRow("PurgeLocally", "tell replica `r` the intent, take all steps of the purge", "impl/engine/flat: wipe", "", takePurgeLocally),
	groupRow("Answer", "poll from the bookmark on, as a read that need not wait", "impl/replica: advanceRead", "", takeResetAnswer),
	groupRow("BecomeLeader", "let replica `r` campaign, and one vote", "impl/consensus: Tick; impl/replica: followRole", "", func(g *group, a *behaviours.Act) error { return g.elect(a.Replica) }),
	groupRow("ProcessCrash", "end the programs of `s`, keep the cache", "impl/vfs/crashfs: ProcessCrash", "", takeResetCrash),
	groupRow("PowerLoss", "the same; nothing that was not synced is left", "impl/vfs/crashfs: PowerLossKeeping", "But of a state on its way, and of its removal, all.", takeResetPowerLoss),
	groupRow("Boot", "open replica `r` on its disk, let it come to where it was", "impl/replica: Open", "", takeResetBoot),
}

var moveResetRows = []GroupRow{
	groupRow("OfferTransfer", "let what was offered before go; take steps of a checkpoint, if the last one is not as of op `n`; ask for an offer in the name of each other replica", "impl/replica: serve", "", takeResetOffer),
	groupRow("StageManifest", "let replica `r` hear that there is an offer, bring its request, the offer, and all chunks", "impl/replica: offered, beginPull, serveStep", "The log has all that is offered: the driver speaks for the leader's raft.", takeResetManifest),
	groupRow("CommitInstall", "take steps of staging, and install; tell the leader", "impl/replica: install", "", takeGroupInstall),
	groupRow("DropTransfer", "take steps of staging; remove what is staged", "impl/replica: fresh, homeStep", "It has purged more, and finds that out when it is about to install.", takeResetDropTransfer),
}

var agreedRows = []GroupRow{
	groupRow("ProposeAt", "put a request in that is an op of policy `v`, let the leader write it", "impl/replica: request, propose, consensusStage", "The first op of a leader, an empty one, is there already.", takeProposeAt),
	groupRow("Receive", "bring replica `r` the next op, let it write it", "impl/replica: consensusStage", "If it has not heard of the term it hears of that first, and syncs it.", takeReceiveOne),
	groupRow("SyncJournal", "take the step of consensus that syncs; or let replica `r` hear of a later term", "impl/replica: consensusStage", "None, if a vote, a term or a boot has synced all.", takeSyncJournal),
	groupRow("CommitBy", "let the leader hear from all of `by` that they have op `n`", "impl/consensus: Ready", "Who was booted since it said so is brought what it has, to say it again; of one that has it no more, what it said before arrives now. Before the first op of its term a leader does not know what is committed.", takeCommitBy),
	groupRow("LosePower", "end the program of replica `r`, keep the first `n` ops of its journal, open it", "impl/vfs/crashfs: PowerLossKeeping; impl/replica: renounce", "", takeLosePower),
	groupRow("ReplaceDisk", "put an empty disk in, open replica `r`", "impl/replica: findMember, renounce", "", takeReplaceDisk),
	groupRow("Stop", "end the program of replica `r`, keep the cache", "impl/vfs/crashfs: ProcessCrash", "", takeStop),
	groupRow("Return", "open replica `r` on its disk", "impl/replica: Open", "", takeReturn),
	groupRow("Rejoin", "let all talk and time pass, but for elections, until replica `r` counts", "impl/replica: joinGroup, admitMember", "Three ops take it in, which AgreedLog has not.", takeAdmission),
	groupRow("Elect", "let replica `r` campaign, and the others of `by` vote", "impl/consensus: Tick; impl/replica: followRole", "Who led hears of it.", takeElect),
	groupRow("NewIncarnation", "let the plane decide, seal all as it says; let all copy the log that it chose", "impl/meta: begin; impl/replica: seal, openCopying", "", takeNewIncarnation),
}
