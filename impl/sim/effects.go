package sim

// Effects counts the faults that took effect: a message that was lost, not a
// probability of loss; a crash that hit a running machine.
type Effects struct {
	Lost           int `json:"lost"`
	Duplicated     int `json:"duplicated"`
	Slowed         int `json:"slowed"`
	Partitioned    int `json:"partitioned"` // messages that met a cut link
	ToDead         int `json:"toDead"`      // messages to a machine that was down
	SlowSyncs      int `json:"slowSyncs"`
	ProcessCrashes int `json:"processCrashes"`
	PowerLosses    int `json:"powerLosses"`
	PowerUnsynced  int `json:"powerUnsynced"` // of those, with unsynced changes on the disk
	AtCall         int `json:"atCall"`        // crashes that hit the disk call aimed at
	InRecovery     int `json:"inRecovery"`    // of those, during a boot
	Restarts       int `json:"restarts"`
	DiskFaults     int `json:"diskFaults"`   // calls of a disk that failed
	DiskRestarts   int `json:"diskRestarts"` // machines restarted over it
	Rotten         int `json:"rotten"`       // places that changed on the medium
	// Of those, bytes by what they hold.
	RottenJournal   int `json:"rottenJournal"`
	RottenMessages  int `json:"rottenMessages"`
	RottenBookmarks int `json:"rottenBookmarks"`
	RottenRecords   int `json:"rottenRecords"`
	Misdirected     int `json:"misdirected"`    // writes that landed elsewhere
	LostWrites      int `json:"lostWrites"`     // writes that never landed
	FlippedWrites   int `json:"flippedWrites"`  // writes with a wrong bit
	FlippedReads    int `json:"flippedReads"`   // reads with a wrong bit
	StaleReads      int `json:"staleReads"`     // reads of what was there before
	Replaced        int `json:"replaced"`       // disks that were replaced by empty ones
	Foreign         int `json:"foreign"`        // disks of others that were put in
	ForeignRefused  int `json:"foreignRefused"` // replicas that refused one of those
	PlaneReplaced   int `json:"planeReplaced"`  // disks of the plane that were replaced by empty ones
	PlaneRotten     int `json:"planeRotten"`    // bytes of its journal that changed on the medium
	PlaneSuspects   int `json:"planeSuspects"`  // replicas of the plane that lost their memory
	PlaneRejoined   int `json:"planeRejoined"`  // of those, voters again under another id
	Stopped         int `json:"stopped"`        // replicas that refused them
	Suspects        int `json:"suspects"`       // replicas that lost their memory
	Sequences       int `json:"sequences"`      // op numbers that began anew
	Rejoined        int `json:"rejoined"`       // of those, voters again under another id
	Changed         int `json:"changed"`        // memberships changed
	Incarnations    int `json:"incarnations"`   // that went on from another one
	LostAcked       int `json:"lostAcked"`      // acknowledged mutations that they lack
	GaveUp          int `json:"gaveUp"`         // operations whose outcome stayed unknown
	Unacknowledged  int `json:"unacknowledged"` // operations whose answer nobody awaited
	Repeated        int `json:"repeated"`       // requests that a client sent again
	PurgesAgain     int `json:"purgesAgain"`    // of those, purges
	LeaderChanges   int `json:"leaderChanges"`  // of partitions, to another replica
	BetweenPurges   int `json:"betweenPurges"`  // crashes after a partition of a topic was purged, before another
	Dropped         int `json:"dropped"`        // proposals that leaders dropped
	Retired         int `json:"retired"`        // replicas of deleted partitions that stopped
	Recreated       int `json:"recreated"`      // partitions created again
	Stale           int `json:"stale"`          // requests refused because their partition was gone
	// Moves of state, if there are any.
	Moves Moves `json:"moves,omitzero"`
}

// Each calls f with every counter, in a fixed order.
func (e *Effects) Each(f func(name string, n int)) {
	f("messages lost", e.Lost)
	f("messages duplicated", e.Duplicated)
	f("messages slowed", e.Slowed)
	f("messages cut off", e.Partitioned)
	f("messages to the dead", e.ToDead)
	f("slow syncs", e.SlowSyncs)
	f("process crashes", e.ProcessCrashes)
	f("power losses", e.PowerLosses)
	f("power losses with unsynced data", e.PowerUnsynced)
	f("crashes at a disk call", e.AtCall)
	f("crashes in recovery", e.InRecovery)
	f("restarts", e.Restarts)
	f("failed disk calls", e.DiskFaults)
	f("restarts over a disk", e.DiskRestarts)
	f("rotten bytes of the journal", e.RottenJournal)
	f("rotten bytes of messages", e.RottenMessages)
	f("rotten bytes of bookmarks", e.RottenBookmarks)
	f("rotten bytes of records", e.RottenRecords)
	f("misdirected writes", e.Misdirected)
	f("lost writes", e.LostWrites)
	f("bits flipped in writes", e.FlippedWrites)
	f("bits flipped in reads", e.FlippedReads)
	f("stale reads", e.StaleReads)
	f("disks replaced", e.Replaced)
	f("foreign disks put in", e.Foreign)
	f("foreign disks refused", e.ForeignRefused)
	f("disks of the plane replaced", e.PlaneReplaced)
	f("rotten bytes of the plane", e.PlaneRotten)
	f("replicas of the plane that lost their memory", e.PlaneSuspects)
	f("replicas of the plane rejoined", e.PlaneRejoined)
	f("replicas stopped by them", e.Stopped)
	f("replicas that lost their memory", e.Suspects)
	f("op numbers begun anew", e.Sequences)
	f("suspects rejoined", e.Rejoined)
	f("memberships changed", e.Changed)
	f("incarnations begun", e.Incarnations)
	f("acknowledged operations lost", e.LostAcked)
	f("unknown outcomes", e.GaveUp)
	f("answers not awaited", e.Unacknowledged)
	f("requests repeated", e.Repeated)
	f("purges asked again", e.PurgesAgain)
	f("leaders replaced", e.LeaderChanges)
	f("crashes amid a topic's purge", e.BetweenPurges)
	f("proposals dropped", e.Dropped)
	f("replicas of deleted partitions", e.Retired)
	f("partitions created again", e.Recreated)
	f("requests for deleted partitions", e.Stale)
	e.Moves.each(f)
}

// Add adds another run's counters.
func (e *Effects) Add(o Effects) {
	e.Lost += o.Lost
	e.Duplicated += o.Duplicated
	e.Slowed += o.Slowed
	e.Partitioned += o.Partitioned
	e.ToDead += o.ToDead
	e.SlowSyncs += o.SlowSyncs
	e.ProcessCrashes += o.ProcessCrashes
	e.PowerLosses += o.PowerLosses
	e.PowerUnsynced += o.PowerUnsynced
	e.AtCall += o.AtCall
	e.InRecovery += o.InRecovery
	e.Restarts += o.Restarts
	e.DiskFaults += o.DiskFaults
	e.DiskRestarts += o.DiskRestarts
	e.Rotten += o.Rotten
	e.RottenJournal += o.RottenJournal
	e.RottenMessages += o.RottenMessages
	e.RottenBookmarks += o.RottenBookmarks
	e.RottenRecords += o.RottenRecords
	e.Misdirected += o.Misdirected
	e.LostWrites += o.LostWrites
	e.FlippedWrites += o.FlippedWrites
	e.FlippedReads += o.FlippedReads
	e.StaleReads += o.StaleReads
	e.Replaced += o.Replaced
	e.Foreign += o.Foreign
	e.ForeignRefused += o.ForeignRefused
	e.PlaneReplaced += o.PlaneReplaced
	e.PlaneRotten += o.PlaneRotten
	e.PlaneSuspects += o.PlaneSuspects
	e.PlaneRejoined += o.PlaneRejoined
	e.Stopped += o.Stopped
	e.Suspects += o.Suspects
	e.Sequences += o.Sequences
	e.Rejoined += o.Rejoined
	e.Changed += o.Changed
	e.Incarnations += o.Incarnations
	e.LostAcked += o.LostAcked
	e.GaveUp += o.GaveUp
	e.Unacknowledged += o.Unacknowledged
	e.Repeated += o.Repeated
	e.PurgesAgain += o.PurgesAgain
	e.LeaderChanges += o.LeaderChanges
	e.BetweenPurges += o.BetweenPurges
	e.Dropped += o.Dropped
	e.Retired += o.Retired
	e.Recreated += o.Recreated
	e.Stale += o.Stale
	e.Moves.add(&o.Moves)
}
