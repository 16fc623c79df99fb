package traces

import "purgelab/model/op"

// Split cuts a trace into the pieces that are judged on their own, in the
// order partition by partition: all replicas together, then each of them. A
// replica that joined anew, or that goes on in a new incarnation, began with an empty
// disk, and is another piece since.
// Pieces without an op that is materialized or filtered say nothing and are left out; the caller
// must not take a trace without any piece for an accepted one.
func Split(t *Trace) []Piece {
	var out []Piece
	d := findDesign(t.Header.Design)
	for p := range t.Header.Partitions {
		pieces := []*Piece{{Level: Group, Partition: op.Partition(p), Replicas: t.Header.Replicas}}
		at := make([]*Piece, t.Header.Replicas+1)
		member := func(r int, i op.Incarnation, n int) {
			at[r] = &Piece{Level: Local, Partition: op.Partition(p), Replica: r, Incarnation: i, Member: n, Replicas: t.Header.Replicas}
			pieces = append(pieces, at[r])
		}
		for r := 1; r <= t.Header.Replicas; r++ {
			member(r, 0, 0)
		}
		for _, l := range t.Lines {
			if int(l.Partition) != p {
				continue
			}
			if l.Incarnation > at[l.Replica].Incarnation {
				member(l.Replica, l.Incarnation, 0)
			}
			if d.judgedAt(l.Action, Group) {
				pieces[0].Lines = append(pieces[0].Lines, l)
			}
			if d.judgedAt(l.Action, Local) {
				at[l.Replica].Lines = append(at[l.Replica].Lines, l)
			}
			if l.Action == Rejoin {
				member(l.Replica, at[l.Replica].Incarnation, at[l.Replica].Member+1)
			}
		}
		for _, piece := range pieces {
			if says(piece) {
				out = append(out, *piece)
			}
		}
	}
	return out
}

// says tells whether the piece holds an op, or a state, that reached a replica's state, or an op
// that it says must not.
func says(p *Piece) bool {
	for _, l := range p.Lines {
		switch l.Action {
		case Materialize, Filtered, PurgeComplete, CommitInstall, CopyState:
			return true
		}
	}
	return false
}
