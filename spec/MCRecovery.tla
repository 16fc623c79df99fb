------------------------------ MODULE MCRecovery ------------------------------
(* Bounds for what comes through when faults have ended. No symmetry, no view: so the     *)
(* faults strike Struck, since where they strike others it is the same under other names.  *)
EXTENDS Recovery

CONSTANTS MaxTerm, MaxFaults, Struck, Replicated, r1, r2, r3

MayStrike(r) == ghost_losses < MaxFaults /\ r \in Struck

(* Leaders are changed for no reason up to MaxTerm, and whenever nobody leads. *)
MCMayElect == NobodyLeads \/ term < MaxTerm

MCPersisted(o) == o.v \notin Replicated \cup {Empty}
=============================================================================
