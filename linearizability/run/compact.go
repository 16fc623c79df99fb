package run

import (
	"purgelab/impl/replica"
	"purgelab/impl/sim"
)

// shape draws small files and frequent checkpoints in some runs, large and rare ones in
// others.
func (s *Settings) shape(o *sim.Options) {
	shape := sim.Split(s.Seed, "shape")
	o.CheckpointOps, o.SegmentBytes, o.JournalBytes = []int{4, 12, 40, 100}[shape.IntN(4)], 512<<(2*shape.IntN(3)), 4096<<(2*shape.IntN(3))
	s.compact(o)
}

// Shape is how many ops lie between two checkpoints of this run, and at how many bytes
// a file of messages and one of the journal is full.
func (s *Settings) Shape() (checkpoint, segment, journal int) {
	var o sim.Options
	s.shape(&o)
	return o.CheckpointOps, o.SegmentBytes, o.JournalBytes
}

// compact makes journals short, and transfers a matter of many chunks, if the
// settings ask for it. Files, checkpoints and what is kept are small in some runs and
// larger in others. Of the runs that Policies makes one in eight is compacted by bytes.
func (s *Settings) compact(o *sim.Options) {
	if s.CompactOps == 0 {
		return
	}
	shape := sim.Split(s.Seed, "compaction")
	o.Compact = replica.Compaction{Ops: s.CompactOps, Keep: []int{0, s.CompactOps / 4, s.CompactOps}[shape.IntN(3)]}
	o.CheckpointOps = min(o.CheckpointOps, max(2, s.CompactOps/2))
	o.JournalBytes = 512 << shape.IntN(3)
	if s.byBytes() {
		o.Compact.Ops, o.Compact.Bytes = 0, int64(o.JournalBytes)
	}
	o.Transfer = replica.TransferOptions{ChunkBytes: 100 << shape.IntN(4), Window: 1 + shape.IntN(3), Budget: 1 << (3 * shape.IntN(5))}
}

// byBytes tells whether a journal is compacted once it has more than a file of bytes,
// however many ops that are.
func (s *Settings) byBytes() bool {
	return s.CompactOps == compactOps && sim.Split(s.Seed, "bytes").IntN(8) == 0
}
