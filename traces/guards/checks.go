package guards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// Kind tells checks apart.
type Kind string

const (
	// Model: TLC holds the specification to what it says of itself.
	Model Kind = "model"
	// Tie: the specification is held to something else.
	Tie Kind = "tie"
)

var kinds = []Kind{Model, Tie}

// check is one way to notice a change.
type check struct {
	name string
	kind Kind
	// modules that it reads.
	reads map[string]bool
	// apt tells whether it can notice the change at all.
	apt func(*Guard) bool
	// red says how the specification in the workspace differs from what is expected;
	// empty: it does not.
	red func(ctx context.Context, w *workspace) (string, error)
}

// errMalformed is a change after which a module is none: a fault of Find.
var errMalformed = errors.New("the changed module is not well-formed")

// errLate is a check that has no answer when its time is up.
var errLate = errors.New("no answer in time")

// senseless is what is said of a change after which TLC can make nothing of a module.
const senseless = "TLC cannot evaluate it"

// timeout of one model, long enough on a machine that is busy.
const (
	mostSeconds   = 30 // of those that the manifest plans: a longer model is not asked
	leastTimeout  = 10 * time.Minute
	secondTimeout = 40 * time.Second // for each second that the manifest plans
)

// checks lists who is asked: the ties, and the models that take no more than
// mostSeconds; of these those of the smoke tier that must pass, those that must fail, the
// rest, the cheapest first.
func checks(list []models.Model, modules map[string]string) []check {
	rank := func(m *models.Model) int {
		switch {
		case !models.Within(m.Tier, "smoke"):
			return 2
		case m.Expect != models.ExpectPass:
			return 1
		}
		return 0
	}
	list = slices.DeleteFunc(slices.Clone(list), func(m models.Model) bool { return m.Mode != "check" || m.Seconds > mostSeconds })
	slices.SortStableFunc(list, func(a, b models.Model) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Seconds, b.Seconds))
	})
	out := ties(modules)
	for _, m := range list {
		out = append(out, modelCheck(m, modules))
	}
	return out
}

// modelCheck is a model held to its row of the manifest.
func modelCheck(m models.Model, modules map[string]string) check {
	apt := func(g *Guard) bool {
		switch g.Change {
		case Always:
			return m.Expect == g.Name
		case Dropped: // it allows more: what is violated still is
			return m.Expect == models.ExpectPass
		}
		return true
	}
	red := func(ctx context.Context, w *workspace) (string, error) {
		limit := max(leastTimeout, time.Duration(m.Seconds*float64(secondTimeout)))
		o := models.Check(ctx, w.tool, []models.Model{m}, models.Options{Dir: w.in("spec"), Timeout: limit, Enough: true}, nil)[0]
		switch r := o.Result; {
		case o.Verdict == tlc.Pass:
			return "", nil
		case m.Expect == models.ExpectPass && r != nil && r.Distinct > m.Distinct && len(r.Errors) == 0 && r.Verdict != tlc.Fail:
			return fmt.Sprintf("more distinct states than the manifest's %d", m.Distinct), nil
		case o.Verdict == tlc.Fail:
			return o.Problem, nil
		case r == nil || ctx.Err() != nil:
			return "", errors.New(o.Problem)
		case r.Code == tlc.CodeParse || r.Code == tlc.CodeConfig:
			return "", fmt.Errorf("%w: %s", errMalformed, o.Problem)
		case len(r.Errors) > 0:
			return senseless, nil
		}
		return "", errLate
	}
	reads := map[string]bool{}
	read(modules, strings.TrimSuffix(path.Base(m.Module), ".tla"), reads)
	return check{name: m.Name, kind: Model, reads: reads, apt: apt, red: red}
}
