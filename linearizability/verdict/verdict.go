// Package verdict holds the three answers a check can give. There is no
// fourth, and one that was not reached is Undecided, never Pass: a time-out,
// a missing tool or an interrupt proves nothing.
package verdict

import (
	"encoding/json"
	"fmt"
)

// Verdict is the answer of a check. Worst orders verdicts.
type Verdict uint8

const (
	// Undecided is the zero value, so that a forgotten verdict never passes.
	Undecided Verdict = iota
	Pass
	Fail
)

var names = [...]string{"undecided", "pass", "fail"}

func (v Verdict) String() string { return names[v] }

// Parse reads what String prints.
func Parse(s string) (Verdict, error) {
	for i, n := range names {
		if n == s {
			return Verdict(i), nil
		}
	}
	return 0, fmt.Errorf("verdict %q: want one of %v", s, names)
}

// ExitCode is 0 for pass, 1 for fail, 2 for undecided.
func (v Verdict) ExitCode() int {
	switch v {
	case Pass:
		return 0
	case Fail:
		return 1
	}
	return 2
}

// Worst of two verdicts: a violation outweighs everything, and an undecided
// check outweighs a passed one.
func Worst(a, b Verdict) Verdict {
	if a == Fail || b == Fail {
		return Fail
	}
	if a == Undecided || b == Undecided {
		return Undecided
	}
	return Pass
}

// MarshalJSON writes the name.
func (v Verdict) MarshalJSON() ([]byte, error) { return json.Marshal(v.String()) }

// UnmarshalJSON reads the name.
func (v *Verdict) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	got, err := Parse(s)
	*v = got
	return err
}

// Result is what one check found.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Property that was checked, or the one that is violated, by its name in
	// spec/Properties.tla where it has one.
	Property string `json:"property"`
	// Reason explains a fail with the smallest example at hand, and says what
	// kept an undecided check from its end. Empty for a pass.
	Reason string `json:"reason,omitempty"`
	// Shown are the operations of a history that are wrong together, the decisive one
	// last; none where they are not known.
	Shown []Shown `json:"shown,omitempty"`
}

// Shown is an operation of a history as a person wants to read it.
type Shown struct {
	Line    int    `json:"line"` // at which it is invoked
	Process int    `json:"process"`
	Call    int64  `json:"call"`             // as the history counts time
	Return  int64  `json:"return,omitempty"` // 0: never
	Request string `json:"request"`
	Answer  string `json:"answer"`
}

// String prints an operation in one line.
func (s Shown) String() string {
	until := "never"
	if s.Return > 0 {
		until = fmt.Sprint(s.Return)
	}
	return fmt.Sprintf("line %d, process %d, %d to %s: %s → %s", s.Line, s.Process, s.Call, until, s.Request, s.Answer)
}

// String prints a result in one line, the reason after it.
func (r Result) String() string {
	s := r.Verdict.String() + " " + r.Property
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	return s
}
