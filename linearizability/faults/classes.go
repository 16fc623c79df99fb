package faults

import "purgelab/impl/sim"

// The classes of the guarantee matrix: each draws exactly the faults that it
// names, one at a time, so often that a run of a hundred operations meets some.
// An aimed crash waits for a step of a purge, and strikes elsewhere only if none
// comes in time.
const (
	// Retry: answers get lost, requests arrive twice, so purges are asked for
	// again. Proposals are dropped where leaders change.
	Retry Class = "retry"
	// LeaderChange: the network cuts the leader off for so long that another one
	// leads.
	LeaderChange Class = "leader-change"
	// OneProcess: the process of a machine dies; what its operating system has
	// cached stays.
	OneProcess Class = "process-crash"
	// PowerOne takes the power from one machine at a time, PowerMinority and
	// PowerMajority from so many at one instant, PowerAll from all.
	PowerOne      Class = "power-one"
	PowerMinority Class = "power-minority"
	PowerMajority Class = "power-majority"
	PowerAll      Class = "power-all"
	// DirSync: syncs of directories fail. SyncError: those of files, and what was
	// to be synced is lost.
	DirSync   Class = "dirsync-failure"
	SyncError Class = "sync-error"
	// Damaged: a small durable record rots or is torn. A replica that refuses it
	// keeps its promise.
	Damaged Class = "damaged-record"
	// Second: a crash in the recovery from a crash in a purge.
	Second Class = "second-crash"
	// Topic: a crash after one partition of a topic was purged and before another.
	Topic Class = "topic-crash"
	// Transfer: a replica falls so far behind that it must take the state of another,
	// and a step of that transfer is broken. It takes a log that is compacted.
	Transfer Class = "transfer"
)

// Matrix lists the classes of the guarantee matrix in its order.
var Matrix = []Class{
	None, Retry, LeaderChange, OneProcess, PowerOne, PowerMinority, PowerMajority, PowerAll,
	DirSync, SyncError, Damaged, Second, Topic, Transfer,
}

// Met tells whether what the class is about took effect in a run.
func (c Class) Met(took map[Kind]int, e *sim.Effects) bool {
	switch c {
	case Retry:
		return e.PurgesAgain > 0
	case LeaderChange:
		return e.LeaderChanges > 0
	case OneProcess:
		return e.ProcessCrashes > 0
	case PowerOne, PowerMinority, PowerMajority, PowerAll:
		return e.PowerLosses > 0
	case DirSync, SyncError:
		return took[DiskFault] > 0
	case Damaged:
		return e.Rotten > 0
	case Second:
		return e.InRecovery > 0
	case Topic:
		return e.BetweenPurges > 0
	case Transfer:
		return e.Moves.Completed > 0
	}
	return true
}
