// Package report draws one self-contained HTML page of what was checked: the
// verdicts, the faults that took effect, what TLC said, and for each run a
// timeline with a lane per client, a lane per replica and a lane of faults.
//
// The page needs no network and no script: style, pictures and porcupine's
// own page are all inside it. Nothing here judges; the page shows verdicts
// that others reached, and an empty verdict is shown as undecided.
//
// Times are simulated milliseconds throughout.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"purgelab/impl/observe"
)

// Outcomes, as a page prints them.
const (
	Pass      = "pass"
	Fail      = "fail"
	Undecided = "undecided"
	// Listed: violated, as the guarantee matrix says of the design; no failure.
	Listed = "violated, as listed"
)

// Page is everything that one page shows. Empty parts are left out.
type Page struct {
	Title   string
	Lead    string // one sentence under the title
	Verdict string // of the whole: Pass, Fail or Undecided
	Checks  []Check
	Models  []Model
	Faults  []Counter
	Runs    []Run
	Footer  string // which program made it
}

// Check is one line of the verdict table.
type Check struct {
	Layer    string // specification, run, history, trace
	Name     string
	Verdict  string // Pass, Fail, Undecided or Listed
	Property string // the one violated
	Detail   string
	Replay   string // the command that shows it again
	Seconds  float64
}

// Model is what TLC said of one model.
type Model struct {
	Name, Module, Expected, Got, Why string
	// Verdict says whether TLC found what was expected: Pass, Fail, Undecided.
	Verdict         string
	Distinct, Depth int
	Seconds         float64
}

// Counter is a kind of fault, or of anything else that is counted.
type Counter struct {
	Group string // counters of one group are drawn to one scale
	Name  string
	N     int
}

// Run is one run.
type Run struct {
	Name     string
	Verdict  string
	Property string
	Reason   string
	Replay   string
	Settings []Setting
	Faults   []Counter
	Timeline Timeline
	// Rejection says why the specification does not accept the trace, or is empty.
	Rejection string
	// Porcupine is the page that porcupine drew of a violation, or empty.
	Porcupine string
}

// Setting is a named value.
type Setting struct{ Name, Value string }

// Timeline is what happened in one run.
type Timeline struct {
	Replicas   int
	Partitions int
	Operations []Operation
	Events     []observe.Event
	Faults     []Fault
}

// Operation is one client operation as the client saw it.
type Operation struct {
	Process    int
	Partition  int
	Name       string // append, poll, …
	Start, End int64
	Outcome    string // ok, fail (definitely no effect), info (unknown), open (no answer recorded)
	Generation int    // of the reply's position; -1 if it carried none
	Detail     string // request and reply in words
}

// Fault is a stretch of time in which the world misbehaved.
type Fault struct {
	Name     string
	From, To int64
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"class":   class,
	"word":    word,
	"seconds": func(s float64) string { return fmt.Sprintf("%.1f s", s) },
	"count":   thousands,
	"share":   share,
	"layers":  layers,
	"groups":  groups,
	"marks":   legendMarks,
	"step":    func(i int) int { return i * 14 },
	"generations": func() (out []string) {
		for g := range 8 {
			out = append(out, generationClass(g))
		}
		return out
	},
}).Parse(pageText))

// Write draws the page.
func Write(w io.Writer, p Page) error {
	if err := page.Execute(w, view{Page: p, Runs: viewRuns(p.Runs)}); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// view is a page with its pictures laid out.
type view struct {
	Page
	Runs []runView
}

type runView struct {
	Run
	Open     bool // shown unfolded
	Pictures []*picture
}

func viewRuns(runs []Run) []runView {
	var out []runView
	for _, r := range runs {
		out = append(out, runView{Run: r, Open: len(runs) == 1 || r.Verdict != Pass, Pictures: draw(r.Timeline)})
	}
	// Something is to be seen without a click.
	if len(out) > 0 {
		any := false
		for _, v := range out {
			any = any || v.Open
		}
		out[0].Open = out[0].Open || !any
	}
	return out
}

// class is the style of a verdict; whatever is no verdict is undecided.
func class(verdict string) string {
	switch verdict {
	case Pass, Fail:
		return verdict
	case Listed:
		return "listed"
	}
	return Undecided
}

// word is a verdict as it is read; whatever is none is undecided.
func word(verdict string) string {
	if verdict == Listed {
		return verdict
	}
	return class(verdict)
}

// share is a counter as a percentage of the greatest of its list, for a bar.
func share(n int, all []Counter) int {
	most := 1
	for _, c := range all {
		most = max(most, c.N)
	}
	return max(n*100/most, min(n, 1))
}

// groups splits counters by group, in the order in which groups first appear.
func groups(all []Counter) [][]Counter {
	var out [][]Counter
	for _, c := range all {
		i := 0
		for i < len(out) && out[i][0].Group != c.Group {
			i++
		}
		if i == len(out) {
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// thousands prints 1234567 as 1,234,567.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// layer is a group of checks for the summary tiles.
type layer struct {
	Name                 string
	Pass, Bad, Undecided int
	Listed               int
}

// Verdict is the worst of the layer.
func (l layer) Verdict() string {
	switch {
	case l.Bad > 0:
		return Fail
	case l.Undecided > 0 || l.Pass+l.Listed == 0:
		return Undecided
	}
	return Pass
}

// Words says the layer in a few words.
func (l layer) Words() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{l.Bad, "fail"}, {l.Undecided, "undecided"}, {l.Pass, "pass"}, {l.Listed, "as listed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(p.n), p.word))
		}
	}
	return strings.Join(parts, " · ")
}

// layers counts checks by layer, in the order in which layers first appear.
func layers(checks []Check) []layer {
	var out []layer
	for _, c := range checks {
		i := 0
		for i < len(out) && out[i].Name != c.Layer {
			i++
		}
		if i == len(out) {
			out = append(out, layer{Name: c.Layer})
		}
		switch c.Verdict {
		case Pass:
			out[i].Pass++
		case Fail:
			out[i].Bad++
		case Listed:
			out[i].Listed++
		default:
			out[i].Undecided++
		}
	}
	return out
}
