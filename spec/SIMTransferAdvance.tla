-------------------------- MODULE SIMTransferAdvance --------------------------
(* As SIMTransfer, of the design advance: instead of a purge all records are         *)
(* deleted, or the first one of a batch. There is one folder, and each batch is a file    *)
(* of its own: a sync covers whole batches, and a chunk is synced when it is there.      *)
EXTENDS SIMTransfer

AdvanceCovered(entries, n) ==
    IF entries # <<>> /\ "key" \in DOMAIN entries[1] THEN Len(entries)
    ELSE Cardinality({j \in DOMAIN entries : entries[j].op <= n})

AdvanceSafe(j) == j - 1

(* What lies below the start does not travel. Nobody reads it, so a home is taken to have  *)
(* it: shown are the batches that came, and of the first one what lies above the start.     *)
Arriving(n)      == {e \in Entries(peers[n + 1].segs) : e.base + e.n > peers[n + 1].m.start}
AdvanceChunks(n) == Cardinality(Arriving(n))

(* The folder is shown as Advance has it. *)
AdvanceShown ==
    LET f == disk.dirs[0]
        came == {j \in DOMAIN f.segs : f.segs[j].op <= root.n}
        start == peers[root.n + 1].m.start
        Shown(j) == LET e == f.segs[j]
                        b == IF j \in came /\ e \in Arriving(root.n) THEN Max(e.base, start) ELSE e.base
                    IN [op |-> e.op, base |-> b, n |-> e.base + e.n - b]
    IN [log |-> log, up |-> up, mem |-> mem, undoable |-> undoable, journal |-> journal,
        root |-> root, stage |-> stage, kept |-> kept,
        disk |-> [ckpt |-> [applied |-> f.ckpt.applied, start |-> f.ckpt.start, end |-> f.ckpt.end],
                  segs |-> [j \in DOMAIN f.segs |-> Shown(j)], synced |-> f.segsSynced,
                  gone |-> {f.segs[j].op : j \in {k \in came : f.segs[k] \notin Arriving(root.n)}},
                  bms |-> f.bms, bmsSynced |-> f.bmsSynced]]
=============================================================================
