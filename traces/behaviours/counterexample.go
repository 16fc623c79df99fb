package behaviours

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// driven is what makes a bounded model drivable, as the module SIM*.tla of the same design
// is: constants that are set, and those that are set to something else, or left out if that
// is empty. Its behaviours are those of SimInit and SimNext, or begin with another word. Where
// the shortest way is one that no replica goes, or on which nothing shows, led of the module
// says which steps are; shows does of models that are to show that something can happen.
type driven struct {
	module string
	begins string
	fair   string // fairness, of a model that asks whether something comes at last
	set    string
	other  map[string]string
	led    string
	shows  string
}

// drivables are the modules of bounded models of which counterexamples can be led.
var drivables = map[string]driven{
	"MCOrderedLocal.tla":     {module: "SIMOrdered.tla", set: "Covered <- SimCovered"},
	"MCTransfer.tla":         {module: "SIMTransfer.tla", set: "Covered <- SimCovered\n Offered <- SimOffered", led: "Led", shows: "LedShowing", other: map[string]string{"Ops": "<- LedOps", "MaxOps": "= 4"}},
	"MCAdvance.tla":          {module: "SIMAdvance.tla", set: "Covered <- SimCovered"},
	"MCResetRecord.tla":      {module: "SIMResetRecord.tla", set: "SyncedTo <- SimSyncedTo\n Fitting <- SimFitting", led: "Led", shows: "Led"},
	"MCResetRecordGroup.tla": {module: "SIMResetRecordGroup.tla", shows: "Led", other: map[string]string{"Replicas": "= {r1, r2, r3}"}},
	"MCTransferReset.tla":    {module: "SIMTransferReset.tla", set: "SyncedTo <- SimSyncedTo\n Fitting <- SimFitting\n MayReplace = TRUE", led: "Led", shows: "LedShowing"},
	"MCAgreedLog.tla":        {module: "SIMAgreedLog.tla", led: "Led", set: "AckDurable <- LedAckDurable", other: map[string]string{"Persisted": "<- SimPersisted", "MaxLog": "= 3"}},
	// A leader begins with an op of its own.
	"MCOrderedGroup.tla": {module: "SIMOrderedGroup.tla", led: "Led", other: map[string]string{"Ops": "<- LedOps", "Reads": "<- LedReads", "MaxOps": "= 4", "MaxCrashes": "= 0"}},
	// Who takes a state was away while the log went on without it.
	"MCTransferGroup.tla": {module: "SIMTransferGroup.tla", begins: "SimTransfer", led: "SimTransferLed", shows: "SimTransferLed", other: map[string]string{
		"Replicas": "= {r1, r2, r3}", "Ops": "<- LedTransferOps", "MaxOps": "= 3", "MaxCrashes": "= 2", "Reads": "<- LedReads",
		"MaxOffers": "", "MaxInstalls": "", "MayOffer": "", "MayAccept": "", "MayStep": "", "MayAsk": "<- SimMayAsk", "MayLead": "<- LedMayLead", "MayCrash": "<- LedMayCrash",
	}, set: "Holds <- SimHolds\n Lacks <- SimLacks\n Besides <- SimBesides\n SimShown <- TransferShown"},
	"MCTransferResetGroup.tla": {module: "SIMTransferResetGroup.tla", begins: "SimTransfer",
		other: map[string]string{"MaxInstalls": "", "MayOffer": "", "MayAccept": ""}, set: "Sizes = {1}\n MaxSeqs = 0\n SimShown <- TransferShown"},
	"MCLiveness.tla": {
		module: "SIMLiveness.tla", led: "LedLively", fair: "Fairly", set: "r3 = r3\n c1 = c1\n Asked <- GroupAsked\n MayLead <- MayLeadOn",
		other: map[string]string{"Replicas": "= {r1, r2, r3}", "Ops": "<- LivelyOps", "MayPropose": "<- MayGoOn", "MaxCrashes": "= 0"},
	},
	"MCRecovery.tla": {
		module: "SIMRecovery.tla", led: "LedLively", fair: "Fairly", set: "Owed <- SimOwed\n MaxLog = 0\n MaxLosses = 0\n MaxReplaced = 0\n MaxInc = 3",
		other: map[string]string{"Values": `= {"replicated", "empty"}`, "Replicated": `= {"replicated"}`, "Persisted": "<- SimPersisted", "MayAdd": "<- SimWants", "MayElect": "<- SimMayElect"},
	},
	"MCTransferLiveness.tla": {
		module: "SIMTransferLiveness.tla", begins: "SimTransfer", led: "LedLively", fair: "Fairly",
		set: "r3 = r3\n c1 = c1\n MaxIntent = 1\n Asked <- GroupAsked\n Holds <- SimHolds\n Lacks <- SimLacks\n Besides <- SimBesides\n SimShown <- TransferShown",
		other: map[string]string{
			"Replicas": "= {r1, r2, r3}", "Ops": "<- LivelyOps", "MayPropose": "<- MayGoOn", "MaxOps": "= 3", "MayAsk": "<- MayAskAmid", "MayLead": "<- MayNot", "MayCrash": "<- MayLeave",
			"MayAccept": "", "MayDrop": "<- MayNot", "MayLetGo": "",
		},
	},
}

// beginning are those of models in which new incarnations begin.
var beginning = map[string]driven{
	"MCOrderedGroup.tla": {
		module: "SIMOrderedGroupSuccession.tla", begins: "Succession", led: "LedBegins", shows: "LedForgets",
		set: "MayLosePower <- SimMayLosePower\n Votes <- SimVotes\n Lacks <- MemberLacks\n Owed <- SimOwed\n MayNumber <- SimMayNumber\n Left <- SimLeft\n SimShown <- MembersShown",
		other: map[string]string{
			"Ops": "<- LedOps", "Reads": "<- LedReads", "MaxOps": "= 4", "MaxCrashes": "= 3", "MayCrash": "<- MemberMayCrash", "MayRejoin": "<- SimMayRejoin",
		},
	},
	"MCTransferGroup.tla": {
		module: "SIMTransferGroupSuccession.tla", begins: "Begins", led: "LedOlder", shows: "LedOlder",
		set: "MayLosePower <- SimMayLosePower\n MayReturn <- LedMayReturn\n MayCompact <- MayNot\n Votes <- SimVotes\n Lacks <- BeginsLacks\n Owed <- SimOwed\n MayNumber <- SimMayNumber\n" +
			" Left <- SimLeft\n SyncedBy <- BeginsSyncedBy\n Holds <- SimHolds\n Besides <- SimBesides\n SimShown <- BeginsShown",
		other: map[string]string{
			"Replicas": "= {r1, r2, r3}", "Ops": "<- LedTransferOps", "MaxOps": "= 2", "MaxCrashes": "= 3", "Reads": "<- LedReads", "MaxOffers": "", "MaxInstalls": "",
			"MayOffer": "", "MayAccept": "", "MayStep": "", "MayAsk": "<- SimMayAsk", "MayLead": "<- LedMayLead", "MayCrash": "<- MemberMayCrash",
			"MayRejoin": "<- LedMayRejoin", "Persisted": "<- VolatileAll", "Offsets": "", "MaxBack": "", "MayBegin": "<- SimMayBegin",
		},
	},
}

var begins = regexp.MustCompile(`(?m)^\s*Begins = TRUE$`)

// counting counts what the model counts, crashes for example, since there it limits them.
const counting = `---- MODULE Counterexample ----
EXTENDS %[1]s
CountedView == <<View, %[2]sView>>
CountedSpec == %[2]sInit /\ [][%[2]sNext /\ %[3]s]_<<vars, %[2]sView>> /\ %[4]s
====
`

// showing does the same for a group, of which what is to be shown is not in variables.
const showing = `---- MODULE Counterexample ----
EXTENDS %[1]s
VARIABLE shown
CountedView == <<View, %[2]sView>>
CountedSpec == %[2]sInit /\ shown = SimShown /\ [][%[2]sNext /\ %[3]s /\ shown' = SimShown']_<<vars, %[2]sView, shown>> /\ %[4]s
====
`

// HoldsError is a model that has no counterexample, or none by a way that replicas can be led.
type HoldsError struct{ Model string }

func (e *HoldsError) Error() string {
	return fmt.Sprintf("model %s: what it is asked holds wherever replicas can be led: want a model that violates a property there", e.Model)
}

// Drivable tells whether Counterexample can be asked for a model.
func Drivable(m models.Model) error {
	if _, ok := drivables[m.Module]; !ok {
		return &NotDrivableError{m.Name, m.Module, "one of " + strings.Join(slices.Sorted(maps.Keys(drivables)), ", ")}
	}
	return nil
}

// Counterexample has TLC find a shortest behaviour of a model that violates the property
// of the model, which it names. Of what the design leaves open it is the way in which the
// implementation does it, as in SIM*.tla. Of one that goes on for ever it is what comes
// before nothing new does.
func Counterexample(ctx context.Context, tool tlc.Tool, spec string, m models.Model) (*Behaviour, string, error) {
	if err := Drivable(m); err != nil {
		return nil, "", err
	}
	at := drivables[m.Module]
	cfg, err := os.ReadFile(filepath.Join(spec, m.Cfg))
	if err != nil {
		return nil, "", fmt.Errorf("behaviours: model %s: %w", m.Name, err)
	}
	if x, ok := beginning[m.Module]; ok && begins.Match(cfg) {
		at = x
	}
	h := modules[at.module]
	text, err := at.config(string(cfg), h.Replicas > 0)
	if err != nil {
		return nil, "", fmt.Errorf("behaviours: model %s: %s: %w", m.Name, m.Cfg, err)
	}
	dir, err := os.MkdirTemp("", "purgelab-counterexample-")
	if err != nil {
		return nil, "", fmt.Errorf("behaviours: %w", err)
	}
	defer os.RemoveAll(dir)
	module := counting
	if h.Replicas > 0 {
		module = showing
	}
	led := at.led
	if m.Defect == "" {
		led = at.shows
	}
	module = fmt.Sprintf(module, strings.TrimSuffix(at.module, ".tla"), cmp.Or(at.begins, "Sim"), cmp.Or(led, "TRUE"), cmp.Or(at.fair, "TRUE"))
	for name, text := range map[string]string{"Counterexample.tla": module, "Counterexample.cfg": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return nil, "", fmt.Errorf("behaviours: %w", err)
		}
	}
	library, err := filepath.Abs(spec)
	if err != nil {
		return nil, "", fmt.Errorf("behaviours: %w", err)
	}
	res, err := tlc.Run(ctx, tool, tlc.Options{Dir: dir, Module: "Counterexample.tla", Config: "Counterexample.cfg", Library: []string{library}, Deadlock: true, Short: true})
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("behaviours: model %s: %w", m.Name, err)
	case res.Verdict == tlc.Pass:
		return nil, "", &HoldsError{m.Name}
	case res.Verdict != tlc.Fail:
		return nil, "", fmt.Errorf("behaviours: model %s: TLC: %v %s", m.Name, res.Verdict, res.Reason)
	}
	h.Model, h.Number = m.Name, 1
	b := &Behaviour{Header: h}
	for _, s := range res.Trace {
		if s.Back > 0 || len(s.State) == 0 {
			break // it goes on so for ever; who is led comes to rest
		}
		b.add(actOf(s))
	}
	return b, res.Property, nil
}

// config makes the configuration of a model one of behaviours that can be led. Replicas of
// a group that are all alike are not so where one of them leads.
func (d *driven) config(text string, group bool) (string, error) {
	other := map[string]string{"SPECIFICATION": "CountedSpec"}
	maps.Copy(other, d.other)
	if d.fair == "" { // what comes at last needs every state as it is
		other["VIEW"] = "CountedView"
		if !strings.Contains(text, "\nVIEW ") { // AgreedLog's models have none
			text += "\nVIEW none\n"
		}
		if group {
			other["SYMMETRY"] = "Followers"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(other)) {
		line := regexp.MustCompile(`(?m)^\s*` + name + ` .*$`)
		if n := len(line.FindAllString(text, -1)); n != 1 {
			return "", fmt.Errorf("%s is there %d times: want it once", name, n)
		}
		with := ""
		if other[name] != "" {
			with = name + " " + other[name]
		}
		text = line.ReplaceAllLiteralString(text, with)
	}
	if d.set != "" {
		text += "\nCONSTANTS " + d.set + "\n"
	}
	return text, nil
}

// actOf is a state of a counterexample with what led to it. What only properties look
// at is no part of it.
func actOf(s tlc.Step) Act {
	last, _ := s.Lookup("last")
	a := parameters(last)
	a.State = map[string]any{}
	if shown, ok := s.Lookup("shown"); ok {
		a.State = plain(shown).(map[string]any)
		a.fill()
		return a
	}
	for _, x := range s.State {
		if x.Name != "last" && !strings.HasPrefix(x.Name, "ghost_") {
			a.State[x.Name] = plain(x.Value)
		}
	}
	a.fill()
	return a
}
