// Package scenario plays short scripts of what went wrong in real brokers. Each
// is one readable text file (docs/scenarios.md): a header, then one step a line
// with the answer that must come.
//
//	scenario.go  what a file holds
//	parse.go     reads a file; a mistake names line and column
//	reader.go    reads the words of a line
//	verbs.go     the words of the language, and those about machines
//	requests.go  the words about requests
//	world.go     a small cluster in which nothing is drawn: messages arrive in the
//	             order in which they were sent, disks work at once, time passes
//	             only while somebody waits
//	time.go      what happens next in it, and time
//	plane.go     how it goes on after replicas have lost their memory
//	sequence.go  all machines of it without power
//	fault.go     what breaks it
//	client.go    what is asked, recorded in a history
//	play.go      plays a scenario and judges it
//	driven.go    one replica that is led through actions of the specification
//	drivengroup.go  a group that is
//	observed.go  the history as a report tells it, which must be rejected
//
// A scenario is judged three times: each step must answer what its line says; the
// named invariants watch the replicas; and the history must be linearizable. With
// the defect that the file names switched on, the answers must be those of the
// lines that begin with !!, and a property that the file names must be violated:
// otherwise the scenario would prove nothing.
package scenario

import (
	"fmt"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/traces/behaviours"
)

// Scenario is one file.
type Scenario struct {
	File string // the name that errors give
	Name string
	// Says is one sentence: what must not happen.
	Says string
	// Origin names public reports, if there are any.
	Origin   string
	Replicas int
	// Partitions of one topic.
	Partitions int
	Designs    []replica.Design
	Variants   replica.Variants
	// Policies of messages and of bookmarks that it is played under.
	Policies []replica.Policy
	// Checkpoint, Segment and Journal are the number of ops between checkpoints
	// and the sizes of files.
	Checkpoint, Segment, Journal int
	// Compact is how many ops a journal holds before it drops what a checkpoint
	// covers; 0: it never does.
	Compact int
	// Defect reproduces the report, and violates Red; both empty if no switch does.
	Defect string
	Red    string
	// Listed are properties that the design violates by nature: without the defect
	// the first of them must be violated, and none but them.
	Listed []string
	// Refuses are replicas that must refuse their disk in the end, by a typed error.
	Refuses []int
	Steps   []Step

	clients  []string // in the order in which they appear
	recreate int      // how often the partition is created again
	replaces bool     // disks
	powers   bool     // takes the power from machines
	damages  bool     // makes disks lose what they have synced
	driven   bool     // replicas are led through actions of the specification
}

// Way is one way to play a scenario.
type Way struct {
	Design replica.Design
	Policy replica.Policy
}

func (w Way) String() string {
	m, b := w.Policy.Messages.String(), w.Policy.Bookmarks.String()
	switch {
	case w.Policy == replica.Policy{}:
		return w.Design.String()
	case m == b:
		return w.Design.String() + ", " + m
	}
	return fmt.Sprintf("%s, messages %s, bookmarks %s", w.Design, m, b)
}

// Ways lists them.
func (s *Scenario) Ways() []Way {
	var out []Way
	for _, d := range s.Designs {
		for _, p := range s.Policies {
			out = append(out, Way{d, p})
		}
	}
	return out
}

// forgetful tells whether replicas may lose their memory, so that a group needs new
// members and perhaps a new incarnation.
func (s *Scenario) forgetful(w Way) bool {
	return w.Design != replica.ResetRecord && (s.replaces || w.Policy != replica.Policy{})
}

// Step is one line.
type Step struct {
	Line int
	// Text is the step as it is written.
	Text string
	// Want is the answer that must come, Wrong the one that the defect causes
	// instead; the same if there is no line with !!.
	Want, Wrong string
	// Seen is what a report says that was answered, where no switch brings it back;
	// empty if there is no line with ~~.
	Seen string

	asks   bool // a client is answered
	counts bool // files are counted
	do     func(*world) string
	act    *behaviours.Act // of who is led
}

// Defects of the scenario as a set.
func (s *Scenario) Defects() defect.Set {
	d, err := defect.Parse(s.Defect)
	if err != nil {
		panic(err) // Parse has looked it up
	}
	return d
}

// Reclaimed is the property of a disk that holds no more files than a step that
// counts them says: nobody else speaks of space.
const Reclaimed = "SpaceReclaimed"

// Error is a mistake in a file.
type Error struct {
	File         string
	Line, Column int // from 1
	Text         string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}
