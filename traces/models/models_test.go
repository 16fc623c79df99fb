package models

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

// lamps lays out a specification of which every answer is known, with the
// manifest given.
func lamps(t *testing.T, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"Lamp.tla", "Toggle.tla", "Blink.tla", "pass.cfg", "invariant.cfg", "refinement.cfg", "simulatepass.cfg", "config.cfg"} {
		b, err := os.ReadFile("../tlc/testdata/" + f)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), b, 0o666))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, Manifest), []byte(manifest), 0o666))
	return dir
}

const lampManifest = `[
 {"name":"lamp","module":"Lamp.tla","cfg":"pass.cfg","mode":"check","expect":"pass","distinct":35,"depth":7,"seconds":1,"tier":"demo","defect":"","why":"holds"},
 {"name":"lamp-twice","module":"Lamp.tla","cfg":"invariant.cfg","mode":"check","expect":"NeverTwice","distinct":0,"depth":0,"seconds":1,"tier":"smoke","defect":"","why":"fails"},
 {"name":"blink","module":"Blink.tla","cfg":"simulatepass.cfg","mode":"simulate","expect":"pass","distinct":0,"depth":0,"seconds":3,"tier":"full","defect":"","why":"holds","count":5,"steps":8},
 {"name":"lamp-wrong","module":"Lamp.tla","cfg":"pass.cfg","mode":"check","expect":"TypeOK","distinct":0,"depth":0,"seconds":1,"tier":"nightly","defect":"","why":"toothless"},
 {"name":"lamp-broken","module":"Lamp.tla","cfg":"config.cfg","mode":"check","expect":"pass","distinct":1,"depth":1,"seconds":1,"tier":"nightly","defect":"","why":"no such invariant"}
]`

func TestCheckComparesWithTheManifest(t *testing.T) {
	tool, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	dir := lamps(t, lampManifest)
	list, err := Load(dir)
	require.NoError(t, err)
	var order []string
	out := Check(context.Background(), tool, list, Options{Dir: dir, Timeout: time.Minute, Coverage: true}, func(o Outcome) { order = append(order, o.Model.Name) })
	require.Equal(t, []string{"lamp", "lamp-twice", "blink", "lamp-wrong", "lamp-broken"}, order)

	var got []string
	for _, o := range out {
		got = append(got, o.Model.Name+" "+o.Verdict.String()+" "+o.Got()+" "+o.Problem)
	}
	require.Equal(t, []string{
		"lamp pass pass ",
		"lamp-twice pass NeverTwice ",
		"blink pass pass ",
		"lamp-wrong fail pass expected TypeOK to be violated, got pass",
		"lamp-broken undecided undecided The invariant NoSuchThing specified in the configuration file is not defined in the specification.",
	}, got)
	require.EqualValues(t, 40, Taken(out)["Lamp!Press"], "counted only where a pass is expected")
}

func TestCompare(t *testing.T) {
	model := Model{Mode: "check", Expect: "pass", Distinct: 35, Depth: 7}
	for _, c := range []struct {
		res     tlc.Result
		expect  string
		several bool
		verdict tlc.Verdict
		problem string
	}{
		{tlc.Result{Verdict: tlc.Pass, Distinct: 35, Depth: 7}, "pass", false, tlc.Pass, ""},
		{tlc.Result{Verdict: tlc.Pass, Distinct: 34, Depth: 7}, "pass", false, tlc.Fail, "34 distinct states, the manifest says 35"},
		{tlc.Result{Verdict: tlc.Pass, Distinct: 35, Depth: 8}, "pass", false, tlc.Fail, "depth 8, the manifest says 7"},
		{tlc.Result{Verdict: tlc.Pass, Distinct: 35, Depth: 8}, "pass", true, tlc.Pass, ""},
		{tlc.Result{Verdict: tlc.Fail, Property: "A"}, "pass", false, tlc.Fail, "violated: A"},
		{tlc.Result{Verdict: tlc.Fail, Property: "A"}, "B", false, tlc.Fail, "expected B to be violated, got A"},
		{tlc.Result{Verdict: tlc.Fail, Property: "A"}, "A", false, tlc.Pass, ""},
		{tlc.Result{Reason: "no verdict after 1 s"}, "A", false, tlc.Undecided, "no verdict after 1 s"},
		{tlc.Result{}, "pass", false, tlc.Undecided, ""},
	} {
		model.Expect = c.expect
		verdict, problem := Compare(model, &c.res, c.several)
		require.Equal(t, c.verdict, verdict, "%+v", c)
		require.Equal(t, c.problem, problem)
	}
}

func TestEndedContextIsUndecided(t *testing.T) {
	dir := lamps(t, lampManifest)
	list, err := Load(dir)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, o := range Check(ctx, tlc.Tool{}, list, Options{Dir: dir}, nil) {
		require.Equal(t, tlc.Undecided, o.Verdict)
		require.Equal(t, "undecided", o.Got())
		require.Equal(t, "not started: context canceled", o.Problem)
	}
}

func TestSelect(t *testing.T) {
	list, err := Load(lamps(t, lampManifest))
	require.NoError(t, err)
	for tier, want := range map[string]int{"demo": 1, "smoke": 2, "full": 3, "nightly": 5} {
		got, err := Select(list, tier, nil)
		require.NoError(t, err)
		require.Len(t, got, want, tier)
	}
	got, err := Select(list, "demo", []string{"blink", "lamp"})
	require.NoError(t, err)
	require.Equal(t, []string{"blink", "lamp"}, []string{got[0].Name, got[1].Name})
	_, err = Select(list, "demo", []string{"candle"})
	require.EqualError(t, err, `model "candle": want one of blink, lamp, lamp-broken, lamp-twice, lamp-wrong`)
	_, err = Select(list, "slow", nil)
	require.EqualError(t, err, `tier "slow": want one of demo, smoke, full, nightly`)
}

func TestMalformedManifests(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"demo"`, `"often"`, `model 1 (lamp): tier "often": want one of demo, smoke, full, nightly`},
		{`"name":"lamp-twice"`, `"name":"lamp"`, `model 2: the name lamp is taken`},
		{`"expect":"NeverTwice"`, `"expect":""`, `model 2 (lamp-twice): expects nothing`},
		{`"mode":"simulate"`, `"mode":"guess"`, `model 3 (blink): mode "guess": want check or simulate`},
		{`"count":5`, `"count":0`, `model 3 (blink): count 0`},
		{`"distinct":35`, `"distinct":"many"`, `manifest.json:2: json: cannot unmarshal string`},
		{`"cfg":"invariant.cfg"`, `"cfg":"none.cfg"`, `none.cfg`},
		{`"why":"fails"`, `"because":"fails"`, `unknown field "because"`},
		{`"nightly","defect":"","why":"no such invariant"}`, `"nightly",}`, `manifest.json:6: invalid character`},
	} {
		require.Contains(t, lampManifest, c.old)
		_, err := Load(lamps(t, strings.Replace(lampManifest, c.old, c.new, 1)))
		require.ErrorContains(t, err, c.want)
	}
	_, err := Load(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Load(lamps(t, `[]`))
	require.ErrorContains(t, err, "lists no model")
}

// TestModulesAreDocumented: the table of docs/spec.md has a row for each module.
func TestModulesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/spec.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "| module | holds |\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	var names []string
	for _, row := range strings.Split(table, "\n") {
		names = append(names, strings.Split(strings.Split(row, "|")[1], ",")...)
	}
	files, err := filepath.Glob("../../spec/*.tla")
	require.NoError(t, err)
	for _, f := range files {
		module := strings.TrimSuffix(filepath.Base(f), ".tla")
		require.True(t, slices.ContainsFunc(names, func(n string) bool {
			ok, err := path.Match(strings.TrimSpace(n), module)
			return err == nil && ok
		}), "%s has no row", module)
	}
}
