package consensus

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
)

// loud counts how often it is formatted.
type loud struct{ times *int }

func (l loud) String() string { *l.times++; return "loud" }

func TestNothingIsFormattedInVain(t *testing.T) {
	var out bytes.Buffer
	for name, l := range map[string]hclog.Logger{
		"none": nil,
		"null": hclog.NewNullLogger(),
		"off":  hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: &out}),
		"info": hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: &out}),
	} {
		times := 0
		raft := newLogger(l)
		raft.Debugf("%s", loud{&times})
		raft.Debug(loud{&times})
		raft.Infof("%s", loud{&times})
		raft.Info(loud{&times})
		require.Zero(t, times, name)
		require.Zero(t, out.Len(), name)
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		level hclog.Level
		lines int
	}{{hclog.Trace, 4}, {hclog.Debug, 3}, {hclog.Info, 2}, {hclog.Error, 1}, {hclog.Off, 0}} {
		var out bytes.Buffer
		raft := newLogger(hclog.New(&hclog.LoggerOptions{Level: c.level, Output: &out, DisableTime: true}))
		raft.Debugf("probe %d", 1)
		raft.Infof("became follower at term %d", 2)
		raft.Warning("no quorum")
		raft.Error("bad")
		require.Equal(t, c.lines, bytes.Count(out.Bytes(), []byte("\n")), "%v: %s", c.level, out.String())
	}
	var out bytes.Buffer
	newLogger(hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &out, DisableTime: true})).Infof("became follower at term %d", 2)
	require.Equal(t, "[DEBUG] raft: text=\"became follower at term 2\"\n", out.String())
}

// raft relies on not going on.
func TestPanicAndFatalPanic(t *testing.T) {
	for _, l := range []hclog.Logger{nil, hclog.NewNullLogger(), hclog.New(&hclog.LoggerOptions{Output: &bytes.Buffer{}})} {
		raft := newLogger(l)
		for _, f := range []func(){
			func() { raft.Panic("x ", 1) }, func() { raft.Panicf("x %d", 1) },
			func() { raft.Fatal("x ", 1) }, func() { raft.Fatalf("x %d", 1) },
		} {
			require.PanicsWithValue(t, fmt.Sprint("x ", 1), f)
		}
	}
}
