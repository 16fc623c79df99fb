package guards

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// Kind tells checks apart.
type Kind string

const (
	// Tie: the specification is held to something else.
	Tie Kind = "tie"
	// Model: TLC holds the specification to what it says of itself.
	Model Kind = "model"
)

// check is one way to notice a change.
type check struct {
	name string
	kind Kind
	pkg  string // whose test it is; empty: none is run
	// modules that it has TLC read, with all that these extend and instantiate.
	modules []string
	// files of the project that it reads beside, configurations and samples, and what
	// else decides what it says.
	files  []string
	expect string
	// red says how the specification in the workspace differs from what is expected;
	// empty: it does not.
	red func(ctx context.Context, w *workspace) (string, error)
	// notices tells whether it can notice what is done to a guard that it reads; nil: it
	// can unless a property is.
	notices func(*Guard) bool

	reads map[string]bool // names of modules
	hash  string          // of all that it reads
}

// ready finds out what a check reads.
func (c *check) ready(a *Asker) error {
	c.reads = map[string]bool{}
	for _, m := range c.modules {
		read(a.texts, m, c.reads)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", a.tool.Build, c.name, c.expect)
	for _, m := range slices.Sorted(maps.Keys(c.reads)) {
		fmt.Fprintf(h, "%q %q\n", m, a.texts[m])
	}
	for _, f := range c.files {
		text, err := os.ReadFile(filepath.Join(a.root, f))
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %q\n", f, text)
	}
	c.hash = hex.EncodeToString(h.Sum(nil)[:8])
	return nil
}

// can tells whether it can notice the change.
func (c *check) can(g *Guard) bool {
	switch {
	case !c.reads[g.Module]:
		return false
	case c.notices != nil:
		return c.notices(g)
	}
	return g.Change != Always
}

// question asks it for a change, or, without one, for the specification as it is.
func (c *check) question(g *Guard) question {
	q := question{Check: c.name, Reads: c.hash}
	if g != nil {
		q.Guard = g.String()
	}
	return q
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

// all lists who is asked: the ties, and the models that take no more than
// mostSeconds; of these those of the smoke tier that must pass, those that must fail, the
// rest, the cheapest first.
func (a *Asker) all(list []models.Model) ([]check, error) {
	rank := func(m *models.Model) int {
		switch {
		case !models.Within(m.Tier, "smoke"):
			return 2
		case m.Expect != models.ExpectPass:
			return 1
		}
		return 0
	}
	out, err := ties(a.root, list)
	list = slices.DeleteFunc(slices.Clone(list), func(m models.Model) bool { return m.Mode != "check" || m.Seconds > mostSeconds })
	slices.SortStableFunc(list, func(a, b models.Model) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Seconds, b.Seconds))
	})
	for _, m := range list {
		out = append(out, modelCheck(m))
	}
	return out, err
}

// modelCheck is a model held to its row of the manifest.
func modelCheck(m models.Model) check {
	notices := func(g *Guard) bool {
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
	return check{
		name: m.Name, kind: Model, modules: []string{strings.TrimSuffix(path.Base(m.Module), ".tla")},
		files: []string{path.Join("spec", m.Cfg)}, expect: fmt.Sprint(m.Expect, m.Distinct, m.Depth), red: red, notices: notices,
	}
}
