package consensus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// TestScripts runs the files of testdata: commands, and what comes out of them.
// After go test -run TestScripts -rewrite the diff is to be reviewed.
//
//	group voters=N [ids=(1,2)|down] [defect=]   N fresh members, or some of them
//	tick id= [n=]                       time passes for one member
//	tick-until id= campaign|leader|follower    (leader: its election is delivered)
//	deliver [from=] [to=] [type=]       until nothing that matches is on the wire
//	drop [from=] [to=] [type=]          the same, but lost
//	wire                                what is on it
//	inject from= to= type= term= [index= log= commit= reject]
//	propose id= data=(a,b)
//	read id= ctx=
//	status [id=]
//	timer id=                           ticks since it was drawn
//	crash id= [keep=written]            it stops; what was not synced is lost
//	crash-before-sync id=               the same in the middle of its next batch
//	log id= term= vote= commit= terms=(1,1,2)    writes a log by hand, synced
//	boot id= [applied=]
//
// Batches are printed as they are carried out.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.command(t, d)
			if s.out.Len() == 0 {
				return "ok\n"
			}
			return s.out.String()
		})
	})
}

type script struct {
	voters []uint64
	nodes  []*Node // by id, from 1; nil: down
	logs   []*memLog
	wire   []*raftpb.Message
	doomed uint64 // crashes before its next sync
	defect defect.Set
	out    strings.Builder
}

func (s *script) printf(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

func (s *script) command(t *testing.T, d *datadriven.TestData) {
	var id uint64
	d.MaybeScanArgs(t, "id", &id)
	n := 1
	d.MaybeScanArgs(t, "n", &n)
	switch d.Cmd {
	case "group":
		s.group(t, d)
	case "tick":
		for range n {
			s.nodes[id].Tick()
			s.pump(id)
		}
	case "tick-until":
		s.tickUntil(t, d, id)
	case "deliver", "drop":
		for {
			ms := s.take(t, d)
			if len(ms) == 0 {
				return
			}
			for _, m := range ms {
				s.printf("%s %s\n", d.Cmd, describe(m))
				if d.Cmd == "deliver" {
					s.step(m)
				}
			}
		}
	case "wire":
		for _, m := range s.wire {
			s.printf("%s\n", describe(m))
		}
	case "inject":
		s.step(injected(t, d))
	case "propose":
		var data []string
		d.MaybeScanArgs(t, "data", &data)
		var bytes [][]byte
		for _, p := range data {
			bytes = append(bytes, []byte(p))
		}
		s.result(s.nodes[id].Propose(bytes...))
		s.pump(id)
	case "read":
		var ctx uint64
		d.ScanArgs(t, "ctx", &ctx)
		s.result(s.nodes[id].ReadIndex(ctx))
		s.pump(id)
	case "status":
		for i, n := range s.nodes {
			if n != nil && (id == 0 || id == uint64(i)) {
				st := n.Status()
				s.printf("%d %v of term %d, leader %d, commit %d, own entry %d\n", i, st.Role, st.Term, st.Leader, st.Commit, st.OwnTermEntry)
			}
		}
	case "timer":
		s.printf("%d ticks\n", s.nodes[id].elapsed)
	case "crash":
		keep := "synced"
		d.MaybeScanArgs(t, "keep", &keep)
		s.crash(id, keep)
	case "crash-before-sync":
		s.doomed = id
	case "log":
		s.writeLog(t, d, id)
	case "boot":
		var applied int
		d.MaybeScanArgs(t, "applied", &applied)
		s.boot(id, op.Number(applied))
	default:
		t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	}
}

func (s *script) group(t *testing.T, d *datadriven.TestData) {
	var voters int
	d.ScanArgs(t, "voters", &voters)
	*s = script{nodes: make([]*Node, voters+1), logs: make([]*memLog, voters+1)}
	var name string
	d.MaybeScanArgs(t, "defect", &name)
	var err error
	s.defect, err = defect.Parse(name)
	require.NoError(t, err)
	var ids []uint64
	for i := range voters {
		s.voters = append(s.voters, uint64(i+1))
		s.logs[i+1] = &memLog{}
	}
	if d.MaybeScanArgs(t, "ids", &ids); len(ids) == 0 && !d.HasArg("down") {
		ids = s.voters
	}
	for _, id := range ids {
		s.boot(id, 0)
	}
}

func (s *script) boot(id uint64, applied op.Number) {
	n, err := New(Config{
		ID: id, Members: Membership{Voters: s.voters}, Log: s.logs[id], Applied: applied,
		Rand:           rand.New(rand.NewPCG(1, id)),
		HeartbeatTicks: heartbeatTicks, ElectionTicks: electionTicks, Defects: s.defect,
	})
	if err != nil {
		suspect := &ErrSuspect{}
		s.printf("%v (suspect %v)\n", err, errors.As(err, &suspect))
		return
	}
	s.nodes[id] = n
	s.pump(id)
}

func (s *script) crash(id uint64, keep string) {
	s.nodes[id] = nil
	if keep == "synced" {
		s.logs[id].pending = nil
		s.logs[id].PowerLoss(rand.New(rand.NewPCG(1, 1)))
	}
}

func (s *script) writeLog(t *testing.T, d *datadriven.TestData, id uint64) {
	var terms []uint64
	var st raftlog.State
	var commit uint64
	d.MaybeScanArgs(t, "term", &st.Term)
	d.MaybeScanArgs(t, "vote", &st.Vote)
	d.MaybeScanArgs(t, "commit", &commit)
	d.MaybeScanArgs(t, "terms", &terms)
	st.Commit = op.Number(commit)
	s.logs[id] = &memLog{}
	var es []raftlog.Entry
	for i, term := range terms {
		es = append(es, raftlog.Entry{Op: op.Number(i + 2), Term: term, Data: fmt.Appendf(nil, "old%d", i+2)})
	}
	s.logs[id].Append(&st, es)
	s.logs[id].Sync()
}

func (s *script) tickUntil(t *testing.T, d *datadriven.TestData, id uint64) {
	n, before := s.nodes[id], s.nodes[id].Status().Role
	for range 10 * electionTicks {
		was := n.elapsed
		n.Tick()
		campaigned := n.elapsed == 0 && was > 0
		s.pump(id)
		if campaigned && d.HasArg("leader") {
			s.elect(id)
		}
		switch now := n.Status().Role; {
		case d.HasArg("campaign") && campaigned, d.HasArg("leader") && now == Leader, d.HasArg("follower") && now == Follower && before != now:
			return
		}
	}
	t.Fatalf("%s: it never did:\n%s", d.Pos, s.out.String())
}

// elect delivers the messages of an election, and nothing else.
func (s *script) elect(id uint64) {
	for s.nodes[id].Status().Role != Leader && len(s.wire) > 0 {
		m := s.wire[0]
		s.wire = s.wire[1:]
		s.printf("deliver %s\n", describe(m))
		s.step(m)
	}
}

func (s *script) step(m *raftpb.Message) {
	if n := s.nodes[m.GetTo()]; n != nil {
		if err := n.Step(m); err != nil {
			s.printf("%v\n", err)
		}
		s.pump(m.GetTo())
	}
}

func (s *script) result(err error) {
	if err != nil {
		s.printf("%v\n", err)
	}
}

// take removes from the wire what the arguments match.
func (s *script) take(t *testing.T, d *datadriven.TestData) (taken []*raftpb.Message) {
	var from, to uint64
	var kind string
	d.MaybeScanArgs(t, "from", &from)
	d.MaybeScanArgs(t, "to", &to)
	d.MaybeScanArgs(t, "type", &kind)
	var kept []*raftpb.Message
	for _, m := range s.wire {
		if (from == 0 || from == m.GetFrom()) && (to == 0 || to == m.GetTo()) && (kind == "" || kind == m.GetType().String()) {
			taken = append(taken, m)
		} else {
			kept = append(kept, m)
		}
	}
	s.wire = kept
	return taken
}

// pump carries out a member's batches and prints them.
func (s *script) pump(id uint64) {
	n := s.nodes[id]
	for b, ok := n.Ready(); ok; b, ok = n.Ready() {
		s.printf("%d:", id)
		if b.State != nil {
			s.printf(" state term=%d vote=%d commit=%d;", b.State.Term, b.State.Vote, b.State.Commit)
		}
		s.entries("write", b.Entries)
		s.logs[id].Append(b.State, b.Entries)
		s.logs[id].Append(b.After, nil)
		s.messages("send", b.Early)
		if b.MustSync && s.doomed == id {
			s.printf(" power lost\n")
			s.doomed = 0
			s.crash(id, "synced")
			return
		}
		if b.MustSync {
			s.printf(" sync;")
			s.logs[id].Sync()
		}
		s.messages("then send", b.Late)
		n.Advance()
		s.entries("committed", b.Committed)
		for _, r := range b.Reads {
			s.printf(" read %d at op %d;", r.Ctx, r.Index)
		}
		s.printf("\n")
	}
}

func (s *script) entries(what string, es []raftlog.Entry) {
	if len(es) == 0 {
		return
	}
	s.printf(" %s", what)
	for _, e := range es {
		s.printf(" %d/t%d%q", e.Op, e.Term, e.Data)
	}
	s.printf(";")
}

func (s *script) messages(what string, ms []*raftpb.Message) {
	if len(ms) == 0 {
		return
	}
	s.printf(" %s", what)
	for _, m := range ms {
		s.printf(" %v>%d", m.GetType(), m.GetTo())
	}
	s.printf(";")
	s.wire = append(s.wire, ms...)
}

func injected(t *testing.T, d *datadriven.TestData) *raftpb.Message {
	var from, to, term, index, log, commit uint64
	var kind string
	d.ScanArgs(t, "from", &from)
	d.ScanArgs(t, "to", &to)
	d.ScanArgs(t, "type", &kind)
	d.ScanArgs(t, "term", &term)
	d.MaybeScanArgs(t, "index", &index)
	d.MaybeScanArgs(t, "log", &log)
	d.MaybeScanArgs(t, "commit", &commit)
	reject := d.HasArg("reject")
	return &raftpb.Message{
		Type: raftpb.MessageType(raftpb.MessageType_value[kind]).Enum(),
		From: &from, To: &to, Term: &term, Index: &index, LogTerm: &log, Commit: &commit, Reject: &reject,
	}
}

func describe(m *raftpb.Message) string {
	s := fmt.Sprintf("%d>%d %v t%d", m.GetFrom(), m.GetTo(), m.GetType(), m.GetTerm())
	if m.GetIndex() > 0 {
		s += fmt.Sprintf(" at %d/t%d", m.GetIndex(), m.GetLogTerm())
	}
	for _, e := range m.GetEntries() {
		s += fmt.Sprintf(" %d/t%d%q", e.GetIndex(), e.GetTerm(), e.GetData())
	}
	if m.GetCommit() > 0 {
		s += fmt.Sprintf(" commit %d", m.GetCommit())
	}
	if m.GetReject() {
		s += " rejected"
	}
	return s
}
