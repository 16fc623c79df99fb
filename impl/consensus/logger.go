package consensus

import (
	"fmt"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/raft/v3"
)

// newLogger gives raft a logger. raft is talkative: what it calls info is debug
// here, its debug is trace. Texts are formatted only if they will be seen.
// Fatal and Panic always panic; raft relies on not going on.
func newLogger(l hclog.Logger) raft.Logger {
	if l == nil || !l.IsError() {
		return silent{}
	}
	return logger{l: l}
}

// silent drops everything but panics.
type silent struct{}

func (silent) Debug(...any)            {}
func (silent) Debugf(string, ...any)   {}
func (silent) Info(...any)             {}
func (silent) Infof(string, ...any)    {}
func (silent) Warning(...any)          {}
func (silent) Warningf(string, ...any) {}
func (silent) Error(...any)            {}
func (silent) Errorf(string, ...any)   {}

func (silent) Fatal(v ...any)                 { panic(fmt.Sprint(v...)) }
func (silent) Fatalf(format string, v ...any) { panic(fmt.Sprintf(format, v...)) }
func (silent) Panic(v ...any)                 { panic(fmt.Sprint(v...)) }
func (silent) Panicf(format string, v ...any) { panic(fmt.Sprintf(format, v...)) }

type logger struct {
	silent
	l hclog.Logger
}

func (l logger) Debug(v ...any)                   { l.log(l.l.IsTrace(), hclog.Trace, "", v) }
func (l logger) Debugf(format string, v ...any)   { l.log(l.l.IsTrace(), hclog.Trace, format, v) }
func (l logger) Info(v ...any)                    { l.log(l.l.IsDebug(), hclog.Debug, "", v) }
func (l logger) Infof(format string, v ...any)    { l.log(l.l.IsDebug(), hclog.Debug, format, v) }
func (l logger) Warning(v ...any)                 { l.log(l.l.IsWarn(), hclog.Warn, "", v) }
func (l logger) Warningf(format string, v ...any) { l.log(l.l.IsWarn(), hclog.Warn, format, v) }
func (l logger) Error(v ...any)                   { l.log(true, hclog.Error, "", v) }
func (l logger) Errorf(format string, v ...any)   { l.log(true, hclog.Error, format, v) }

func (l logger) log(on bool, at hclog.Level, format string, v []any) {
	if !on {
		return
	}
	text := ""
	if format == "" {
		text = fmt.Sprint(v...)
	} else {
		text = fmt.Sprintf(format, v...)
	}
	l.l.Log(at, "raft", "text", text)
}
