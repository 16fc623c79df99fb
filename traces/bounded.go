package traces

import "purgelab/impl/observe"

// bounded are the events that a trace module judges without the action of the
// specification that they name, by module and event, and what they are held to instead.
// Of all others the step is the action.
var bounded = map[string]map[observe.Action]string{
	"TraceOrdered": {
		StageState: allChunks,
		CopyState:  "what the ops up to there make of an empty disk: no module of the specification has it",
	},
	"TraceAdvance": {
		CommitElsewhere: uponAdvance,
		Compact:         uponAdvance,
		StageManifest:   uponAdvance,
		StageState:      uponAdvance,
		CommitInstall:   uponAdvance,
		DropTransfer:    uponAdvance,
		CopyState:       "what the ops up to there make of an empty disk: no module of the specification has it",
	},
	"TraceResetRecord": {
		StageState: allChunks,
	},
	"TraceOrderedGroup": {
		Answer:         boundsOnly,
		StageManifest:  anyOffer,
		Propose:        "the ops that an incarnation adds, all at once",
		NewIncarnation: "the log that it goes on with; each replica replays it, where the action has all of them at its end",
		ChangeMembers:  "the same number of voters everywhere: no module of the specification has it",
		Joined:         "a new member, by a change that was told: no module of the specification has it",
		CopyState:      "what the ops up to there lead to: no module of the specification has it",
	},
	"TraceResetRecordGroup": {
		Answer:        boundsOnly,
		StageManifest: anyOffer,
	},
}

const (
	boundsOnly  = "the bounds and the bookmark that its replica has then: a read has phases, and ops come between"
	anyOffer    = "what anybody offered of that op"
	allChunks   = "all chunks and their syncs at once"
	uponAdvance = "what Transfer says, upon the disk of Advance"
)
