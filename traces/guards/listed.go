package guards

import "strings"

const (
	noSample = "no sample tells the difference"
	notDrawn = "no behaviour that is drawn tells the difference"
)

// listed are changes that no check notices, by module, definition and the beginning of
// the guard.
var listed = []struct{ module, name, text, why string }{
	{"AgreedLog", "Stop", "r \\notin down", "a replica that is down and stops is down as before"},
	{"Intent", "Ask", "g > intent", "whoever asks, asks for the next generation"},
	{"TransferResetGroup", "CommitInstall", "rep[r].up", "a replica that is down installs what it would install once it is up"},
	{"TransferResetGroup", "CommitInstall", "pull[r] # NoOffer", "what is no offer is of op 0, and newer than nothing"},
	{"TransferResetGroup", "CommitInstall", "n = pull[r].n", "the model asks for no other op, and no sample installs another one"},
	// Of these nothing is known but that behaviours of groups lack what would tell.
	{"SIMTransferGroup", "TransferDrivable", "\\E r \\in Replicas : shared[r] < commit", notDrawn},
	{"SIMTransferGroup", "TransferDrivable", "leader # {}", notDrawn},
	{"SIMTransferGroup", "TransferDrivable", "Running \\ leader # {}", notDrawn},
	{"SIMTransferResetGroup", "TransferDrivable", "\\E r \\in Replicas : rep[r].held < commit", notDrawn},
	{"SIMTransferGroupSuccession", "BeginsMayLosePower", "Voters # Replicas", notDrawn},
	// Of these nothing is known but that samples of traces lack what would tell.
	{"TraceAdvance", "TakeStageManifest", "stage = NoStage", "no sample begins a pull upon another"},
	{"TraceResetRecord", "Upto", "f.es[j].op <= E.f", noSample},
	{"TraceResetRecord", "TakePowerLoss", "Len(log) <= E.l", noSample},
	{"TraceResetRecord", "TakePowerLoss", "undone.reset.g = E.g", noSample},
	{"TraceResetRecord", "TakePowerLoss", "disk.back[k] = <<>>", noSample},
	{"TraceResetRecordGroup", "TakeBeginSequence", "~rep[E.r].up", noSample},
	{"TraceResetRecordGroup", "TakeBoot", "E.g = rep[E.r].gen", noSample},
	{"TraceResetRecordGroup", "TakeBoot", "E.ap <= rep[E.r].applied", noSample},
	{"TraceResetRecordGroup", "TakeAnswer", "rep[E.r].up", noSample},
	{"TraceResetRecordGroup", "TakeAnswer", "LedOnce(E", noSample},
	{"TraceResetRecordGroup", "TakeBeginSequence", "cursor = Len(Events)", noSample},
}

// Why says why nobody has to notice a change; empty: there is no reason.
func Why(g *Guard) string {
	for _, l := range listed {
		if l.module == g.Module && l.name == g.Name && strings.HasPrefix(g.Text, l.text) {
			return l.why
		}
	}
	return ""
}
