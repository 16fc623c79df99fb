package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purgelab/model/op"
	"purgelab/traces/tlc"
)

// transition is one step of Partition, as TLC printed it.
type transition struct {
	core, next tlc.Value
	last       tlc.Value // [a, s, q, r]
	sent       tlc.Value
}

func newTransition(v tlc.Value) transition {
	return transition{core: v.Items[0], last: v.Items[1], next: v.Items[2], sent: v.Items[3]}
}

// asked is a request without a session.
type asked struct {
	name    string // with its action
	request *op.Request
	action  string
}

func field(v tlc.Value, names ...string) tlc.Value {
	for _, n := range names {
		f, ok := v.Field(n)
		if !ok {
			panic(fmt.Sprintf("no field %s in %s", n, v))
		}
		v = f
	}
	return v
}

func has(v tlc.Value, name string) bool { _, ok := v.Field(name); return ok }

func number(v tlc.Value, names ...string) int64 {
	n, err := strconv.ParseInt(field(v, names...).Text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func text(v tlc.Value, names ...string) string { return strings.Trim(field(v, names...).Text, `"`) }

// at is a function's or a record's value at a key.
func entry(f tlc.Value, key string) tlc.Value {
	for i, k := range f.Keys {
		if k.Text == key {
			return f.Items[i]
		}
	}
	panic(fmt.Sprintf("no %s in %s", key, f))
}

func positionOf(v tlc.Value) op.Position {
	return op.Position{Incarnation: op.Incarnation(number(v, "i")), Generation: op.Generation(number(v, "g")), Offset: op.Offset(number(v, "o"))}
}

func keyNamed(name string) op.Key {
	if name[0] == 'g' {
		return op.Key{Kind: op.Group, ID: 1}
	}
	return op.Key{ID: 1}
}

func sessionNamed(name string) op.Session {
	n, err := strconv.Atoi(name[1:])
	if err != nil {
		panic(err)
	}
	return op.Session(n)
}

// stateOf is the contract's state as this package has it.
func stateOf(c tlc.Value) *State {
	s := create(1)
	s.incarnation, s.generation = op.Incarnation(number(c, "inc")), op.Generation(number(c, "gen"))
	s.settled, s.start, s.latest = op.Generation(number(c, "settled")), op.Offset(number(c, "start")), op.Timestamp(number(c, "clock"))
	for i, b := range field(c, "began").Items {
		s.began = append(s.began, begin{op.Incarnation(i + 2), op.Generation(number(b, "g")), op.Offset(number(b, "o"))})
	}
	for range s.start {
		s.log = s.log.append([]op.Payload{"deleted"}, 0)
	}
	for _, m := range field(c, "msgs").Items {
		s.log = s.log.append([]op.Payload{op.Payload(field(m, "p").Text)}, op.Timestamp(number(m, "t")))
	}
	bm := field(c, "bm")
	for i, k := range bm.Keys {
		if o, _ := strconv.Atoi(bm.Items[i].Text); o >= 0 {
			s.bookmarks = append(s.bookmarks, bookmark{keyNamed(k.Text), op.Offset(o)})
		}
	}
	slices.SortFunc(s.bookmarks, func(a, b bookmark) int { return cmp.Compare(a.key.Kind, b.key.Kind) })
	for _, name := range field(c, "lru").Items {
		v := entry(field(c, "sess"), name.Text)
		one := session{id: sessionNamed(name.Text)}
		if r := field(v, "reply"); text(r, "code") != "none" {
			one.last, one.reply = 1, replyOf(r, c)
			one.poll = has(r, "n")
			if field(v, "older").Text == "TRUE" {
				one.last = 2
			}
		}
		s.sessions = append(s.sessions, one)
	}
	return s
}

var codes = map[string]op.Code{
	"ok": op.OK, "OffsetOutOfRange": op.OffsetOutOfRange, "InvalidOffset": op.InvalidOffset, "NotFound": op.NotFound,
	"StaleGeneration": op.StaleGeneration, "StaleIncarnation": op.StaleIncarnation, "Mismatch": op.Mismatch, "Gone": op.Gone,
	"StaleSequence": op.StaleSequence, "SessionExpired": op.SessionExpired,
}

// replyOf is a reply; what it does not say of the era is taken from the state c.
func replyOf(r, c tlc.Value) op.Reply {
	code, known := codes[text(r, "code")]
	if !known {
		panic("code " + text(r, "code"))
	}
	era := op.Position{Incarnation: op.Incarnation(number(c, "inc")), Generation: op.Generation(number(c, "gen"))}
	out := op.Reply{Code: code}
	if has(r, "start") {
		out.Start, out.End, out.Position = op.Offset(number(r, "start")), op.Offset(number(r, "end")), at(era, -1)
	}
	if has(r, "low") && code == op.OK {
		out.Position = at(era, op.Offset(number(r, "low")))
	}
	if has(r, "g") {
		out.Position = op.Position{Incarnation: era.Incarnation, Generation: op.Generation(number(r, "g"))}
	}
	if has(r, "pos") {
		out.Position = positionOf(field(r, "pos"))
	}
	if has(r, "t") {
		out.Timestamp = op.Timestamp(number(r, "t"))
	}
	out.Found = has(r, "found") && field(r, "found").Text == "TRUE"
	if has(r, "n") {
		out.Count = uint32(number(r, "n"))
	}
	if has(r, "recs") {
		for _, m := range field(r, "recs").Items {
			out.Records = append(out.Records, op.Record{Payload: op.Payload(field(m, "p").Text), Timestamp: op.Timestamp(number(m, "t"))})
		}
	}
	return out
}

// requestOf is a request, and the time at which it is proposed.
func requestOf(q tlc.Value) (*op.Request, op.Timestamp) {
	r := &op.Request{}
	if has(q, "key") {
		r.Key = keyNamed(field(q, "key").Text)
	}
	if has(q, "pos") {
		r.At = positionOf(field(q, "pos"))
		r.Bare = r.At.Incarnation == 0
	}
	if has(q, "expected") {
		switch e := positionOf(field(q, "expected")); e.Offset {
		case -2:
		case -3:
			r.Expected = &op.Position{Incarnation: 99}
		default:
			r.Expected = &e
		}
	}
	var now op.Timestamp
	switch f := text(q, "f"); f {
	case "append":
		r.Kind, now = op.Append, op.Timestamp(number(q, "t"))
		for _, p := range field(q, "batch").Items {
			r.Payloads = append(r.Payloads, op.Payload(p.Text))
		}
	case "poll":
		r.Kind, r.Max, r.AutoCommit = op.Poll, uint32(number(q, "max")), text(q, "auto") == "yes"
		r.Strategy, _ = op.ParseStrategy(text(q, "strategy"))
		r.Reset, _ = op.ParseReset(text(q, "reset"))
		r.Timestamp = op.Timestamp(number(q, "t"))
	case "list":
		r.Kind, r.Timestamp = op.ListOffsets, op.Timestamp(number(q, "t"))
		r.Which, _ = op.ParseWhich(text(q, "which"))
	case "purge":
		r.Kind, r.Intent = op.Purge, op.Generation(number(q, "g"))
	default:
		r.Kind = map[string]op.Kind{"store": op.StoreBookmark, "delete": op.DeleteBookmark, "get": op.GetBookmark, "delete-records": op.DeleteRecords}[f]
		if r.Kind == 0 {
			panic("request " + f)
		}
	}
	return r, now
}
