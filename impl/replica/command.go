package replica

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"purgelab/model/op"
)

// command is the data of a log entry: a request with what the leader added when
// it proposed it. Deterministic CBOR, fields by number, after replicatedMark if the
// op is replicated.
type command struct {
	_ struct{} `cbor:",toarray"`
	// Origin and Number name the proposal, so that the replica that made it
	// finds the client that waits.
	Origin, Number uint64
	// Time stamps the messages of an append; clamped when applied.
	Time op.Timestamp
	// Hint carries what a defect decides too early; 0 without one.
	Hint    op.Offset
	Request op.Request
}

var encMode, decMode = func() (cbor.EncMode, cbor.DecMode) {
	e, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err)
	}
	// Payloads are bytes that a client chose; they need not be text.
	d, err := cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid}.DecMode()
	if err != nil {
		panic(err)
	}
	return e, d
}()

func encodeCommand(c *command) []byte {
	b, err := encMode.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("replica: encode command: %v", err)) // a command has no type that cannot be encoded
	}
	return b
}

func decodeCommand(n op.Number, data []byte) (*command, error) {
	c := new(command)
	if len(data) > 0 && data[0] == replicatedMark {
		data = data[1:]
	}
	if err := decMode.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("op %d: command: %w", n, err)
	}
	return c, nil
}

// proposal is a command that this boot proposed, and what it was encoded to.
type proposal struct {
	data []byte
	c    *command
}

// commandOf decodes the data of an op, unless they are the very bytes that this
// replica encoded: most ops of a leader.
func (r *Replica) commandOf(n op.Number, data []byte) (*command, error) {
	if len(r.proposals) > 0 {
		if p := r.proposals[0]; len(p.data) == len(data) && &p.data[0] == &data[0] {
			r.proposals = r.proposals[1:]
			return p.c, nil
		}
	}
	c, err := decodeCommand(n, data)
	// They are committed in the order in which they were proposed, so what came before
	// one that was read back will not come.
	for err == nil && c.Origin == r.origin && len(r.proposals) > 0 && r.proposals[0].c.Number <= c.Number {
		r.proposals = r.proposals[1:]
	}
	return c, err
}
