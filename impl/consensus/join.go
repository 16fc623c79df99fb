package consensus

const (
	joinTicks  = 20 // between two requests of a member to be taken in, at least
	joinSpread = 7
)

// JoinPause is how many ticks a member that asked so often to be taken in waits until it
// asks again. The pauses differ, so that it does not always come when the leader has
// just begun to count anew whom it hears, and takes nobody in.
func JoinPause(asked int) int { return joinTicks + asked%joinSpread }
