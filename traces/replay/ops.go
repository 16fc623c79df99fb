package replay

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// This file turns ops, requests and replies of the specification into those of the
// implementation and back.

// keyName is a key as the specification's models call it: k1.
func keyName(k op.Key) string { return fmt.Sprintf("k%d", k.ID) }

func keyOf(name any) op.Key {
	var k op.Key
	if s, ok := name.(string); ok {
		fmt.Sscanf(s, "k%d", &k.ID)
	}
	return k
}

// request is an op of the specification's log, which is number n of it. Payloads say the
// number, as the specification's do, and which message of a batch it is after the first.
func request(n int, o map[string]any) (op.Request, error) {
	switch o["k"] {
	case "append":
		r := op.Request{Kind: op.Append}
		for i := range integer(o["n"]) {
			says := fmt.Sprint(n)
			if i > 0 {
				says += fmt.Sprint(".", i+1)
			}
			r.Payloads = append(r.Payloads, op.Payload(says))
		}
		return r, nil
	case "store":
		at, bare := op.Position{Offset: op.Offset(integer(o["o"]))}, integer(o["g"]) < 0
		if !bare {
			at.Incarnation, at.Generation = 1, op.Generation(integer(o["g"]))
		}
		return op.Request{Kind: op.StoreBookmark, Key: keyOf(o["key"]), At: at, Bare: bare || o["bare"] == true}, nil
	case "commit":
		return op.Request{Kind: op.Poll, Key: keyOf(o["key"]), Strategy: op.Next, Max: uint32(integer(o["n"])), AutoCommit: true}, nil
	case "delete":
		return op.Request{Kind: op.DeleteBookmark, Key: keyOf(o["key"])}, nil
	case "advance":
		return op.Request{Kind: op.DeleteRecords, At: op.Position{Offset: op.Offset(integer(o["o"]))}, Bare: true}, nil
	case "purge":
		return op.Request{Kind: op.Purge, Intent: op.Generation(integer(o["g"]))}, nil
	}
	return op.Request{}, &unfit{fmt.Sprintf("op %v of the specification: no request is like it", shortly(o))}
}

// Bare tells whether an action is about a request that sends a mere offset as a bookmark.
func Bare(a *behaviours.Act) bool {
	o, _ := a.With["o"].(map[string]any)
	r, err := request(1, o)
	return err == nil && r.Kind == op.StoreBookmark && r.Bare
}

// question is a read of the specification.
func question(q map[string]any) (*op.Request, error) {
	r := &op.Request{Kind: op.Poll, Key: keyOf(q["key"]), Max: uint32(integer(q["max"]))}
	var err error
	switch q["f"] {
	case "poll":
		if r.Strategy, err = op.ParseStrategy(fmt.Sprint(q["strategy"])); err == nil {
			r.Reset, err = op.ParseReset(fmt.Sprint(q["reset"]))
		}
	case "get":
		r.Kind = op.GetBookmark
	case "list":
		r.Kind = op.ListOffsets
		r.Which, err = op.ParseWhich(fmt.Sprint(q["which"]))
	default:
		err = errors.New("no request is like it")
	}
	if err != nil {
		return nil, &unfit{fmt.Sprintf("read %v of the specification: %v", shortly(q), err)}
	}
	return r, nil
}

// integer is a number of the specification; 0 if it is none.
func integer(v any) int { f, _ := v.(float64); return int(f) }

// replyOf is a reply as the specification has it, without timestamps.
func replyOf(q *op.Request, r op.Reply) map[string]any {
	out := map[string]any{"code": camel(r.Code.String())}
	if r.Code != op.OK {
		out["start"], out["end"] = float64(r.Start), float64(r.End)
		return out
	}
	switch q.Kind {
	case op.Poll:
		records := []any{}
		for _, x := range r.Records {
			records = append(records, map[string]any{"p": said(x.Payload)})
		}
		out["n"], out["recs"] = float64(r.Count), records
	case op.GetBookmark, op.ListOffsets:
		if out["found"] = r.Found; !r.Found {
			return out
		}
	}
	out["pos"] = map[string]any{"i": float64(r.Position.Incarnation), "g": float64(r.Position.Generation), "o": float64(r.Position.Offset)}
	return out
}

// untimed leaves the timestamps of records out: the specification has none. What messages
// say depends on the log, if the state has one.
func untimed(r any, state map[string]any) any {
	m, ok := r.(map[string]any)
	if !ok || m["recs"] == nil {
		return r
	}
	out := maps.Clone(m)
	records := []any{}
	log, _ := state["log"].([]any)
	for _, x := range m["recs"].([]any) {
		records = append(records, map[string]any{"p": saying(log, x.(map[string]any)["p"])})
	}
	out["recs"] = records
	return out
}

// camel is a code as the specification spells it: OffsetOutOfRange; ok stays.
func camel(s string) string {
	if s == "ok" {
		return s
	}
	var b strings.Builder
	for _, word := range strings.Split(s, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
