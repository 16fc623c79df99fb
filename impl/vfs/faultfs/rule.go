// Package faultfs makes a file system fail on purpose. It wraps any vfs.FS, and
// wrappers compose: what the outer one lets pass, the inner one may break.
//
// # Rules
//
// What breaks is said by rules, one a line, which print as they are read:
//
//	fail-before op=sync label=purge.begin nth=2
//	short-write label=journal path=p0/journal/*.log bytes=100
//	sync-forget path=seg-*.log times=3
//	bit-flip op=read path=p0/marker at=20 bit=3 times=0
//
// A rule is an action and any of these:
//
//	op=     create, rename, remove, mkdir, link, syncdir, write, sync, truncate,
//	        open, read or list; without it every call that the action fits
//	label=  what the label of the call begins with; open, read and list have none
//	path=   a pattern of path.Match; without a slash it is matched with the last
//	        element alone. Of rename and link the target counts
//	nth=    the first matching call that breaks; 1
//	times=  how many in a row break; 1, and 0 means all from then on
//
// Actions, and what the caller sees:
//
//	fail-before  an error; the call had no effect
//	fail-after   an error; the call had its effect all the same. Of a sync of a
//	             file or a directory this is the failure that was none
//	no-space     vfs.ErrNoSpace from create, write, truncate, mkdir or link
//	short-write  an error; the first bytes= bytes were written (half of them)
//	sync-forget  an error from sync, once; the unsynced data will never be stable,
//	             though it can be read until the power fails, and later syncs
//	             through any handle succeed
//	sync-evict   the same, and the data is gone from reads at once
//	names-forget the same of syncdir: names that were changed and not synced will
//	             never be durable, though they can be seen until the power fails
//	drop-write   success; nothing was written
//	misdirect    success; the data was written by= bytes further on (512)
//	bit-flip     success; bit= of byte at= of what is written or read is wrong
//	             (modulo its length). On the way to the disk for op=write, on
//	             the way back, leaving the disk alone, for op=read
//	stale-read   success; what is read is as before the last write of that file;
//	             its length is not, so what that write added reads as zeros
//
// The first rule that is due decides; every rule counts every call that matches.
package faultfs

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Action is what a rule does to a call.
type Action string

// The actions; the package comment says what each does.
const (
	FailBefore  Action = "fail-before"
	FailAfter   Action = "fail-after"
	NoSpace     Action = "no-space"
	ShortWrite  Action = "short-write"
	SyncForget  Action = "sync-forget"
	SyncEvict   Action = "sync-evict"
	NamesForget Action = "names-forget"
	DropWrite   Action = "drop-write"
	Misdirect   Action = "misdirect"
	BitFlip     Action = "bit-flip"
	StaleRead   Action = "stale-read"
)

// mutating are the calls that change the disk and carry a label.
var mutating = []string{"create", "rename", "remove", "mkdir", "link", "syncdir", "write", "sync", "truncate"}

// fits lists the calls that an action can break.
var fits = map[Action][]string{
	FailBefore:  append([]string{"open", "read", "list"}, mutating...),
	FailAfter:   mutating,
	NoSpace:     {"create", "write", "truncate", "mkdir", "link"},
	ShortWrite:  {"write"},
	SyncForget:  {"sync"},
	SyncEvict:   {"sync"},
	NamesForget: {"syncdir"},
	DropWrite:   {"write"},
	Misdirect:   {"write"},
	BitFlip:     {"write", "read"},
	StaleRead:   {"read"},
}

// Actions in the order of the package comment.
var Actions = []Action{FailBefore, FailAfter, NoSpace, ShortWrite, SyncForget, SyncEvict, NamesForget, DropWrite, Misdirect, BitFlip, StaleRead}

// Rule says which calls break, and how.
type Rule struct {
	Action Action
	Op     string // empty: all that the action fits
	Label  string // prefix
	Path   string // pattern; empty: all
	Nth    int    // from 1
	Times  int    // 0: for ever
	// Arg is bytes of short-write, by of misdirect, at of bit-flip; Bit of the last.
	Arg, Bit int
}

// argument is the name and the default of Rule.Arg.
func (a Action) argument() (name string, value int) {
	switch a {
	case ShortWrite:
		return "bytes", half
	case Misdirect:
		return "by", 512
	case BitFlip:
		return "at", 0
	}
	return "", 0
}

// half as the argument of short-write: half of what was to be written.
const half = -1

// New is the rule of an action with the defaults of the rest.
func New(a Action) Rule {
	_, arg := a.argument()
	return Rule{Action: a, Nth: 1, Times: 1, Arg: arg}
}

// String prints a rule as Parse reads it; defaults are left out.
func (r Rule) String() string {
	out := []string{string(r.Action)}
	word := func(name, v string) {
		if v != "" {
			out = append(out, name+"="+v)
		}
	}
	num := func(name string, v, d int) {
		if v != d {
			out = append(out, name+"="+strconv.Itoa(v))
		}
	}
	word("op", r.Op)
	word("label", r.Label)
	word("path", r.Path)
	num("nth", r.Nth, 1)
	num("times", r.Times, 1)
	if name, d := r.Action.argument(); name != "" {
		num(name, r.Arg, d)
	}
	num("bit", r.Bit, 0)
	return strings.Join(out, " ")
}

// Parse reads one rule. An error names the column, from 1.
func Parse(line string) (Rule, error) {
	var r Rule
	at := 0
	bad := func(format string, args ...any) (Rule, error) {
		return Rule{}, fmt.Errorf("faultfs: column %d: "+format, append([]any{at + 1}, args...)...)
	}
	for i, w := range strings.Fields(line) {
		at += strings.Index(line[at:], w)
		if i == 0 {
			if r = New(Action(w)); fits[r.Action] == nil {
				return bad("action %q: want one of %v", w, Actions)
			}
			at += len(w)
			continue
		}
		name, value, ok := strings.Cut(w, "=")
		argument, _ := r.Action.argument()
		n, notNumber := strconv.Atoi(value)
		number, least := (*int)(nil), 0
		switch {
		case !ok || value == "":
			return bad("%q: want name=value", w)
		case name == "op":
			if r.Op = value; !slices.Contains(fits[r.Action], value) {
				return bad("op %q: %s wants one of %v", value, r.Action, fits[r.Action])
			}
		case name == "label":
			r.Label = value
		case name == "path":
			if r.Path = value; !legal(value) {
				return bad("path %q: want a pattern", value)
			}
		case name == "nth":
			number, least = &r.Nth, 1
		case name == "times":
			number = &r.Times
		case name == argument && argument == "by":
			number, least = &r.Arg, -1<<30
		case name == argument && argument != "":
			number = &r.Arg
		case name == "bit" && r.Action == BitFlip:
			number = &r.Bit
		default:
			return bad("%q: %s has no such word", name, r.Action)
		}
		if number != nil {
			if notNumber != nil || n < least || name == "bit" && n > 7 {
				return bad("%s %q: want a number from %d", name, value, least)
			}
			*number = n
		}
		at += len(w)
	}
	if r.Action == "" {
		return bad("want an action, got an empty line")
	}
	return r, nil
}

func legal(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err == nil
}

// Matches tells whether a call is one of those that the rule counts.
func (r *Rule) Matches(op, label, file string) bool {
	if r.Op != "" && r.Op != op || !slices.Contains(fits[r.Action], op) || !strings.HasPrefix(label, r.Label) {
		return false
	}
	if r.Path == "" {
		return true
	}
	if !strings.Contains(r.Path, "/") {
		file = path.Base(file)
	}
	ok, err := path.Match(r.Path, file)
	return ok && err == nil
}
