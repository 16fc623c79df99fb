package tlc

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readRecorded turns output that TLC once printed into a Result.
func readRecorded(t *testing.T, name string, code int, simulated bool) *Result {
	t.Helper()
	f, err := os.Open("testdata/recorded/" + name + ".txt")
	require.NoError(t, err)
	defer f.Close()
	config, err := ReadConfig("testdata/" + name + ".cfg")
	require.NoError(t, err)
	res := &Result{Code: code}
	rd := &reader{result: res}
	require.NoError(t, readMessages(f, rd.message, rd.line))
	rd.decide(config, simulated, "")
	return res
}

// A run is stopped when TLC tells, on its way, of more states than are asked for.
func TestMoreStatesAreEnough(t *testing.T) {
	for _, c := range []struct {
		most  int64
		found bool
		stops int
	}{{0, false, 0}, {40, false, 0}, {39, false, 1}, {39, true, 0}} {
		stops := 0
		rd := &reader{result: &Result{}, most: c.most, stop: func(err error) {
			stops++
			require.EqualError(t, err, "more than 39 distinct states")
		}, success: c.found}
		rd.message(Message{Number: msgProgress, Text: "Progress(5) at 2026-11-30 02:18:39: 60 states generated, 40 distinct states found, 3 states left on queue."})
		require.Equal(t, c.stops, stops)
	}
}

func TestRecordedVerdicts(t *testing.T) {
	for _, c := range []struct {
		name     string
		code     int
		verdict  Verdict
		property string
		distinct int64
		depth    int
		steps    int
		reason   string
	}{
		{"pass", 0, Pass, "", 35, 7, 0, ""},
		{"invariant", 12, Fail, "NeverTwice", 4, 3, 3, "Invariant NeverTwice is violated."},
		{"initial", 12, Fail, "Dark", 0, 0, 1, "Invariant Dark is violated by the initial state:"},
		{"deadlock", 11, Fail, Deadlock, 31, 5, 5, "Deadlock reached."},
		{"refinement", 13, Fail, "NeverUnplugged", 4, 3, 3, "Action property line 6, col 17 to line 6, col 28 of module Toggle is violated."},
		{"action", 13, Fail, "OnlyUp", 6, 3, 3, "Action property OnlyUp is violated."},
		{"liveness", 13, Fail, "EventuallyOn", 35, 0, 6, "Temporal properties were violated."},
		{"loop", 13, Fail, "Settles", 6, 0, 7, "Temporal properties were violated."},
		{"assume", 10, Fail, Assumption, 0, 0, 0, "Assumption line 4, col 8 to line 4, col 12 of module Assume is false."},
		{"evaluation", 75, Undecided, "", 1, 0, 0, "Attempted to apply function"},
		{"config", 151, Undecided, "", 0, 0, 0, "The invariant NoSuchThing specified in the configuration file is not defined in the specification."},
		{"syntax", 150, Undecided, "", 0, 0, 0, "Parsing or semantic analysis failed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := readRecorded(t, c.name, c.code, false)
			require.Equal(t, c.verdict, res.Verdict, "%s", res.Reason)
			require.Equal(t, c.property, res.Property)
			require.Equal(t, c.distinct, res.Distinct)
			require.Equal(t, c.depth, res.Depth)
			require.Len(t, res.Trace, c.steps)
			require.Contains(t, res.Reason, c.reason)
			require.Equal(t, "TLC2 Version 2.18 of 20 March 2023", res.Version)
		})
	}
}

func TestRecordedSimulation(t *testing.T) {
	res := readRecorded(t, "simulatepass", 0, true)
	require.Equal(t, Pass, res.Verdict)
	require.EqualValues(t, 41, res.Generated)
	require.EqualValues(t, 0, res.Distinct)
	res = readRecorded(t, "simulate", 12, true)
	require.Equal(t, Fail, res.Verdict)
	require.Equal(t, "Few", res.Property)
}

// A verdict needs the message and the exit code to agree.
func TestDisagreementIsUndecided(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
	}{
		{"pass", 1}, {"pass", 12}, {"pass", 255}, {"pass", -1},
		{"invariant", 0}, {"invariant", 13}, {"invariant", 77},
		{"deadlock", 12}, {"refinement", 12}, {"simulatepass", 0},
	} {
		res := readRecorded(t, c.name, c.code, false)
		require.Equal(t, Undecided, res.Verdict, "%s with exit code %d", c.name, c.code)
		require.NotEmpty(t, res.Reason)
	}
}

// Whatever prefix of its output a killed TLC leaves behind is not a pass.
func TestCutOutputIsNeverAPass(t *testing.T) {
	b, err := os.ReadFile("testdata/recorded/pass.txt")
	require.NoError(t, err)
	whole := string(b)
	end := strings.Index(whole, "Finished in")
	for cut := 0; cut < end; cut += 7 {
		res := &Result{}
		rd := &reader{result: res}
		require.NoError(t, readMessages(strings.NewReader(whole[:cut]), rd.message, rd.line))
		rd.decide(Config{}, false, "")
		require.Equal(t, Undecided, res.Verdict, "cut at byte %d", cut)
	}
}

func TestSeveralPropertiesStayOpen(t *testing.T) {
	c := parseConfig("SPECIFICATION Spec \\* one\nPROPERTIES A (* not\nthis *) B\nINVARIANT C\nCONSTANTS\n D = 1\n")
	require.Equal(t, Config{Invariants: []string{"C"}, Properties: []string{"A", "B"}}, c)
	require.Equal(t, "one of A, B", c.violated(Message{Number: msgTemporal, Text: "Temporal properties were violated."}))
}

func TestCoverage(t *testing.T) {
	res := readRecorded(t, "pass", 0, false)
	require.Equal(t, []ActionCount{
		{"Press", "Lamp", 22, 40}, {"Unplug", "Lamp", 12, 12}, {"Rest", "Lamp", 0, 35},
	}, res.Coverage)
}

func TestTables(t *testing.T) {
	for _, name := range []string{"invariant", "action", "liveness", "loop", "initial"} {
		got := Table(readRecorded(t, name, map[bool]int{true: 13, false: 12}[name != "invariant" && name != "initial"], false).Trace)
		golden := "testdata/tables/" + name + ".txt"
		if os.Getenv("REWRITE") != "" {
			require.NoError(t, os.MkdirAll("testdata/tables", 0o777))
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o666))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got, "%s (REWRITE=1 rewrites the file)", name)
	}
}
