// Package replay leads replicas of the implementation through behaviours of the
// specification, and holds the two against each other: after every action the state that
// is read from a replica and from its disk must be the state that the specification
// has, field by field. What is compared, and how an action is taken, is in Table, and of
// groups in Groups.
//
// One replica (driver) is a follower; the driver is its machine and speaks for its leader.
// Ops of the specification are counted from 1 and those of the implementation from 2, since
// its op 1 is the bootstrap.
//
// The replicas of a group (group) lead and vote by themselves; the driver is their
// machines and the network between them. Their ops are counted along the line of all
// incarnations, and three of the implementation come before the specification's first.
//
// Drive and GroupDrive take the same actions by words, and compare nothing.
package replay

import (
	"errors"
	"fmt"
	"slices"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/traces/behaviours"
)

// Replay leads a replica with the given defects through b. The answer is the first
// difference, nil if there is none; an error means that b cannot be replayed.
func Replay(b *behaviours.Behaviour, defects defect.Set) (*Difference, error) {
	return follow(b, defects, func(*driver, *behaviours.Act) {})
}

// follow tells of every action that was taken, before the states are compared.
func follow(b *behaviours.Behaviour, defects defect.Set, took func(*driver, *behaviours.Act)) (*Difference, error) {
	design, err := replica.ParseDesign(b.Design)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if b.Replicas > 0 {
		name := b.Design
		if isAgreed(b) {
			name = agreedName
		}
		i := slices.IndexFunc(Groups, func(t Group) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("replay: no table for a group of the design %s", b.Design)
		}
		return replayGroup(b, &Groups[i], design, defects)
	}
	i := slices.IndexFunc(Table, func(t Design) bool { return t.Name == b.Design })
	if i < 0 {
		return nil, fmt.Errorf("replay: no table for the design %s", b.Design)
	}
	t := &Table[i]
	d, err := newDriver(design, defects)
	if err != nil {
		return nil, err
	}
	d.policy, d.variants = PolicyOf(b), VariantsOf(b)
	if len(b.Acts) > 0 {
		d.coming.shown = b.Acts[0].State["stage"] != nil
	}
	return each(b, func(i int) (*Difference, error) {
		if i > 0 {
			d.was = b.Acts[i-1].State
		}
		return d.act(t, &b.Acts[i], took)
	})
}

// act takes one action and compares the states.
func (d *driver) act(t *Design, a *behaviours.Act, took func(*driver, *behaviours.Act)) (*Difference, error) {
	if a.Action != "Init" {
		i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Action == a.Action })
		if i < 0 {
			return nil, fmt.Errorf("action %s: not in the table of %s", a.Action, t.Name)
		}
		if err := d.able(a); err != nil {
			return nil, err
		}
		err := d.take(&t.Rows[i], a)
		took(d, a)
		if err != nil {
			return untaken(a, err)
		}
		d.follow()
	}
	got, err := d.state(t)
	if err != nil {
		return &Difference{Field: "disk", Want: "readable", Got: err.Error()}, nil
	}
	return differ("", t.want(a.State), got), nil
}

// untaken is the difference that an error in taking an action is: the implementation did
// not do what the specification allows; unless the action is at fault.
func untaken(a *behaviours.Act, err error) (*Difference, error) {
	var diff *Difference
	var fault *unfit
	switch {
	case errors.As(err, &diff):
		return diff, nil
	case errors.As(err, &fault):
		return nil, err
	}
	return &Difference{Field: "action", Want: string(a.Action), Got: err.Error()}, nil
}
