package tlc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Options say what to check and how.
type Options struct {
	Dir     string   // folder of the module; TLC runs in it
	Module  string   // file name, MCOrderedLocal.tla
	Config  string   // file name
	Library []string // further folders that hold modules

	Workers  int           // 0: one
	Timeout  time.Duration // 0: none beyond the context's
	Heap     string        // Java heap, "4g" by default
	Short    bool          // expected to end within seconds: compile quickly, not well
	Deadlock bool          // a state without a successor is fine
	Coverage bool          // count how often each action is taken
	Simulate int           // > 0: that many random behaviours instead of all states
	Depth    int           // of a simulated behaviour; 0: TLC's default
	Seed     int64         // of a simulation
	Most     int64         // > 0: end, undecided, when there are more distinct states

	// Line, if set, gets the lines that the specification prints (PrintT), instead of
	// Result.Output.
	Line func(string)

	// Keep, if set, is a folder that receives TLC's output as <Name>.txt.
	Keep string
	Name string // of the kept file; the configuration's by default
}

// Exit codes that say that the modules or the configuration are wrong, and not
// what is checked.
const (
	CodeParse  = 150
	CodeConfig = 151
)

// exit codes of TLC that go with a violation, by the message that names it.
var codeOf = map[int][]int{
	msgAssumptionFalse:  {10},
	msgDeadlock:         {11},
	msgInvariantInitial: {12},
	msgInvariant:        {12},
	msgPropertyInitial:  {12, 13},
	msgActionProperty:   {13},
	msgTemporal:         {13},
}

// Run starts TLC and waits for its answer. An error means that it could not be
// started or that its output made no sense; a run that ends without a verdict
// is a Result that is Undecided and says why.
func Run(ctx context.Context, tool Tool, o Options) (*Result, error) {
	config, err := ReadConfig(filepath.Join(o.Dir, o.Config))
	if err != nil {
		return nil, fmt.Errorf("tlc: %w", err)
	}
	// A metadir of its own, because two runs within one second in one folder
	// would share TLC's default; it serves as Java's temporary folder too,
	// where TLC unpacks its standard modules.
	meta, err := os.MkdirTemp("", "purgelab-tlc-")
	if err != nil {
		return nil, fmt.Errorf("tlc: %w", err)
	}
	defer os.RemoveAll(meta)
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	cmd := exec.CommandContext(ctx, tool.Java, o.arguments(tool, meta)...)
	cmd.Dir = o.Dir
	cmd.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("tlc: %w", err)
	}
	keep, err := o.keepFile()
	if err != nil {
		return nil, fmt.Errorf("tlc: %w", err)
	}
	defer keep.Close()

	start := time.Now()
	if err := cmd.Start(); err != nil && ctx.Err() != nil {
		return &Result{Reason: fmt.Sprintf("not begun: %v", context.Cause(ctx))}, nil
	} else if err != nil {
		return nil, fmt.Errorf("tlc: start %s: %w", tool.Java, err)
	}
	res := &Result{}
	rd := &reader{result: res, printed: o.Line, most: o.Most, stop: stop}
	readErr := readMessages(io.TeeReader(out, keep), rd.message, rd.line)
	waitErr := cmd.Wait()
	res.Seconds = time.Since(start).Seconds()
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) && ctx.Err() == nil {
		return nil, fmt.Errorf("tlc: %w", waitErr)
	}
	if readErr != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("tlc: read output: %w", readErr)
	}
	res.Code = cmd.ProcessState.ExitCode()
	if ctx.Err() != nil {
		res.Reason = fmt.Sprintf("no verdict after %.0f s: %v (%d distinct states so far)", res.Seconds, context.Cause(ctx), res.Distinct)
		return res, nil
	}
	rd.decide(config, o.Simulate > 0, strings.TrimSpace(stderr.String()))
	return res, nil
}

func (o Options) arguments(tool Tool, meta string) []string {
	heap := o.Heap
	if heap == "" {
		heap = "4g"
	}
	workers := max(o.Workers, 1)
	// A second thread for the collector does not pay below several workers.
	collector := "-XX:+UseParallelGC"
	if workers == 1 {
		collector = "-XX:+UseSerialGC"
	}
	// Recursive operators of the specification go as deep as a trace has ops.
	args := []string{collector, "-Xmx" + heap, "-Xss16m", "-Djava.io.tmpdir=" + meta}
	if tool.Archive != "" {
		// Java's own remarks would stand among TLC's messages.
		args = append(args, "-XX:SharedArchiveFile="+tool.Archive, "-Xlog:disable")
	}
	if o.Short {
		// Halves the work of a run of a few seconds, most of which is start-up.
		args = append(args, "-XX:TieredStopAtLevel=1")
	}
	if len(o.Library) > 0 {
		args = append(args, "-DTLA-Library="+strings.Join(o.Library, string(os.PathListSeparator)))
	}
	args = append(args, "-cp", tool.path(), "tlc2.TLC", "-tool", "-workers", strconv.Itoa(workers), "-metadir", meta, "-fp", "0")
	if o.Deadlock {
		args = append(args, "-deadlock")
	}
	if o.Coverage {
		args = append(args, "-coverage", "1")
	}
	if o.Simulate > 0 {
		args = append(args, "-simulate", "num="+strconv.Itoa(o.Simulate), "-seed", strconv.FormatInt(o.Seed, 10))
		if o.Depth > 0 {
			args = append(args, "-depth", strconv.Itoa(o.Depth))
		}
	}
	return append(args, "-config", o.Config, o.Module)
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

func (o Options) keepFile() (io.WriteCloser, error) {
	if o.Keep == "" {
		return nopWriteCloser{io.Discard}, nil
	}
	if err := os.MkdirAll(o.Keep, 0o777); err != nil {
		return nil, err
	}
	name := o.Name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(o.Config), ".cfg")
	}
	return os.Create(filepath.Join(o.Keep, name+".txt"))
}

// decide turns the messages and the exit code into a verdict. simulated says
// that TLC prints no "no error has been found", since it cannot know.
func (r *reader) decide(c Config, simulated bool, stderr string) {
	res := r.result
	undecided := func(why string) { res.Verdict, res.Reason = Undecided, why }
	switch {
	case r.violation.Number != 0 && len(res.Errors) == 0:
		known := false
		for _, code := range codeOf[r.violation.Number] {
			known = known || code == res.Code
		}
		if !known {
			undecided(fmt.Sprintf("TLC says %q but exits with %d", firstLine(r.violation.Text), res.Code))
			return
		}
		res.Verdict, res.Property, res.Reason = Fail, c.violated(r.violation), firstLine(r.violation.Text)
		if r.badState != nil {
			// The verdict stands; only the table is incomplete.
			res.Reason += " (counterexample not readable: " + r.badState.Error() + ")"
		}
	case len(res.Errors) > 0:
		undecided(strings.Join(strings.Fields(res.Errors[0]), " "))
		if res.Code == CodeParse && len(res.Output) > 0 {
			// SANY explains a parse error outside of the frames.
			res.Reason += " " + clip(strings.Join(strings.Fields(strings.Join(res.Output, " ")), " "), 500)
		}
	case res.Code == 0 && r.finished && (r.success || simulated):
		res.Verdict = Pass
	case stderr != "":
		undecided(fmt.Sprintf("exit code %d: %s", res.Code, firstLine(stderr)))
	default:
		undecided(fmt.Sprintf("exit code %d without a verdict", res.Code))
	}
}
