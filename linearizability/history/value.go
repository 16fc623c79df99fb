package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purgelab/linearizability/strictjson"
	"purgelab/model/op"
)

// position is "i1:g0:5", or the bare offset 5.
type position struct {
	op.Position
	bare bool
}

func (p position) MarshalJSON() ([]byte, error) {
	if p.bare {
		return strconv.AppendInt(nil, int64(p.Offset), 10), nil
	}
	return json.Marshal(p.Position.String())
}

func (p *position) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		n, err := strconv.ParseInt(string(b), 10, 64)
		if err != nil {
			return fmt.Errorf("position %s: want \"i<incarnation>:g<generation>:<offset>\" or an offset", b)
		}
		*p = position{op.Position{Offset: op.Offset(n)}, true}
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	got, err := op.ParsePosition(s)
	*p = position{got, false}
	return err
}

type key op.Key

func (k key) MarshalJSON() ([]byte, error) { return json.Marshal(op.Key(k).String()) }

func (k *key) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	kind, id, ok := strings.Cut(s, "-")
	n, err := strconv.ParseUint(id, 10, 32)
	if !ok || err != nil || kind != "consumer" && kind != "group" {
		return fmt.Errorf("key %q: want consumer-<number> or group-<number>", s)
	}
	k.ID = uint32(n)
	if kind == "group" {
		k.Kind = op.Group
	}
	return nil
}

// record is {"p":"payload","t":12}, or only "payload".
type record op.Record

func (r *record) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &r.Payload)
	}
	return strict(b, (*op.Record)(r))
}

// request is the value of an invoke.
type request struct {
	Payloads   []op.Payload  `json:"payloads,omitempty"`
	Strategy   string        `json:"strategy,omitempty"`
	Key        *key          `json:"key,omitempty"`
	At         *position     `json:"at,omitempty"`
	Timestamp  op.Timestamp  `json:"timestamp,omitempty"`
	Reset      string        `json:"reset,omitempty"`
	Max        *uint32       `json:"max,omitempty"`
	AutoCommit bool          `json:"auto_commit,omitempty"`
	Which      string        `json:"which,omitempty"`
	Intent     op.Generation `json:"intent,omitempty"`
	Expected   *position     `json:"expected,omitempty"`
	Session    op.Session    `json:"session,omitempty"`
	Sequence   op.Sequence   `json:"sequence,omitempty"`

	Incarnation op.Incarnation `json:"incarnation,omitempty"`
	MayLose     []string       `json:"may_lose,omitempty"`
}

// usesAt tells whether a request of this shape carries a position.
func usesAt(r *op.Request) bool {
	return r.Kind == op.StoreBookmark || r.Kind == op.DeleteRecords || r.Kind == op.Poll && r.Strategy == op.AtOffset
}

func usesKey(r *op.Request) bool {
	switch r.Kind {
	case op.StoreBookmark, op.DeleteBookmark, op.GetBookmark:
		return true
	}
	return r.Kind == op.Poll && (r.Strategy == op.Next || r.AutoCommit)
}

// EncodeRequest writes the value of an invoke.
func EncodeRequest(r *op.Request) ([]byte, error) {
	v := request{
		Payloads: r.Payloads, Timestamp: r.Timestamp, AutoCommit: r.AutoCommit,
		Intent: r.Intent, Session: r.Session, Sequence: r.Sequence, Incarnation: r.Incarnation, MayLose: r.MayLose.Names(),
	}
	if usesAt(r) {
		v.At = &position{r.At, r.Bare}
	}
	if usesKey(r) {
		v.Key = (*key)(&r.Key)
	}
	switch r.Kind {
	case op.Poll:
		v.Strategy, v.Max = r.Strategy.String(), &r.Max
		if r.Reset != op.Earliest {
			v.Reset = r.Reset.String()
		}
	case op.ListOffsets:
		v.Which = r.Which.String()
	}
	if r.Expected != nil {
		v.Expected = &position{Position: *r.Expected}
	}
	return marshal(v)
}

// DecodeRequest reads what EncodeRequest writes.
func DecodeRequest(kind op.Kind, partition op.Partition, b []byte) (*op.Request, error) {
	var v request
	if err := strict(b, &v); err != nil {
		return nil, err
	}
	return v.decode(kind, partition, &room{})
}

func (v *request) decode(kind op.Kind, partition op.Partition, k *room) (*op.Request, error) {
	r := k.requests.one()
	*r = op.Request{
		Kind: kind, Partition: partition, Payloads: v.Payloads, Timestamp: v.Timestamp, AutoCommit: v.AutoCommit,
		Intent: v.Intent, Session: v.Session, Sequence: v.Sequence, Incarnation: v.Incarnation,
	}
	var err error
	if r.MayLose, err = op.ParseLosses(v.MayLose); err != nil {
		return nil, fmt.Errorf("may_lose: %w", err)
	}
	if r.MayLose != 0 && kind != op.NewIncarnation {
		return nil, fmt.Errorf("may_lose: want it on a %s, got it on a %s", op.NewIncarnation, kind)
	}
	if v.Strategy != "" {
		if r.Strategy, err = op.ParseStrategy(v.Strategy); err != nil {
			return nil, err
		}
	}
	if v.Reset != "" {
		if r.Reset, err = op.ParseReset(v.Reset); err != nil {
			return nil, err
		}
	}
	if v.Which != "" {
		if r.Which, err = op.ParseWhich(v.Which); err != nil {
			return nil, err
		}
	}
	if kind == op.Poll {
		if v.Max == nil {
			return nil, errors.New("max: want how many records the poll may return, got none")
		}
		r.Max = *v.Max
	}
	if v.Expected != nil {
		if v.Expected.bare {
			return nil, fmt.Errorf("expected: want a full position, got the offset %d", v.Expected.Offset)
		}
		expected := v.Expected.Position
		r.Expected = &expected
	}
	switch {
	case v.At != nil:
		r.At, r.Bare = v.At.Position, v.At.bare
	case usesAt(r):
		return nil, fmt.Errorf("at: want the position of the %s, got none", kind)
	}
	switch {
	case v.Key != nil:
		r.Key = op.Key(*v.Key)
	case usesKey(r):
		return nil, fmt.Errorf("key: want the owner of the bookmark, got none")
	}
	if kind == op.ListOffsets && v.Which == "" {
		return nil, errors.New("which: want earliest, latest or timestamp, got none")
	}
	return r, nil
}

// reply is the value of an ok, fail or info.
type reply struct {
	Code      string        `json:"code,omitempty"`
	Position  *position     `json:"position,omitempty"`
	Found     *bool         `json:"found,omitempty"`
	Timestamp op.Timestamp  `json:"timestamp,omitempty"`
	Records   []record      `json:"records,omitempty"`
	Count     uint32        `json:"count,omitempty"`
	Start     op.Offset     `json:"start,omitempty"`
	End       op.Offset     `json:"end,omitempty"`
	Session   op.Session    `json:"session,omitempty"`
	Agreed    *position     `json:"agreed,omitempty"`
	Accepted  bool          `json:"accepted,omitempty"`
	Intent    op.Generation `json:"intent,omitempty"`
	Again     bool          `json:"again,omitempty"`
	Note      string        `json:"note,omitempty"`
}

func encodeReply(e *Event) ([]byte, error) {
	v := reply{Intent: e.Intent, Note: e.Note, Again: e.Again, Accepted: e.Accepted}
	if p := e.Reply; p != nil {
		if p.Code != op.OK {
			v.Code = p.Code.String()
		}
		if p.Position != (op.Position{}) || !e.Partial && tellsPosition(e.Kind, p) {
			v.Position = &position{p.Position, p.Position.Incarnation == 0}
		}
		if (e.Kind == op.GetBookmark || e.Kind == op.ListOffsets) && (p.Found || !e.Partial) {
			v.Found = &p.Found
		}
		v.Timestamp, v.Start, v.End, v.Session = p.Timestamp, p.Start, p.End, p.Session
		for _, r := range p.Records {
			v.Records = append(v.Records, record(r))
		}
		if int(p.Count) != len(p.Records) {
			v.Count = p.Count
		}
		if e.Kind == op.NewIncarnation {
			v.Agreed = &position{Position: p.Agreed}
		}
	}
	if v.empty() {
		return nil, nil
	}
	return marshal(v)
}

func (v *reply) empty() bool {
	return v.Code == "" && v.Position == nil && v.Found == nil && v.Timestamp == 0 && v.Records == nil &&
		v.Count == 0 && v.Start == 0 && v.End == 0 && v.Session == 0 && v.Intent == 0 && v.Note == "" && !v.Again && v.Agreed == nil && !v.Accepted
}

// decodeReply fills in the reply of an end event.
func decodeReply(e *Event, b []byte) error {
	var v reply
	if len(b) > 0 {
		if err := strict(b, &v); err != nil {
			return err
		}
	}
	return v.decode(e, &room{})
}

func (v *reply) decode(e *Event, k *room) error {
	e.Intent, e.Again, e.Note = v.Intent, v.Again, v.Note
	v.Intent, v.Again, v.Note = 0, false, ""
	if e.Type == Info {
		if !v.empty() {
			return errors.New("value: want only intent, again and note on an info, which has no answer")
		}
		return nil
	}
	if e.Type == Fail && v.empty() {
		return nil
	}
	if e.Accepted = v.Accepted; v.Accepted && (e.Type != OK || e.Kind != op.Purge || v.Code != "") {
		return fmt.Errorf("accepted: want it on the ok of a purge without a code, got it on the %s of a %s", e.Type, e.Kind)
	}
	p := k.replies.one()
	*p = op.Reply{
		Timestamp: v.Timestamp, Count: v.Count, Start: v.Start, End: v.End, Session: v.Session,
	}
	if v.Code != "" {
		code, err := op.ParseCode(v.Code)
		if err != nil {
			return err
		}
		p.Code = code
	}
	if v.Position != nil {
		p.Position = v.Position.Position
	}
	if e.Kind == op.NewIncarnation && (p.Position.Incarnation == 0 || v.Agreed == nil || v.Agreed.bare) {
		return errors.New("position, agreed: want the era that began, and a position of the one before, got none")
	}
	if v.Agreed != nil {
		p.Agreed = v.Agreed.Position
	}
	if len(v.Records) > 0 {
		p.Records = k.records.take(len(v.Records))
		for i, r := range v.Records {
			p.Records[i] = op.Record(r)
		}
	}
	switch {
	case v.Count == 0:
		p.Count = uint32(len(p.Records))
	case p.Code != op.Gone && int(v.Count) != len(p.Records):
		return fmt.Errorf("count: want the number of records, %d, got %d", len(p.Records), v.Count)
	}
	switch {
	case v.Found != nil:
		p.Found = *v.Found
	case e.Kind == op.GetBookmark || e.Kind == op.ListOffsets:
		p.Found = v.Position != nil
	}
	e.Reply, e.Partial = p, !v.Accepted && v.partial(e.Kind, p)
	return nil
}

// strict decodes JSON that is part of one line, whose number the caller knows. An
// error knows its column.
func strict(b []byte, v any) error {
	err := strictjson.Decode(b, v)
	var e *strictjson.Error
	if errors.As(err, &e) {
		return &within{e.Column, e.Err}
	}
	return err
}

// within is an error at a place of a text that may be part of another one.
type within struct {
	column int // from 1
	err    error
}

func (w *within) Error() string { return w.err.Error() }
func (w *within) Unwrap() error { return w.err }

// marshal is json.Marshal without the escaping of <, > and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
