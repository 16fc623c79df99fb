package replay

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"purgelab/traces/behaviours"
)

// MisreadError is an act that cannot be taken or compared, since it is not in the table or
// holds something else than its action has.
type MisreadError struct {
	Behaviour, Act int // Act is counted from 0, which is Init
	Line           int // of the file
	Action         string
	Err            error
}

func (e *MisreadError) Error() string {
	return fmt.Sprintf("behaviour %d, act %d, %s: %v", e.Behaviour, e.Act, e.Action, e.Err)
}

func (e *MisreadError) Unwrap() error { return e.Err }

// each hands the acts of b to act, up to the first difference.
func each(b *behaviours.Behaviour, act func(i int) (*Difference, error)) (*Difference, error) {
	for i := range b.Acts {
		a := &b.Acts[i]
		diff, err := caught(a, func() (*Difference, error) { return act(i) })
		if err != nil {
			return nil, &MisreadError{b.Number, i, b.Line + 1 + i, string(a.Action), err}
		}
		if diff != nil {
			diff.Behaviour, diff.Act, diff.Action = b.Number, i, string(a.Action)
			return diff, nil
		}
	}
	return nil, nil
}

// caught takes an act. Tables read what TLC wrote, and do not ask of each field whether it
// is there: a panic of theirs is a file that says something else. A panic of the
// implementation is a difference.
func caught(a *behaviours.Act, act func() (*Difference, error)) (diff *Difference, err error) {
	defer func() {
		if p := recover(); p != nil {
			text := strings.TrimPrefix(fmt.Sprint(p), "runtime error: ")
			if _, ok := p.(*runtime.TypeAssertionError); ok {
				text = "a field is missing, or is of another kind"
			}
			if diff, err = nil, fmt.Errorf("it does not hold what the table reads: %s", text); !raisedHere() {
				diff, err = &Difference{Field: "action", Want: string(a.Action), Got: "panic: " + text}, nil
			}
		}
	}()
	return act()
}

var here = reflect.TypeFor[Difference]().PkgPath() + "."

// raisedHere tells, where a panic is caught, whether it was raised in this package.
func raisedHere() bool {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for f, more := frames.Next(); more; f, more = frames.Next() {
		if !strings.HasPrefix(f.Function, "runtime.") {
			return strings.HasPrefix(f.Function, here)
		}
	}
	return false
}
