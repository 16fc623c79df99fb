package history

import (
	"purgelab/model/op"
)

// Most lines are as Write writes them: no space between tokens, field names as
// documented and each once, plain strings, whole numbers. They are read here, some ten
// times as fast as by the strict decoder. Whatever is not plain, right or wrong, is left
// to that one, which alone says what is wrong.
type plain struct {
	b   []byte
	at  int
	bad bool // it is not plain

	room *room
	// What the parts of a value are read into. The next line overwrites it.
	payloads      []op.Payload
	records       []record
	first, second position
	owner         key
	max           uint32
	found         bool
}

func newPlain() *plain { return &plain{room: &room{}, records: []record{}} }

// parse reads a line, if it is plain and right.
func (p *plain) parse(text []byte) (Event, bool) {
	p.b, p.at, p.bad = text, 0, false
	var e Event
	var typed, named, processed, timed, partitioned, valued bool
	var err error
	p.object(func(name []byte) {
		switch string(name) {
		case "process":
			e.Process = int(p.number(&processed))
		case "type":
			p.once(&typed)
			if e.Type, err = parseType(p.text()); err != nil {
				p.bad = true
			}
		case "f":
			p.once(&named)
			if e.Kind, err = op.ParseKind(p.text()); err != nil {
				p.bad = true
			}
		case "time":
			e.Time = p.number(&timed)
		case "partition":
			e.Partition = op.Partition(p.unsigned(&partitioned, 1<<32-1))
		case "value":
			p.once(&valued)
			if !typed || !named {
				p.bad = true
				return
			}
			p.value(&e)
		default:
			p.bad = true
		}
	})
	if !typed || !named || !processed || !timed || p.at != len(text) {
		p.bad = true
	}
	if !valued && !p.bad {
		if e.Type == Invoke {
			var v request
			e.Request, err = v.decode(e.Kind, 0, p.room)
		} else {
			var v reply
			err = v.decode(&e, p.room)
		}
		p.bad = err != nil
	}
	if e.Request != nil {
		e.Request.Partition = e.Partition
	}
	return e, !p.bad
}

// value reads the value of an event whose type and kind are known.
func (p *plain) value(e *Event) {
	var err error
	if e.Type == Invoke {
		v := p.request()
		if !p.bad {
			e.Request, err = v.decode(e.Kind, 0, p.room)
		}
	} else {
		v := p.reply()
		if !p.bad {
			err = v.decode(e, p.room)
		}
	}
	p.bad = p.bad || err != nil
}

func (p *plain) request() (v request) {
	var seen [15]bool
	p.object(func(name []byte) {
		switch string(name) {
		case "payloads":
			p.once(&seen[0])
			p.payloads = p.payloads[:0]
			p.array(func() { p.payloads = append(p.payloads, op.Payload(p.text())) })
			v.Payloads = p.room.payloads.take(len(p.payloads))
			copy(v.Payloads, p.payloads)
		case "strategy":
			v.Strategy = p.word(&seen[1])
		case "key":
			v.Key = p.key(&seen[2])
		case "at":
			v.At = p.position(&seen[3], &p.first)
		case "timestamp":
			v.Timestamp = op.Timestamp(p.number(&seen[4]))
		case "reset":
			v.Reset = p.word(&seen[5])
		case "max":
			p.max = uint32(p.unsigned(&seen[6], 1<<32-1))
			v.Max = &p.max
		case "auto_commit":
			v.AutoCommit = p.truth(&seen[7])
		case "which":
			v.Which = p.word(&seen[8])
		case "intent":
			v.Intent = op.Generation(p.unsigned(&seen[9], 1<<32-1))
		case "expected":
			v.Expected = p.position(&seen[10], &p.second)
		case "session":
			v.Session = op.Session(p.unsigned(&seen[11], 1<<62))
		case "sequence":
			v.Sequence = op.Sequence(p.unsigned(&seen[12], 1<<62))
		case "incarnation":
			v.Incarnation = op.Incarnation(p.unsigned(&seen[13], 1<<32-1))
		case "may_lose":
			p.once(&seen[14])
			p.array(func() { v.MayLose = append(v.MayLose, p.text()) })
		default:
			p.bad = true
		}
	})
	return v
}

func (p *plain) reply() (v reply) {
	var seen [14]bool
	p.object(func(name []byte) {
		switch string(name) {
		case "code":
			v.Code = p.word(&seen[0])
		case "position":
			v.Position = p.position(&seen[1], &p.first)
		case "found":
			p.found = p.truth(&seen[2])
			v.Found = &p.found
		case "timestamp":
			v.Timestamp = op.Timestamp(p.number(&seen[3]))
		case "records":
			p.once(&seen[4])
			v.Records = p.records[:0]
			p.array(func() { v.Records = append(v.Records, p.record()) })
			p.records = v.Records
		case "count":
			v.Count = uint32(p.unsigned(&seen[5], 1<<32-1))
		case "start":
			v.Start = op.Offset(p.number(&seen[6]))
		case "end":
			v.End = op.Offset(p.number(&seen[7]))
		case "session":
			v.Session = op.Session(p.unsigned(&seen[8], 1<<62))
		case "agreed":
			v.Agreed = p.position(&seen[9], &p.second)
		case "accepted":
			v.Accepted = p.truth(&seen[10])
		case "intent":
			v.Intent = op.Generation(p.unsigned(&seen[11], 1<<32-1))
		case "again":
			v.Again = p.truth(&seen[12])
		case "note":
			v.Note = p.word(&seen[13])
		default:
			p.bad = true
		}
	})
	return v
}

func (p *plain) record() (r record) {
	if p.peek() == '"' {
		r.Payload = op.Payload(p.text())
		return r
	}
	var payload, timestamp bool
	p.object(func(name []byte) {
		switch string(name) {
		case "p":
			r.Payload = op.Payload(p.word(&payload))
		case "t":
			r.Timestamp = op.Timestamp(p.number(&timestamp))
		default:
			p.bad = true
		}
	})
	return r
}

// position is "i1:g0:5", or 5.
func (p *plain) position(seen *bool, to *position) *position {
	if p.peek() != '"' {
		*to = position{op.Position{Offset: op.Offset(p.number(seen))}, true}
		return to
	}
	p.once(seen)
	p.skip('"')
	p.skip('i')
	i := p.digits(1<<32 - 1)
	p.skip(':')
	p.skip('g')
	g := p.digits(1<<32 - 1)
	p.skip(':')
	o := p.signed()
	p.skip('"')
	*to = position{op.Position{Incarnation: op.Incarnation(i), Generation: op.Generation(g), Offset: op.Offset(o)}, false}
	return to
}

// key is "consumer-3" or "group-3".
func (p *plain) key(seen *bool) *key {
	p.once(seen)
	p.skip('"')
	k, name := &p.owner, "consumer-"
	*k = key{}
	if p.peek() == 'g' {
		k.Kind, name = op.Group, "group-"
	}
	p.literal(name)
	k.ID = uint32(p.digits(1<<32 - 1))
	p.skip('"')
	return k
}
