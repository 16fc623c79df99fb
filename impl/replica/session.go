package replica

import (
	"fmt"

	"purgelab/model/op"
)

// session remembers the last mutation of a client, so that a repeat of it is
// answered with the first reply and not executed again. Records of a poll are
// not kept: a repeat reads the same range again, or finds it Gone.
type session struct {
	_        struct{} `cbor:",toarray"`
	ID       op.Session
	Sequence op.Sequence // of the last mutation; 0 none yet
	Reply    op.Reply
	Used     op.Number // op of the last execution, at first of the registration
}

// sessions is the bounded table. It is part of the replicated state: the same
// ops give the same table on every replica, so what is evicted is the same too.
// It outlives a purge.
type sessions struct {
	limit int
	list  []*session // in order of registration
	byID  map[op.Session]*session
}

func newSessions(limit int) sessions {
	return sessions{limit: limit, byID: map[op.Session]*session{}}
}

func (t *sessions) get(id op.Session) *session { return t.byID[id] }

// register opens a session named by its op, evicting the least recently used
// one when the table is full. O(table).
func (t *sessions) register(n op.Number) op.Session {
	if len(t.list) >= t.limit {
		oldest := 0
		for i, s := range t.list {
			if s.Used < t.list[oldest].Used {
				oldest = i
			}
		}
		delete(t.byID, t.list[oldest].ID)
		t.list = append(t.list[:oldest], t.list[oldest+1:]...)
	}
	s := &session{ID: op.Session(n), Used: n}
	t.list = append(t.list, s)
	t.byID[s.ID] = s
	return s.ID
}

// encode gives the bytes that a checkpoint carries.
func (t *sessions) encode() []byte {
	b, err := encMode.Marshal(t.list)
	if err != nil {
		panic(fmt.Sprintf("replica: encode sessions: %v", err))
	}
	return b
}

func decodeSessions(b []byte, limit int) (sessions, error) {
	t := newSessions(limit)
	if len(b) == 0 {
		return t, nil
	}
	var list []*session
	if err := decMode.Unmarshal(b, &list); err != nil {
		return t, fmt.Errorf("sessions in the checkpoint: %w", err)
	}
	return sessionsOf(list, limit)
}

func sessionsOf(list []*session, limit int) (sessions, error) {
	t := newSessions(limit)
	t.list = list
	for i, s := range list {
		if s == nil {
			return t, fmt.Errorf("session %d in the checkpoint: want one, got none", i)
		}
		t.byID[s.ID] = s
	}
	return t, nil
}
