package scenario

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/linearizability/guarantee"
	"purgelab/traces/behaviours"
	"purgelab/traces/replay"
)

// Counterexample is a scenario that was made of a behaviour of the specification in
// which a property does not hold.
type Counterexample struct {
	Name string // of the scenario
	Text string // of the file
	// Defect is that of the implementation that has the name of the specification's,
	// empty if none has.
	Defect string
	// Difference is the first thing in which the replica that has the defect is not what
	// the behaviour says, nil if it is led through all of it.
	Difference *replay.Difference
	// Shows is whether the behaviour shows what can happen, and nothing is wrong with it.
	Shows bool
	// Limit is the property if the behaviour shows that the design cannot give it, without
	// any defect; else empty.
	Limit string
	// Calm is the scenario played without the defect, Red with it; nil if there is none.
	Calm, Red *Result
}

// Reproduced tells whether the scenario is one as it should be: with the defect a property
// is violated, and nothing is wrong without it but what the design violates by nature; what
// can happen, and what cannot be given, the replica has to follow, and of the latter the
// property has to be violated. A replica that has no such defect must not follow: nobody
// would have seen what is wrong. What is undecided is not reproduced.
func (c *Counterexample) Reproduced() bool {
	switch {
	case c.Undecided() != "" || len(c.Calm.unlisted()) > 0:
		return false
	case c.Limit != "":
		return c.Difference == nil && c.Calm.violates(c.Limit)
	case c.Shows:
		return c.Difference == nil
	case c.Red == nil:
		return c.Difference != nil
	}
	return len(c.Red.unlisted()) > 0
}

// Undecided says why a play of the scenario has no verdict, and is empty if each has.
func (c *Counterexample) Undecided() string {
	if c.Red != nil && c.Calm.Undecided == "" {
		return c.Red.Undecided
	}
	return c.Calm.Undecided
}

// subjects are those of the guarantee matrix that a scenario is about in one of its ways: it
// may send tagged positions and bare ones; of one that leads replicas its stores say which.
func (s *Scenario) subjects(way Way) (list []guarantee.Subject) {
	all := []string{"tagged", "bare"}
	if s.driven && !slices.ContainsFunc(s.Steps, func(x Step) bool { return replay.Bare(x.act) }) {
		all = all[:1]
	}
	for _, positions := range all {
		of := guarantee.Subject{
			Design: way.Design.String(), Variant: s.Variants.String(), Positions: positions,
			Messages: way.Policy.Messages.String(), Bookmarks: way.Policy.Bookmarks.String(),
		}
		if s.Replicas == 1 && !s.leaderShown() {
			of.Replicas = 1
		}
		list = append(list, of)
	}
	return list
}

// list notes what a scenario violates without a defect, and the guarantee matrix lists: of
// the property that is asked for only if there is no defect.
func (c *Counterexample) list(s *Scenario, property string) {
	for _, x := range c.Calm.Red {
		if (c.Defect == "" || x.Property != property) && slices.ContainsFunc(s.subjects(s.Ways()[0]), func(of guarantee.Subject) bool { return guarantee.Listed(of, x.Property) }) {
			s.Listed = append(s.Listed, x.Property)
		}
	}
	if i := slices.Index(s.Listed, c.Limit); i > 0 { // what is listed first must be violated
		s.Listed[0], s.Listed[i] = s.Listed[i], s.Listed[0]
	}
}

// inImplementation is the name that a defect of the specification has in the implementation,
// where one is of all designs and a floor is a boundary; empty if there is none.
func inImplementation(name string) string {
	plain := strings.TrimPrefix(name, "reset-")
	for _, name := range []string{name, plain, strings.Replace(plain, "floor", "boundary", 1)} {
		if _, err := defect.Parse(name); err == nil {
			return name
		}
	}
	return ""
}

// reached begins what is said of a model that is to show that something can happen, and
// nothing ends what its scenario says.
const (
	reached = "can be reached: "
	nothing = ", and nothing is violated"
)

// limited begins what is said of a model that shows what a design cannot give.
var limited = regexp.MustCompile(`^what .* cannot give: `)

// FromCounterexample makes a scenario of b, which violates property in a model. name is
// that of the defect that its specification has, and why says what goes wrong then; or it
// is that of a model that shows what can happen, or what a design cannot give.
func FromCounterexample(ctx context.Context, b *behaviours.Behaviour, name, property, why string) (*Counterexample, error) {
	c := &Counterexample{Name: "tlc-" + name}
	c.Defect = inImplementation(name)
	on, err := defect.Parse(c.Defect)
	if err != nil {
		return nil, err
	}
	follow := replay.Follow
	if b.Replicas > 0 {
		follow = replay.FollowGroup
	}
	steps, diff, err := follow(b, on)
	if err != nil {
		return nil, err
	}
	c.Difference = diff
	file := c.Name + ".txt"
	says := "It never happens that " + why
	if what, ok := strings.CutPrefix(why, reached); ok {
		c.Shows = true
		says = "It happens that " + what + nothing
	}
	if limited.MatchString(why) {
		c.Limit = property
		says = "W" + why[1:]
	}
	head := fmt.Sprintf("# purgelab trace behaviours --model %s --counterexample\nscenario: %s\nsays: %s.\n"+
		"origin: TLC, %s violated\nreplicas: %d\ndesign: %s\n", b.Model, c.Name, says, property, max(b.Replicas, 1), b.Design)
	if p := replay.PolicyOf(b); p != (replica.Policy{}) {
		head += fmt.Sprintf("messages: %s\nbookmarks: %s\n", p.Messages, p.Bookmarks)
	}
	if v := replay.VariantsOf(b); v != (replica.Variants{}) {
		head += fmt.Sprintf("variant: %s\n", strings.ReplaceAll(v.String(), ",", " "))
	}
	answers := slices.Repeat([]string{"?"}, len(steps))
	s, err := Parse(file, head+"\n"+written(steps, answers, answers))
	if err != nil {
		return nil, err
	}
	c.Calm = Play(ctx, s, s.Ways()[0], false)
	if c.list(s, property); len(s.Listed) > 0 {
		head = strings.Replace(head, nothing, nothing+" but what the design cannot give", 1)
		head += fmt.Sprintf("listed: %s\n", strings.Join(s.Listed, " "))
	}
	answers, wrong := c.Calm.Answers, c.Calm.Answers
	if c.Defect != "" {
		s.Defect = c.Defect
		c.Red = Play(ctx, s, s.Ways()[0], true)
		wrong = c.Red.Answers
		if c.Reproduced() {
			red := c.Red.unlisted()[0].Property
			if c.Red.violates(property) {
				red = property
			}
			head += fmt.Sprintf("defect: %s\nred: %s\n", c.Defect, red)
		} else {
			wrong = answers
		}
	}
	c.Text = head + "\n" + written(steps, answers, wrong)
	return c, nil
}

// written are steps with what is answered, and what the defect makes of it.
func written(steps, answers, wrong []string) string {
	width := 0
	for _, x := range steps {
		if len(x) <= 40 {
			width = max(width, len(x))
		}
	}
	var out strings.Builder
	for i, x := range steps {
		fmt.Fprintf(&out, "take %-*s -> %s\n", width, x, answers[i])
		if wrong[i] != answers[i] {
			fmt.Fprintf(&out, "!! %s\n", wrong[i])
		}
	}
	return out.String()
}
