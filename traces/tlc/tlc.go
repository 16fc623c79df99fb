// Package tlc runs the TLC model checker and says what it found.
//
// TLC is a Java program and is used as it is. Find looks for it, and for the
// Java to run it with; Run starts it on one module and one configuration and
// turns what it prints into a Result; Table prints a counterexample so that a
// person can read it.
//
// Verdicts come from the messages that TLC frames when it is started with
// -tool, never from the exit code alone:
//
//	@!@!@STARTMSG 2110:1 @!@!@          number : class (0 ok, 1 error, 4 state)
//	Invariant NeverTwice is violated.
//	@!@!@ENDMSG 2110 @!@!@
//
// because the exit code is 0 for some runs that found a violation and has
// values that no table lists. A verdict needs both to agree; all else (a
// time-out, an unknown code, an error message) is Undecided, which no caller
// may show as a pass.
package tlc

import "fmt"

// Verdict is the answer of one run.
type Verdict int

const (
	// Undecided: TLC did not reach an answer. The zero value, so that a result
	// that nobody filled in is not a pass.
	Undecided Verdict = iota
	// Pass: the whole bounded state space (or every behaviour of a simulation)
	// satisfies the properties.
	Pass
	// Fail: a property is violated; Result.Property names it.
	Fail
)

func (v Verdict) String() string {
	switch v {
	case Pass:
		return "pass"
	case Fail:
		return "fail"
	}
	return "undecided"
}

// MarshalText makes verdicts words in JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Verdict) UnmarshalText(b []byte) error {
	for _, w := range []Verdict{Undecided, Pass, Fail} {
		if w.String() == string(b) {
			*v = w
			return nil
		}
	}
	return fmt.Errorf("verdict %q: want pass, fail or undecided", b)
}

// Names of violations that are not properties of a configuration.
const (
	Deadlock   = "Deadlock"   // a state without a successor
	Assumption = "Assumption" // an ASSUME of a module is false
)

// Result is what one run of TLC found.
type Result struct {
	Verdict  Verdict
	Property string // what is violated, if Verdict is Fail
	Reason   string // one line: why undecided, or what TLC said of the violation

	Generated int64 // states generated
	Distinct  int64 // distinct states; of a simulation, 0
	Depth     int   // of the complete state graph; 0 if TLC did not say
	Seconds   float64
	Code      int    // exit code of the process
	Version   string // what TLC calls itself

	Trace    []Step        // the counterexample, if there is one
	Coverage []ActionCount // per action, if asked for
	Output   []string      // lines printed by the specification (PrintT)
	Errors   []string      // error messages, whole
}

// Step is one state of a counterexample with the action that led to it.
type Step struct {
	Number int
	Action string // name; "Initial predicate", "Stuttering" or "Back to state"
	Module string // the module that defines the action
	State  []Binding
	Back   int // for the last step of a loop: the number of the step it goes back to
}

// Binding is one variable with its value.
type Binding struct {
	Name  string
	Value Value
}

// Lookup finds a variable of the state.
func (s Step) Lookup(name string) (Value, bool) {
	for _, b := range s.State {
		if b.Name == name {
			return b.Value, true
		}
	}
	return Value{}, false
}

// ActionCount tells how often an action was taken.
type ActionCount struct {
	Action   string
	Module   string
	Distinct int64 // distinct states that it led to first
	Total    int64 // states that it led to
}
