package replay

import (
	"strconv"
	"strings"

	"purgelab/model/op"
)

// This file is about the one client of a group that has a session, which the specification
// has registered from the beginning. It has one request, an append, which it may send more
// than once. All its messages say its name, whatever op they are of.

// theSession is what the registration makes: it is named by its op.
const theSession op.Session = base

// sessionOf is the client whose append an op of the specification is, empty if it is of
// one that has no session.
func sessionOf(o map[string]any) string {
	if id, _ := o["id"].(string); o["k"] == "append" && strings.HasPrefix(id, "c") {
		return id
	}
	return ""
}

// numbered makes a request that of the session if the op is.
func numbered(r *op.Request, o map[string]any) {
	id := sessionOf(o)
	if id == "" {
		return
	}
	r.Session, r.Sequence = theSession, 1
	for i := range r.Payloads {
		r.Payloads[i] = op.Payload(id)
	}
}

// said is what a payload says: the number of an op, or a client's name.
func said(p op.Payload) any {
	number, _, _ := strings.Cut(string(p), ".")
	if n, err := strconv.Atoi(number); err == nil {
		return float64(n)
	}
	return string(p)
}

// saying is what the messages of op n of the specification's log say.
func saying(log []any, n any) any {
	if i := integer(n); i >= 1 && i <= len(log) {
		if id := sessionOf(log[i-1].(map[string]any)); id != "" {
			return id
		}
	}
	return n
}
