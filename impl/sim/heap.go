package sim

// eventKind says what happens when an event's time has come.
type eventKind uint8

const (
	evTick        eventKind = iota // machine: one tick for each of its replicas
	evWork                         // machine, partition: one piece of disk work
	evMessage                      // machine: slot of messages
	evRequest                      // machine: slot of requests
	evAnswer                       // client: slot of answers
	evWake                         // client: choose the next operation, or send again
	evTimeout                      // client: no answer in time
	evAsk                          // machine: slot of commands for the metadata plane
	evGrant                        // client: slot of the metadata plane's answers
	evMetaWork                     // machine: one sync of the metadata plane's replica
	evMetaMessage                  // slot of messages between its replicas
	evRestart                      // machine: boot
	evCall                         // slot of calls
)

// event is one entry of the heap. Events are ordered by (at, seq); seq is
// unique, so the order is total and a run is a function of its seed.
type event struct {
	at        int64 // microseconds
	seq       uint64
	epoch     uint32 // boot of the machine or attempt of the client; stale ones are dropped
	slot      int32
	kind      eventKind
	partition uint16
	who       uint16 // machine or client
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// eventHeap is a heap with four children per node, typed, because the generic
// one boxes each event and a run consists of little else than pushes and pops.
type eventHeap struct{ list []event }

func (h *eventHeap) push(e event) {
	h.list = append(h.list, e)
	l := h.list
	i := len(l) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&l[up]) {
			break
		}
		l[i] = l[up]
		i = up
	}
	l[i] = e
}

func (h *eventHeap) pop() event {
	l := h.list
	top := l[0]
	last := l[len(l)-1]
	l = l[:len(l)-1]
	h.list = l
	if len(l) == 0 {
		return top
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(l) {
			break
		}
		least := child
		for c := child + 1; c < child+4 && c < len(l); c++ {
			if l[c].before(&l[least]) {
				least = c
			}
		}
		if !l[least].before(&last) {
			break
		}
		l[i] = l[least]
		i = least
	}
	l[i] = last
	return top
}

// slab keeps what an event carries, so that the heap stays small and nothing is
// allocated once the slab has grown to what is in flight.
type slab[T any] struct {
	list []T
	free []int32
}

func (s *slab[T]) put(v T) int32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.list[i] = v
		return i
	}
	s.list = append(s.list, v)
	return int32(len(s.list) - 1)
}

func (s *slab[T]) take(i int32) T {
	v := s.list[i]
	var zero T
	s.list[i] = zero
	s.free = append(s.free, i)
	return v
}
