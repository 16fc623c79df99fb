package traces

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"purgelab/impl/observe"
	"purgelab/traces/tlc"
)

//go:embed tla/*.tla tla/*.cfg
var modules embed.FS

// Options say how traces are judged.
type Options struct {
	Spec    string        // folder of the specification
	Modules fs.FS         // the trace modules; nil: those of the program
	Jobs    int           // TLC processes at once; 0: one
	Timeout time.Duration // per TLC process; 0: none
	Keep    string        // folder for the modules written and TLC's output
	Batch   int           // steps per TLC process at most; 0: a size that fits in memory
	Part    int           // steps of a piece per TLC process at most; 0: see defaultPart
	// Progress is told how many steps of all are judged, one call at a time.
	Progress func(done, all int)

	cut func(j *job) int // where the part of a piece ends that is judged next; nil: as Part says
}

// defaultBatch is as many steps as TLC judges in half a minute and in 1 GiB: enough
// that its start, which takes as long as some thousand steps, counts for little.
const defaultBatch = 100000

// defaultPart is how many steps of one piece are judged at once: see docs/traces.md.
const defaultPart = 16384

// Limit is how long one TLC process may take where nobody says otherwise.
const Limit = 10 * time.Minute

// Report is the judgement of one trace.
type Report struct {
	Trace   string      `json:"trace"`
	Verdict tlc.Verdict `json:"verdict"`
	// Reason says why the trace is undecided.
	Reason     string      `json:"reason,omitempty"`
	Events     int         `json:"events"` // of the file
	Steps      int         `json:"steps"`  // over all pieces
	Judged     int         `json:"judged"` // of those: explained, or the first of a piece that nothing explains
	Pieces     int         `json:"pieces"`
	Rejections []Rejection `json:"rejections,omitempty"` // by line
}

// Rejection is a piece that no behaviour of the specification explains.
type Rejection struct {
	Piece   Piece         `json:"piece"`
	Spec    string        `json:"spec"`  // the specification's module
	Line    int           `json:"line"`  // of the file: the first that no action explains
	Event   observe.Event `json:"event"` // on that line, or, if Unseen, before the crash on it
	Unseen  bool          `json:"unseen,omitempty"`
	Matched int           `json:"matched"`       // steps explained before it: the longest prefix that is accepted
	Last    Line          `json:"last,omitzero"` // the last of those
	Nearest string        `json:"nearest"`       // the specification's action that the event names, with its parameters
	State   tlc.Value     `json:"state"`         // the specification's state there
	Enabled []string      `json:"enabled"`       // actions that could happen instead
	Reason  string        `json:"reason"`        // one line: which condition fails, with both values
	Replay  string        `json:"replay,omitempty"`
}

// Validate judges traces. An error means that nothing could be judged at all;
// whatever goes wrong with one trace makes that one undecided.
func Validate(ctx context.Context, tool tlc.Tool, o Options, list []*Trace) ([]Report, error) {
	if o.Modules == nil {
		own, err := fs.Sub(modules, "tla")
		if err != nil {
			return nil, fmt.Errorf("traces: %w", err)
		}
		o.Modules = own
	}
	var jobs []*job
	out := make([]Report, len(list))
	for i, t := range list {
		out[i] = Report{Trace: t.Name, Events: len(t.Lines)}
		d := findDesign(t.Header.Design)
		if why := d.uncovered(t); why != "" {
			out[i].Reason = "not validated: " + why
			continue
		}
		for _, j := range d.jobs(t) {
			j.trace = i
			jobs = append(jobs, j)
			out[i].Pieces++
			out[i].Steps += len(j.steps)
		}
	}
	v := &validator{tool: tool, o: o}
	if err := v.run(ctx, jobs); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		r := &out[j.trace]
		r.Judged += j.judged()
		switch {
		case j.reject != nil:
			j.reject.Replay = list[j.trace].Header.Replay
			r.Rejections = append(r.Rejections, *j.reject)
		case !j.done && r.Reason == "":
			r.Reason = j.piece.String() + ": " + j.reason
			if j.from > 0 {
				r.Reason += fmt.Sprintf(" (%d of its %d steps are explained)", j.from, len(j.steps))
			}
		}
	}
	for i := range out {
		out[i].conclude(list[i].Header.Silent)
	}
	return out, nil
}

// conclude turns what the pieces said into the verdict of the trace. No specification has
// a disk that loses a write and says nothing. A trace with one in which nobody missed it is
// accepted as any other; one that is rejected says no more than that somebody may have.
func (r *Report) conclude(silent []string) {
	// On the same line the local level says more.
	slices.SortStableFunc(r.Rejections, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), -cmp.Compare(a.Piece.Level, b.Piece.Level))
	})
	switch {
	case len(r.Rejections) > 0 && len(silent) > 0:
		r.Verdict, r.Reason = tlc.Undecided, fmt.Sprintf("a disk lost a write and said nothing (%s), and line %d is not explained: %s",
			strings.Join(silent, ", "), r.Rejections[0].Line, r.Rejections[0].Reason)
		r.Rejections = nil
	case len(r.Rejections) > 0:
		r.Verdict, r.Reason = tlc.Fail, ""
	case r.Reason != "":
		r.Verdict = tlc.Undecided
	case r.Pieces == 0:
		r.Verdict, r.Reason = tlc.Undecided, "no replica materialized an op: there is nothing to judge"
	default:
		r.Verdict = tlc.Pass
	}
}

type validator struct {
	tool tlc.Tool
	o    Options
	mu   sync.Mutex
	runs int
}

// run judges all jobs, part by part, a few TLC processes at a time.
func (v *validator) run(ctx context.Context, jobs []*job) error {
	q := newQueue(jobs, cmp.Or(v.o.Batch, defaultBatch), v.cut)
	errs := make([]error, max(1, v.o.Jobs))
	done, all := 0, 0
	for _, j := range jobs {
		all += len(j.steps)
	}
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for batch := q.take(); batch != nil; batch = q.take() {
				if errs[w] == nil {
					errs[w] = v.batch(ctx, batch)
				}
				v.mu.Lock()
				if done += q.judged(batch); v.o.Progress != nil {
					v.o.Progress(done, all)
				}
				v.mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// cut says where the part of a piece ends that begins at j.from.
func (v *validator) cut(j *job) int {
	if v.o.cut != nil {
		return v.o.cut(j)
	}
	return min(j.from+cmp.Or(v.o.Part, defaultPart), len(j.steps))
}

// batch judges parts of pieces of one kind in one TLC process. If that ends without an
// answer, because one piece made TLC stop or because there were too many, each
// half is judged on its own. Rejected parts are run again to see where they stop.
func (v *validator) batch(ctx context.Context, batch []*job) error {
	res, err := v.tlc(ctx, batch, "Consumed")
	if err != nil {
		return err
	}
	if res.Verdict != tlc.Pass {
		if len(batch) == 1 || ctx.Err() != nil || res.Code == tlc.CodeParse || res.Code == tlc.CodeConfig {
			for _, j := range batch {
				j.reason = cmp.Or(res.Reason, "the trace module reports "+res.Property)
			}
			return nil
		}
		half := len(batch) / 2
		return errors.Join(v.batch(ctx, batch[:half]), v.batch(ctx, batch[half:]))
	}
	printed, err := printedValues(res.Output)
	if err != nil {
		return err
	}
	for _, p := range printed {
		word, j, cursor := readPrinted(batch, p)
		switch word {
		case "DONE":
			if err := j.ended(p.Items[2]); err != nil {
				return fmt.Errorf("traces: the state after a part: %w", err)
			}
		case "STEP":
			j.reached = max(j.reached, j.from+cursor)
		}
	}
	var rejected []*job
	for _, j := range batch {
		if !j.accepted {
			j.reject = &Rejection{Piece: j.piece, Spec: j.judge.spec, Reason: "no behaviour explains it, and TLC could not say where it stops"}
			j.stopsAt(max(j.reached, j.from+1))
			rejected = append(rejected, j)
		}
	}
	if len(rejected) == 0 {
		return nil
	}
	return v.explain(ctx, rejected)
}

// judged is how many of its steps are, when all is over.
func (j *job) judged() int {
	switch {
	case j.done:
		return len(j.steps)
	case j.reject != nil:
		return j.reject.Matched + 1
	}
	return j.from
}

// readPrinted reads <<"DONE", piece, state>>, <<"STEP", piece, cursor>> and
// <<"AT", piece, cursor, state, enabled>>. The cursor is one of the part.
func readPrinted(batch []*job, v tlc.Value) (word string, j *job, cursor int) {
	if v.Shape != tlc.Tuple || len(v.Items) < 3 {
		return "", nil, 0
	}
	var piece int
	fmt.Sscan(v.Items[1].Text, &piece)
	if piece < 1 || piece > len(batch) {
		return "", nil, 0
	}
	fmt.Sscan(v.Items[2].Text, &cursor)
	return strings.Trim(v.Items[0].Text, `"`), batch[piece-1], cursor
}

// stopsAt notes the step, counted from 1 in the whole piece, that nothing explains.
func (j *job) stopsAt(cursor int) {
	cursor = min(cursor, len(j.steps))
	s := j.steps[cursor-1]
	j.reject.Line, j.reject.Event, j.reject.Unseen, j.reject.Matched = s.Number, s.Event, s.Unseen, cursor-1
	j.reject.Nearest = s.nearest(j.judge)
	if cursor > 1 {
		j.reject.Last = j.steps[cursor-2].Line
	}
}

// explain runs rejected parts again and finds the furthest state of each: the
// event after it is the first one that nothing explains. They stay rejected if
// that goes wrong.
func (v *validator) explain(ctx context.Context, rejected []*job) error {
	res, err := v.tlc(ctx, rejected, "Told")
	if err != nil {
		return err
	}
	if res.Verdict != tlc.Pass {
		for _, j := range rejected {
			j.reject.Reason += ": " + res.Reason
		}
		return nil
	}
	printed, err := printedValues(res.Output)
	if err != nil {
		return err
	}
	furthest := map[*job]int{}
	for _, p := range printed {
		word, j, cursor := readPrinted(rejected, p)
		if word != "AT" || len(p.Items) != 5 || cursor < furthest[j] || cursor > j.to-j.from {
			continue
		}
		furthest[j] = cursor
		j.stopsAt(j.from + cursor)
		j.reject.State, j.reject.Enabled = p.Items[3].Sorted(), enabledIn(p)
		j.reject.Reason = j.judge.explain(j.steps[j.from+cursor-1], j.reject.State)
	}
	return nil
}

// enabledIn are the actions that <<"AT", …>> lists, sorted.
func enabledIn(at tlc.Value) []string {
	var out []string
	for _, a := range at.Items[4].Items {
		out = append(out, strings.Trim(a.Text, `"`))
	}
	slices.Sort(out)
	return out
}

// printedValues reads what the specification printed, which TLC breaks into
// lines as it likes.
func printedValues(lines []string) ([]tlc.Value, error) {
	out, err := tlc.ParseValues(strings.Join(lines, "\n"))
	if err != nil {
		return nil, fmt.Errorf("traces: what the specification printed: %w", err)
	}
	return out, nil
}

// tlc writes the modules into a folder of their own and runs TLC there.
func (v *validator) tlc(ctx context.Context, batch []*job, invariant string) (*tlc.Result, error) {
	judge := batch[0].judge
	v.mu.Lock()
	v.runs++
	name := fmt.Sprintf("%s-%d", judge.root, v.runs)
	v.mu.Unlock()

	dir, err := v.folder(name)
	if err != nil {
		return nil, err
	}
	if v.o.Keep == "" {
		defer os.RemoveAll(dir)
	}
	if err := writeModules(dir, v.o.Modules, judge, invariant, batch); err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	spec, err := filepath.Abs(v.o.Spec)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	return tlc.Run(ctx, v.tool, tlc.Options{
		Dir: dir, Module: judge.root + ".tla", Config: judge.root + ".cfg", Library: []string{spec},
		Timeout: v.o.Timeout, Keep: v.o.Keep, Name: name, Short: true,
	})
}

func (v *validator) folder(name string) (string, error) {
	if v.o.Keep == "" {
		return os.MkdirTemp("", "purgelab-trace-")
	}
	dir := filepath.Join(v.o.Keep, name)
	return dir, os.MkdirAll(dir, 0o777)
}

// writeModules writes the trace module, its configuration with the invariant
// asked for, and the events.
func writeModules(dir string, modules fs.FS, judge *judge, invariant string, batch []*job) error {
	files := []string{judge.root + ".tla", judge.root + ".cfg"}
	for _, m := range judge.uses {
		files = append(files, m+".tla")
	}
	for _, name := range files {
		text, err := fs.ReadFile(modules, name)
		if err != nil {
			return err
		}
		text = []byte(strings.Replace(string(text), "INVARIANT Consumed", "INVARIANT "+invariant, 1))
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, dataModule+".tla"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := writeModule(f, judge, batch); err != nil {
		return err
	}
	return f.Close()
}
