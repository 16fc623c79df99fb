// Package replay leads a replica of the implementation through behaviours of the
// specification, and holds the two against each other: after every action the state that
// is read from the replica and from its disk must be the state that the specification
// has, field by field. What is compared, and how an action is taken, is in Table.
//
// The replica is a follower; the driver is its machine and speaks for its leader. Ops of
// the specification are counted from 1 and those of the implementation from 2, since its
// op 1 is the bootstrap.
package replay

import (
	"errors"
	"fmt"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/traces/behaviours"
)

// Replay leads a replica with the given defects through b. The answer is the first
// difference, nil if there is none; an error means that b cannot be replayed.
func Replay(b *behaviours.Behaviour, defects defect.Set) (*Difference, error) {
	design, err := replica.ParseDesign(b.Design)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	rows, ok := rowsOf[b.Design]
	if !ok {
		return nil, fmt.Errorf("replay: no table for the design %s", b.Design)
	}
	d, err := newDriver(design, defects)
	if err != nil {
		return nil, err
	}
	for i := range b.Acts {
		a := &b.Acts[i]
		diff, err := d.act(rows, a)
		if err != nil {
			return nil, fmt.Errorf("replay: behaviour %d, act %d: %w", b.Number, i, err)
		}
		if diff != nil {
			diff.Behaviour, diff.Act, diff.Action = b.Number, i, string(a.Action)
			return diff, nil
		}
	}
	return nil, nil
}

var rowsOf = func() map[string]map[string]Row {
	out := map[string]map[string]Row{}
	for design, rows := range Table {
		out[design] = map[string]Row{}
		for _, r := range rows {
			out[design][string(r.Action)] = r
		}
	}
	return out
}()

// act takes one action and compares the states.
func (d *driver) act(rows map[string]Row, a *behaviours.Act) (*Difference, error) {
	if a.Action != "Init" {
		row, ok := rows[string(a.Action)]
		if !ok {
			return nil, fmt.Errorf("action %s: not in the table of %s", a.Action, d.design)
		}
		err := row.take(d, a)
		var diff *Difference
		if errors.As(err, &diff) {
			return diff, nil
		}
		if err != nil {
			// The implementation did not do what the specification allows.
			return &Difference{Field: "action", Want: string(a.Action), Got: err.Error()}, nil
		}
		d.follow()
	}
	want, err := wanted(d.design, a.State)
	if err != nil {
		return nil, err
	}
	got, err := d.state()
	if err != nil {
		return &Difference{Field: "disk", Want: "readable", Got: err.Error()}, nil
	}
	return differ("", want, got), nil
}

// wanted is the state of the specification, put as an implementation can show it.
func wanted(_ replica.Design, s map[string]any) (map[string]any, error) {
	disk, ok := s["disk"].(map[string]any)
	if !ok {
		return nil, errors.New("a state without the variable disk")
	}
	return wantOrdered(s, disk), nil
}
