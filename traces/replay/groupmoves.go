package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purgelab/impl/observe"
	"purgelab/impl/record"
	"purgelab/impl/replica"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/traces/behaviours"
)

// This file is what a group has, and shows, of states that its replicas take from each
// other.

// moves is what a group has of states on their way.
type moves struct {
	faults *faultfs.Set             // of all disks
	reply  *replica.Message         // what a leader sent last
	offers map[int]*replica.Message // to each member, what it was offered last
	freely bool                     // what they send arrives by itself
}

func newMoves() *moves {
	return &moves{faults: faultfs.NewSet(), offers: map[int]*replica.Message{}}
}

// pulling is what a member takes.
type pulling struct {
	from  int              // whose offer it works on, 0: on none
	home  string           // that it fills, or filled last
	asked *replica.Message // what it asked for last, nil: that was brought
	done  *replica.Message // it tells that it has installed it
}

// saves notes the last checkpoint: that of a purge is one, but reset-record has none then.
func (m *member) saves(e observe.Event) {
	switch e.Action {
	case "Checkpoint", "CommitInstall":
		m.saved = e.Op
	case "PurgeComplete":
		if m.saved = e.Op; m.g.design == replica.ResetRecord {
			m.saved = 0
		}
	}
}

// moving tells whether a behaviour is of replicas that take each other's state.
func moving(b *behaviours.Behaviour) bool { return len(b.Acts) > 0 && b.Acts[0].State["given"] != nil }

// configure has every op in a file of the journal, and a chunk for every batch: of the two
// any number can be dropped, or brought. Where ops need not be synced they are in one file, of
// which a loss of power takes any part, and none is dropped.
func (s *moves) configure(cfg *replica.Config) {
	cfg.FS = s.faults.Wrap(cfg.FS)
	if cfg.Compact = (replica.Compaction{Bytes: 1}); cfg.Policy == (replica.Policy{}) {
		cfg.JournalBytes = 1
	}
	cfg.Transfer = replica.TransferOptions{ChunkBytes: 1, Window: 1}
}

// joined are replicas as a parameter, r2,r3, and named those that one names.
func joined(list []any) string {
	var names []string
	for _, name := range list {
		names = append(names, fmt.Sprint(name))
	}
	return strings.Join(names, ",")
}

func (g *group) named(a *behaviours.Act, parameter string) (ids []int) {
	list, _ := a.With[parameter].(string)
	for _, name := range strings.Split(list, ",") {
		if id, err := strconv.Atoi(strings.TrimPrefix(name, "r")); err == nil && id > 0 && id < len(g.members) {
			ids = append(ids, id)
		}
	}
	return ids
}

// sent keeps what a member sends of a transfer.
func (s *moves) sent(m *member, x replica.Message) {
	switch t := x.Transfer; {
	case t.Request != nil:
		m.pull.asked = &x
	case t.Drop != nil && m.id != m.g.lead:
		m.pull.done = &x
	default:
		if s.reply = &x; t.Offer != nil {
			s.offers[x.To] = &x
		}
	}
}

// pulls notes what a member takes.
func (m *member) pulls(e observe.Event) {
	p := &m.pull
	switch e.Action {
	case "StageManifest":
		p.from, p.home = e.Peer, m.dir()+"/"+e.Key
	case "DropTransfer":
		p.from = 0
	case "CommitInstall":
		*p, m.home = pulling{}, e.Key
	}
}

// interrupted: the member has stopped. What is staged stays.
func (p *pulling) interrupted() { p.from, p.asked, p.done = 0, nil, nil }

// kept are the changes that outlive a loss of power: of a state on its way all.
func (p *pulling) kept(c crashfs.Change) bool {
	return p.home != "" && (c.Path == p.home || strings.HasPrefix(c.Path, p.home+"/") || c.Path+"/"+c.To == p.home)
}

// onDisk is what a disk shows of a state on its way: the op that it is as of, and how many
// batches of messages there are.
type onDisk struct{ op, batches int }

func (m *member) identity() record.Identity {
	return record.Identity{Cluster: identity.Cluster, Replica: uint32(m.id), Incarnation: m.g.incarnation}
}

// staged reads it.
func (m *member) staged() (onDisk, error) {
	x, home, err := m.manifest()
	if err != nil || x == nil {
		return onDisk{}, err
	}
	fs, in := m.disk.FS(), fmt.Sprintf("%s/gen-%d", home, x.Point.Generation)
	files, err := fs.List(in)
	if err != nil {
		return onDisk{}, err
	}
	f := &folder{}
	for _, file := range files {
		if strings.HasPrefix(file, "seg-") {
			if err := f.readBatches(fs, in+"/"+file); err != nil {
				return onDisk{}, err
			}
		}
	}
	return onDisk{int(m.g.reached(x.Point.Applied)), len(f.segs)}, nil
}

// manifest is that of a state on its way, with the home that it goes into; nil if there is
// none.
func (m *member) manifest() (*transfer.Manifest, string, error) {
	fs := m.disk.FS()
	number := func(home string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(home, "h")) // 0 is the first
		return n
	}
	names, err := fs.List(m.dir())
	if err != nil {
		return nil, "", err
	}
	for _, name := range names {
		home := strings.TrimSuffix(name, "/")
		if number(home) <= number(m.r.View().Home) {
			continue // one before
		}
		// One that has none is what a loss of power left of a home that was removed.
		if x, err := transfer.Staged(fs, m.dir()+"/"+home, m.identity()); err != nil || x != nil {
			return x, m.dir() + "/" + home, err
		}
	}
	return nil, "", nil
}

// given is what the specification says of a state on its way to a member: the op that it
// is as of, and how many batches of messages have come of it. A chunk of the
// specification is half of a state: here all messages but the last batch, and that one,
// for all that is no message comes with the offer. told tells whether it is compared:
// what a member came to by itself it may keep for a while.
func given(s map[string]any, name string) (is onDisk, told bool) {
	x := s["given"].(map[string]any)[name].(map[string]any)
	is = onDisk{op: integer(x["n"])}
	switch n := integer(x["batches"]); integer(x["got"]) {
	case 1:
		is.batches = max(n-1, 0)
	case 2:
		is.batches = n
	}
	return is, is.op == 0 || is.op > integer(s["known"].(map[string]any)[name])
}

func (is onDisk) shown() map[string]any {
	return map[string]any{"n": float64(is.op), "batches": float64(is.batches)}
}

// wantMoves adds to a state what TransferGroup has besides: what who leads offers, and
// what others are given.
func wantMoves(reps, s map[string]any) {
	for name, v := range reps { //purgelab:unordered each goes under its own key
		f := v.(map[string]any)
		if f["up"] != true {
			continue
		}
		f["offers"] = 0.0
		if slices.Contains(s["leader"].([]any), any(name)) {
			f["offers"] = s["offered"].(map[string]any)[name]
		}
		if is, told := given(s, name); told {
			f["given"] = is.shown()
		}
	}
}

// movesState adds what the replicas show, in that form.
func (g *group) movesState(reps, s map[string]any) {
	for _, m := range g.members[1:] {
		if m.r == nil {
			continue
		}
		f := reps[m.name()].(map[string]any)
		f["offers"] = 0.0
		if n := m.r.View().Offers; n > 0 {
			f["offers"] = g.reached(n)
		}
		if _, told := given(s, m.name()); told {
			is, err := m.staged()
			if f["given"] = is.shown(); err != nil {
				f["given"] = err.Error()
			}
		}
	}
}
