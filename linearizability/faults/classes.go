package faults

// The classes of the guarantee matrix: each draws exactly the faults that it
// names, so often that every run meets some.
const (
	// Retry: nothing but requests and purges that arrive twice, answers that are
	// lost, and proposals that are dropped.
	Retry Class = "retry"
	// LeaderChange: leaders are deposed by the network, and come back.
	LeaderChange Class = "leader-change"
	// OneProcess: the process of a machine dies, at a step of a purge above all;
	// what the operating system has stays.
	OneProcess Class = "process-crash"
	// PowerOne takes the power from one machine at a time, PowerMinority and
	// PowerMajority from as many together, PowerAll from all.
	PowerOne      Class = "power-one"
	PowerMinority Class = "power-minority"
	PowerMajority Class = "power-majority"
	PowerAll      Class = "power-all"
	// DirSync: the sync of a directory fails; SyncError: that of a file, and what
	// was to be synced is lost.
	DirSync   Class = "dirsync-failure"
	SyncError Class = "sync-error"
	// Damaged: a small durable record of a purge rots or is torn.
	Damaged Class = "damaged-record"
	// Second: a crash in the recovery from a crash during a purge.
	Second Class = "second-crash"
	// Topic: a crash between the purges of the partitions of one topic.
	Topic Class = "topic-crash"
)

// Matrix lists the classes of the guarantee matrix in its order.
var Matrix = []Class{
	None, Retry, LeaderChange, OneProcess, PowerOne, PowerMinority, PowerMajority, PowerAll,
	DirSync, SyncError, Damaged, Second, Topic,
}
