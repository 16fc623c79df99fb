package tlc

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Message is one framed message of TLC's -tool output.
type Message struct {
	Number int
	Class  int // 0 ok, 1 error, 2 warning, 4 state
	Text   string
}

const classError = 1

// Message numbers that carry meaning here; tlc2.output.EC lists them all.
const (
	msgAssumptionFalse    = 2104
	msgInvariantInitial   = 2107
	msgPropertyInitial    = 2108
	msgInvariant          = 2110
	msgActionProperty     = 2112
	msgDeadlock           = 2114
	msgTemporal           = 2116
	msgBackToState        = 2122
	msgFinished           = 2186
	msgSuccess            = 2193
	msgDepth              = 2194
	msgStats              = 2199
	msgProgress           = 2200
	msgSimulationProgress = 2209
	msgState              = 2217
	msgStuttering         = 2218
	msgVersion            = 2262
	msgCoverageStart      = 2201
	msgActionCoverage     = 2772
	msgBehaviour          = 2121 // "The behavior up to this point is:"
	msgTemporalBehaviour  = 2264 // "The following behavior constitutes a counter-example:"
	messageFrame          = "@!@!@"
	frameStart, frameEnd  = messageFrame + "STARTMSG ", messageFrame + "ENDMSG "
	maxLine               = 64 << 20
)

// readMessages hands every framed message to message, and every line outside
// of a frame to line. A frame that the end of the output cuts is dropped: the
// process was killed while writing it.
func readMessages(r io.Reader, message func(Message), line func(string)) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	var m Message
	var body []string
	open := false
	for in.Scan() {
		text := in.Text()
		switch {
		case strings.HasPrefix(text, frameStart):
			number, class, ok := frameHeader(text)
			if !ok {
				// Cut, or mixed with other output: an error message, so that
				// no verdict comes out of it.
				message(Message{Class: classError, Text: fmt.Sprintf("malformed frame %q", text)})
				continue
			}
			m, body, open = Message{Number: number, Class: class}, nil, true
		case strings.HasPrefix(text, frameEnd):
			if open {
				m.Text = strings.Join(body, "\n")
				message(m)
			}
			open = false
		case open:
			body = append(body, text)
		default:
			line(text)
		}
	}
	return in.Err()
}

// frameHeader reads "@!@!@STARTMSG 2110:1 @!@!@".
func frameHeader(s string) (number, class int, ok bool) {
	head, _, _ := strings.Cut(strings.TrimPrefix(s, frameStart), " ")
	n, c, _ := strings.Cut(head, ":")
	number, err1 := strconv.Atoi(n)
	class, err2 := strconv.Atoi(c)
	return number, class, err1 == nil && err2 == nil
}

var (
	reNamed    = regexp.MustCompile(`^(?:Invariant|Action property|Property) (.+?) is (?:violated|false)`)
	reStats    = regexp.MustCompile(`^([\d,]+) states generated, ([\d,]+) distinct states found`)
	reProgress = regexp.MustCompile(`^Progress\((-?\d+)\) at [^:]*:\d+:\d+: ([\d,]+) states generated(?: \([^)]*\))?, (-?[\d,]+) distinct states`)
	reDepth    = regexp.MustCompile(`complete state graph search is (\d+)`)
	reState    = regexp.MustCompile(`^(\d+): (?:<?(Initial predicate|Stuttering|Back to state)|<(.+?) line \d+, col )`)
	reModule   = regexp.MustCompile(` of module ([A-Za-z0-9_]+)>`)
	reCoverage = regexp.MustCompile(`^<(\S+) line .* of module ([A-Za-z0-9_]+)(?: \([^)]*\))?>: ([\d,]+):([\d,]+)`)
	reName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// reader collects messages into a Result.
type reader struct {
	printed   func(string) // gets the lines outside of frames, if set
	result    *Result
	most      int64       // distinct states; 0: any number
	stop      func(error) // is called when there are more
	success   bool
	violation Message // the first one that names or implies a violation
	progress  string  // the latest progress message
	finished  bool
	badState  error
}

func (r *reader) message(m Message) {
	res := r.result
	switch m.Number {
	case msgVersion:
		res.Version = firstLine(m.Text)
	case msgSuccess:
		r.success = true
	case msgFinished:
		r.finished = true
	case msgStats:
		if f := reStats.FindStringSubmatch(m.Text); f != nil {
			res.Generated, res.Distinct = number(f[1]), number(f[2])
		}
	case msgProgress, msgSimulationProgress:
		if f := reProgress.FindStringSubmatch(m.Text); f != nil {
			res.Generated = number(f[2])
			if d := number(f[3]); d >= 0 {
				res.Distinct = d
			}
			r.progress = firstLine(m.Text)
			if r.most > 0 && res.Distinct > r.most && !r.success && r.violation.Number == 0 {
				r.stop(fmt.Errorf("more than %d distinct states", r.most))
			}
		}
	case msgDepth:
		if f := reDepth.FindStringSubmatch(m.Text); f != nil {
			res.Depth = int(number(f[1]))
		}
	case msgState, msgStuttering, msgBackToState:
		r.state(m)
	case msgCoverageStart:
		// Coverage is printed again and again during a run: the last block counts.
		res.Coverage = nil
	case msgActionCoverage:
		if f := reCoverage.FindStringSubmatch(m.Text); f != nil {
			res.Coverage = append(res.Coverage, ActionCount{Action: f[1], Module: f[2], Distinct: number(f[3]), Total: number(f[4])})
		}
	case msgBehaviour, msgTemporalBehaviour:
		// An introduction to the states that follow.
	case msgInvariantInitial, msgPropertyInitial, msgInvariant, msgActionProperty, msgDeadlock, msgTemporal, msgAssumptionFalse:
		if r.violation.Number == 0 {
			r.violation = m
			r.initialState(m)
		}
	default:
		if m.Class == classError {
			res.Errors = append(res.Errors, strings.TrimSpace(m.Text))
		}
	}
}

func (r *reader) line(s string) {
	if strings.HasPrefix(s, "Parsing file ") || strings.HasPrefix(s, "Semantic processing of module ") {
		return
	}
	if r.printed != nil {
		r.printed(s)
		return
	}
	r.result.Output = append(r.result.Output, s)
}

// state reads "2: <Press line 18, col 5 …>" and the state below it.
func (r *reader) state(m Message) {
	head, rest, _ := strings.Cut(m.Text, "\n")
	f := reState.FindStringSubmatch(head)
	if f == nil {
		r.badState = fmt.Errorf("malformed state header %q", head)
		return
	}
	s := Step{Number: int(number(f[1])), Action: f[2] + f[3]}
	if mod := reModule.FindStringSubmatch(head); mod != nil {
		s.Module = mod[1]
	}
	if m.Number == msgBackToState {
		s.Back = s.Number
		s.Number = len(r.result.Trace) + 1
	}
	if strings.TrimSpace(rest) != "" {
		var err error
		if s.State, err = parseState(rest); err != nil && r.badState == nil {
			r.badState = fmt.Errorf("state %d: %w", s.Number, err)
		}
	}
	r.result.Trace = append(r.result.Trace, s)
}

// initialState takes the state out of a violation by an initial state, which
// TLC prints within that message.
func (r *reader) initialState(m Message) {
	_, rest, ok := strings.Cut(m.Text, "initial state:")
	if !ok {
		return
	}
	state, err := parseState(rest)
	if err != nil {
		r.badState = err
		return
	}
	r.result.Trace = append(r.result.Trace, Step{Number: 1, Action: "Initial predicate", State: state})
}

// parseState reads "/\ x = 1" lines; a value may run over several lines. A
// specification of one variable is printed without the "/\".
func parseState(text string) ([]Binding, error) {
	var out []Binding
	for _, part := range strings.Split("\n"+strings.TrimSpace(text), "\n/\\ ") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, " = ")
		if !ok || !reName.MatchString(name) {
			return out, fmt.Errorf("want variable = value, have %q", firstLine(part))
		}
		v, err := ParseValue(value)
		if err != nil {
			return out, fmt.Errorf("variable %s: %w", name, err)
		}
		out = append(out, Binding{name, v})
	}
	return out, nil
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	return n
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
