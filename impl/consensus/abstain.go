package consensus

// Abstain says whether this member should leave the lead to others, because its
// caller cannot do what a leader must. While it abstains it keeps the log and
// votes, but it does not campaign; and if it leads it sends no heartbeats and no
// entries, so that the others elect another leader, and it steps down itself, as
// CheckQuorum asks of a leader that nobody answers. A group of one has nobody
// else.
func (n *Node) Abstain(on bool) { n.abstains = on && len(n.members.Voters) > 1 }

// silent: an abstaining leader's messages that promise nothing are lost.
func (n *Node) silent() bool { return n.abstains && n.role == Leader }
