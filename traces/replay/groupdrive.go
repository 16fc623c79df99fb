package replay

import (
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// Watch sees what a group does. Stepped comes after every input of a replica, with what
// clients are answered; Asked is told of a request before the leader hears of it. Those of
// one token are the same request.
type Watch interface {
	observe.Sink
	Booted(id int, r *replica.Replica)
	Stepped(id int, r *replica.Replica, answers []replica.Answer)
	Asked(token uint64, r *op.Request)
}

// stopped is the error with which a replica of a group stopped by itself.
type stopped struct {
	id  int
	err error
}

func (s *stopped) Error() string { return s.err.Error() }
func (s *stopped) Unwrap() error { return s.err }
