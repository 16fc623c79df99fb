package defect

// CompactPastCheckpoint: the journal drops what is materialized, whether or not a
// durable checkpoint has it.
const CompactPastCheckpoint Set = 100

func init() { names["compact-past-checkpoint"] = CompactPastCheckpoint }
