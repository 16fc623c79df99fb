package traces

import "purgelab/model/op"

// Split cuts a trace into the pieces that are judged on their own, in the
// order partition by partition: all replicas together, then each of them.
// Pieces without a materialized op say nothing and are left out; the caller
// must not take a trace without any piece for an accepted one.
func Split(t *Trace) []Piece {
	var out []Piece
	for p := range t.Header.Partitions {
		pieces := []Piece{{Level: Group, Partition: op.Partition(p), Replicas: t.Header.Replicas}}
		for r := 1; r <= t.Header.Replicas; r++ {
			pieces = append(pieces, Piece{Level: Local, Partition: op.Partition(p), Replica: r, Replicas: t.Header.Replicas})
		}
		for _, l := range t.Lines {
			if int(l.Partition) != p {
				continue
			}
			if judgedAt(l.Action, Group) {
				pieces[0].Lines = append(pieces[0].Lines, l)
			}
			if judgedAt(l.Action, Local) {
				pieces[l.Replica].Lines = append(pieces[l.Replica].Lines, l)
			}
		}
		for _, piece := range pieces {
			if says(piece) {
				out = append(out, piece)
			}
		}
	}
	return out
}

// says tells whether the piece holds an op that reached a replica's state.
func says(p Piece) bool {
	for _, l := range p.Lines {
		if l.Action == Materialize || l.Action == PurgeComplete {
			return true
		}
	}
	return false
}
