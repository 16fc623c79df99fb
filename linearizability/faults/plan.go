// Package faults plans what breaks during a run, and when. A plan is data: it is
// drawn from a seed, or read from a file that a person may write, and printing
// what was read gives it back.
//
//	{
//	  "network": {"loss": 0.01, "duplicate": 0.01, "slow": 0.02},
//	  "faults": [
//	    {"at": 120, "for": 400, "kind": "partition", "replicas": [0], "oneWay": "in"},
//	    {"at": 600, "for": 250, "kind": "power-loss", "replicas": [1, 2, 3]},
//	    {"at": 900, "for": 100, "kind": "crash-at", "replicas": [2], "label": "purge.", "call": 3, "after": true, "power": true},
//	    {"at": 950, "for": 900, "kind": "disk-fault", "replicas": [0], "rule": "sync-forget label=journal nth=3"},
//	    {"at": 999, "for": 500, "kind": "lie", "replicas": [3], "rule": "stale-read path=p0/gen-*/seg-*.log times=2"},
//	    {"at": 999, "for": 500, "kind": "rot", "replicas": [1], "draw": 7, "live": true},
//	    {"at": 2000, "for": 300, "kind": "foreign-disk", "replicas": [2], "whose": "cluster"},
//	    {"at": 2000, "for": 900, "kind": "spoil-transfer", "transfers": {"chunk": 0.1, "manifest": 0.2, "late": 0.5}}
//	  ]
//	}
//
// Times are simulated milliseconds. Replica 0 means the one that leads partition
// 0 when the fault begins.
package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"purgelab/impl/sim"
	"purgelab/linearizability/strictjson"
)

// Kind of a fault.
type Kind string

const (
	// Partition cuts the links between Replicas and all others, both ways or
	// one; those among each side stay whole.
	Partition Kind = "partition"
	// Isolate cuts Replicas off from clients only.
	Isolate Kind = "isolate"
	// Storm makes the network lose, duplicate and delay more.
	Storm Kind = "storm"
	// ProcessCrash and PowerLoss take Replicas down at one instant, for For.
	ProcessCrash Kind = "process-crash"
	PowerLoss    Kind = "power-loss"
	// CrashAt takes one replica down at a disk call.
	CrashAt Kind = "crash-at"
	// CrashAmid takes one replica down when a partition of a topic is purged there
	// and another is not.
	CrashAmid Kind = "crash-amid-topic"
	// SlowDisk makes syncs take long.
	SlowDisk Kind = "slow-disk"
	// DiskFault makes disk calls of Replicas fail by Rule.
	DiskFault Kind = "disk-fault"
	// Rot changes a byte that a replica has synced, or with a Record spoils one of
	// its small records, and restarts its process; the replica must refuse the
	// disk, and stays down.
	Rot Kind = "rot"
	// Misdirect leaves what a write does that landed in the place of another one,
	// both synced. FlipRead makes a disk return a byte that a replica has synced
	// with a wrong bit, once. Lie makes disk calls of a replica go wrong by Rule
	// without a word.
	Misdirect Kind = "misdirect"
	FlipRead  Kind = "flip-read"
	Lie       Kind = "lie"
	// ReplaceDisk takes one replica down, for a while, and the disk of its partitions
	// from it: it finds an empty one. ForeignDisk puts one in that another replica has
	// used, and after For the own one back.
	// LoseBase does it within For to the machine whose log a new incarnation goes on
	// from, before anybody has a copy.
	ReplaceDisk Kind = "replace-disk"
	LoseBase    Kind = "lose-base"
	ForeignDisk Kind = "foreign-disk"
	// ReplacePlane takes one machine down, for a while, and the disk of its replica of
	// the metadata plane from it. RotPlane changes a byte of that one's journal, which
	// it has synced, and restarts its process unless Live.
	ReplacePlane Kind = "replace-plane-disk"
	RotPlane     Kind = "rot-plane-disk"
	// DropProposals makes one replica drop what it would propose as a leader.
	DropProposals Kind = "drop-proposals"
	// SpoilTransfer alters messages of transfers of state, or makes them come late.
	SpoilTransfer Kind = "spoil-transfer"
)

// Kinds lists all kinds in the order of reports.
var Kinds = []Kind{Partition, Isolate, Storm, SlowDisk, ProcessCrash, PowerLoss, CrashAt, CrashAmid, DiskFault, Rot, Misdirect, FlipRead, Lie, ReplaceDisk, LoseBase, ForeignDisk, ReplacePlane, RotPlane, DropProposals, SpoilTransfer}

// Fault is one thing that breaks.
type Fault struct {
	At   int64 `json:"at"`
	For  int64 `json:"for"` // until it is mended: the link whole, the machine up
	Kind Kind  `json:"kind"`
	// Replicas concerned; 0 is the leader.
	Replicas []int `json:"replicas,omitempty"`
	// OneWay of a partition: "in" cuts what comes to Replicas, "out" what leaves
	// them, empty both.
	OneWay string `json:"oneWay,omitempty"`
	// Network of a storm, Transfers of a spoil-transfer.
	Network   *sim.Network `json:"network,omitempty"`
	Transfers *sim.Spoil   `json:"transfers,omitempty"`

	// Label, Call, After, Power, Again and Within of crash-at: the Call-th disk call
	// from then on whose label begins with Label; before its effect unless After;
	// a process crash unless Power. Again, if not 0, is the call of the recovery
	// that follows at which it crashes once more. Within, if not 0, is how long it
	// waits for that call; then any will do. The first of Replicas
	// makes the call; the others go down with it. Crash-amid-topic has Power and
	// Within, after which it does not strike.
	Label  string `json:"label,omitempty"`
	Call   int    `json:"call,omitempty"`
	After  bool   `json:"after,omitempty"`
	Power  bool   `json:"power,omitempty"`
	Again  int    `json:"again,omitempty"`
	Within int64  `json:"within,omitempty"`

	// Rule of a disk-fault or a lie, as package faultfs prints it.
	Rule string `json:"rule,omitempty"`
	// Record of a rot is a pattern for the name of a small record's file.
	Record string `json:"record,omitempty"`
	// Draw chooses the bytes of a rot, a misdirect or a flip-read. Live leaves the
	// process of the replica alone, which otherwise is restarted.
	Draw uint64 `json:"draw,omitempty"`
	Live bool   `json:"live,omitempty"`
	// Whose a foreign disk is: of another cluster, partition or replica.
	Whose sim.Whose `json:"whose,omitempty"`
}

// Plan is all that breaks in a run.
type Plan struct {
	// Shows says what a plan that is kept is there to show; a run takes no notice.
	Shows   *Shows      `json:"shows,omitempty"`
	Network sim.Network `json:"network"`
	Faults  []Fault     `json:"faults"`
}

// Shows is a known weakness: in a run with these settings, under faults of the
// class that the plan makes, the properties are violated.
type Shows struct {
	Says       string   `json:"says"`
	Class      Class    `json:"class"`
	Properties []string `json:"properties"`
	// Settings of the run, as run.json has them, without those that are usual.
	Settings json.RawMessage `json:"settings"`
}

// Parse reads a plan for a cluster of n replicas. file is the name that errors
// give.
func Parse(file string, r io.Reader, n int) (*Plan, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("faults: %s: %w", file, err)
	}
	p := new(Plan)
	if err := strictjson.Decode(text, p); err != nil {
		var e *strictjson.Error
		errors.As(err, &e)
		return nil, fmt.Errorf("faults: %s:%d: %w", file, e.Line, e.Err)
	}
	for i := range p.Faults {
		if err := p.Faults[i].check(n); err != nil {
			return nil, fmt.Errorf("faults: %s: fault %d: %w", file, i+1, err)
		}
	}
	return p, nil
}

func (f *Fault) check(n int) error {
	if _, err := path.Match(f.Record, ""); err != nil {
		return fmt.Errorf("record %q: %w", f.Record, err)
	}
	if f.At < 0 || f.For < 0 {
		return fmt.Errorf("at %d, for %d: want no negative time", f.At, f.For)
	}
	known := false
	for _, k := range Kinds {
		known = known || k == f.Kind
	}
	if !known {
		return fmt.Errorf("kind %q: want one of %v", f.Kind, Kinds)
	}
	for _, r := range f.Replicas {
		if r < 0 || r > n {
			return fmt.Errorf("replica %d: want 0 (the leader) to %d", r, n)
		}
	}
	whole := f.Kind == Storm || f.Kind == SlowDisk || f.Kind == SpoilTransfer || f.Kind == LoseBase
	switch {
	case !whole && len(f.Replicas) == 0:
		return fmt.Errorf("kind %s: want at least one replica, got none", f.Kind)
	case f.OneWay != "" && f.OneWay != "in" && f.OneWay != "out":
		return fmt.Errorf("oneWay %q: want in, out, or nothing", f.OneWay)
	case (f.Kind.spoils() || f.Kind.Forgets() || f.Kind == DropProposals) && len(f.Replicas) != 1:
		return fmt.Errorf("kind %s: want one replica, got %d", f.Kind, len(f.Replicas))
	case f.Kind == Storm && f.Network == nil:
		return fmt.Errorf("kind storm: want a network, got none")
	case f.Kind == SpoilTransfer && f.Transfers == nil:
		return fmt.Errorf("kind spoil-transfer: want transfers, got none")
	case f.Kind == ForeignDisk && !slices.Contains(sim.Whoses, f.Whose):
		return fmt.Errorf("kind foreign-disk: whose %q: want one of %v", f.Whose, sim.Whoses)
	case f.Kind == CrashAt && (f.Call < 1 || f.Within < 0):
		return fmt.Errorf("kind crash-at: want a call from 1 and no negative time, got call %d within %d", f.Call, f.Within)
	}
	if f.Kind == DiskFault || f.Kind == Lie {
		return f.checkRule()
	}
	return nil
}

// Storage tells whether disks fail in this plan.
func (p *Plan) Storage() bool {
	for i := range p.Faults {
		if k := p.Faults[i].Kind; k == DiskFault || k == ReplaceDisk || k == LoseBase || k.spoils() {
			return true
		}
	}
	return false
}

// Write prints a plan as Parse reads it, one fault per line.
func (p *Plan) Write(w io.Writer) error {
	var b strings.Builder
	network, err := json.Marshal(p.Network)
	if err != nil {
		return err
	}
	b.WriteString("{\n")
	if p.Shows != nil {
		shows, err := json.Marshal(p.Shows)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "  \"shows\": %s,\n", shows)
	}
	fmt.Fprintf(&b, "  \"network\": %s,\n  \"faults\": [", network)
	for i := range p.Faults {
		line, err := json.Marshal(&p.Faults[i])
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    %s", line)
	}
	b.WriteString("\n  ]\n}\n")
	_, err = io.WriteString(w, b.String())
	return err
}
