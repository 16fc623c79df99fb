package traces

import (
	"slices"
	"strconv"
	"sync"

	"purgelab/traces/tlc"
)

// job is a piece on its way through TLC. A long one is judged in parts, one after the
// other: each begins in the states in which TLC ended the one before.
type job struct {
	trace   int
	judge   *judge
	piece   Piece
	variant string // of the trace
	// Whether messages and bookmarks are persisted before they are acknowledged.
	messages, bookmarks bool
	steps               []step
	log                 [][]string // of a group piece: the committed ops, as TLA+, by incarnation
	starts              string     // what the disks hold at the beginning, as TLA+
	kind                *kind

	from, to int         // the part: steps[from:to]
	carried  []tlc.Value // the states in which it begins; of the first part none
	left     []tlc.Value // the states in which TLC ended it
	accepted bool        // the part is
	done     bool        // and it was the last one
	reached  int         // the last step that is known to be explained
	reason   string      // why undecided
	reject   *Rejection
}

// last tells whether the part that is judged is the last one.
func (j *job) last() bool { return j.to == len(j.steps) }

// ended notes that TLC came to the end of the part, and in which state: as text in a
// string, for TLC breaks anything else into lines, slowly.
func (j *job) ended(state tlc.Value) error {
	j.accepted = true
	if j.last() {
		j.done = true
		return nil
	}
	text, err := strconv.Unquote(state.Text)
	if err != nil {
		return err
	}
	v, err := tlc.ParseValue(text)
	if err == nil {
		j.left = append(j.left, v)
	}
	return err
}

// kind is what jobs have in common that one module with the same constants judges: the
// variant and, of a group, how many replicas there are, which is what a majority is of.
type kind struct {
	judge    *judge
	variant  string
	replicas int
	// keys are the owners of bookmarks in any of them: a state has a value for each, and
	// who shares a process with whom changes from part to part.
	keys []string
	jobs []*job // whose next part may be judged
}

// kinds sorts jobs by kind. Those of the groups come first: each of their steps costs more.
func kinds(jobs []*job) []*kind {
	var out []*kind
	for _, d := range designs {
		for _, judge := range d.judges() {
			for _, j := range jobs {
				if j.judge != judge {
					continue
				}
				k := kind{judge: judge, variant: j.variant}
				if judge.level == Group {
					k.replicas = j.piece.Replicas
				}
				i := slices.IndexFunc(out, func(o *kind) bool {
					return o.judge == k.judge && o.variant == k.variant && o.replicas == k.replicas
				})
				if i < 0 {
					i = len(out)
					out = append(out, &k)
				}
				j.kind = out[i]
				j.kind.jobs = append(j.kind.jobs, j)
			}
		}
	}
	for _, k := range out {
		k.keys = keysOf(k.jobs)
	}
	return out
}

// queue hands out what may be judged: the first part of every job, and each later one
// once the part before was accepted. Parts of many pieces share a process.
type queue struct {
	kinds []*kind
	limit int            // steps of a batch
	cut   func(*job) int // where the part ends that begins at j.from

	mu    sync.Mutex
	more  *sync.Cond
	under int // batches that are judged
}

func newQueue(jobs []*job, limit int, cut func(*job) int) *queue {
	q := &queue{kinds: kinds(jobs), limit: limit, cut: cut}
	q.more = sync.NewCond(&q.mu)
	return q
}

// take returns parts of one kind, at most limit steps unless a single one has more; nil
// if nothing is left to do. Who takes a batch has to call judged.
func (q *queue) take() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for _, k := range q.kinds {
			if len(k.jobs) > 0 {
				q.under++
				return q.batch(k)
			}
		}
		if q.under == 0 {
			return nil
		}
		q.more.Wait()
	}
}

func (q *queue) batch(k *kind) []*job {
	n, size := 0, 0
	for _, j := range k.jobs {
		j.to = q.cut(j)
		if size += j.to - j.from; n > 0 && size > q.limit {
			break
		}
		n++
	}
	batch := slices.Clone(k.jobs[:n])
	k.jobs = k.jobs[n:]
	return batch
}

// judged takes back a batch and says how many steps nobody has to judge any more. The
// next part of a job waits only if this one was accepted.
func (q *queue) judged(batch []*job) (steps int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.under--
	for _, j := range batch {
		if !j.accepted || j.done {
			steps += len(j.steps) - j.from
			continue
		}
		steps += j.to - j.from
		j.from, j.carried, j.left, j.accepted = j.to, j.left, nil, false
		j.kind.jobs = append(j.kind.jobs, j)
	}
	q.more.Broadcast()
	return steps
}
