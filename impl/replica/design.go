package replica

import (
	"fmt"

	"purgelab/impl/engine"
	"purgelab/impl/engine/flat"
	"purgelab/impl/engine/tagged"
)

// Design says how a partition is purged.
type Design uint8

const (
	// Ordered: a purge is an op of the log; its number is the boundary, the same
	// on every replica. Numbering begins anew.
	Ordered Design = iota
	// ResetRecord: each replica purges on its own when it learns the intent; its
	// boundary is the highest op of its own journal. Numbering begins anew.
	ResetRecord
	// Advance: a purge is a deletion of all records, an op like any other.
	// Numbering goes on.
	Advance
)

var designNames = [...]string{"ordered", "reset-record", "advance"}

func (d Design) String() string { return designNames[d] }

// ParseDesign reads what String prints.
func ParseDesign(s string) (Design, error) {
	for i, n := range designNames {
		if n == s {
			return Design(i), nil
		}
	}
	return 0, fmt.Errorf("design %q: want one of %v", s, designNames)
}

// Intents tells whether the metadata plane hands out the purges of this design.
func (d Design) Intents() bool { return d != Advance }

// openEngine opens what a replica of this design materializes into.
func openEngine(cfg *Config, o engine.Options) (engine.Engine, engine.Report, error) {
	// Never a typed nil in the interface.
	if cfg.Design == ResetRecord {
		e, r, err := flat.Open(flat.Options{Options: o, Tagged: cfg.Variants.TaggedBookmarks, RetrySync: cfg.Variants.RetrySync})
		if err != nil {
			return nil, r, err
		}
		return e, r, nil
	}
	e, r, err := tagged.Open(o)
	if err != nil {
		return nil, r, err
	}
	return e, r, nil
}

// importer writes the state of another replica of this design.
func (c *Config) importer() func(engine.ImportOptions, *engine.Point) engine.Import {
	if c.Design == ResetRecord {
		return flat.Importer(c.Variants.TaggedBookmarks)
	}
	return tagged.Import
}

// Agrees tells whether all replicas of a partition come to the same state.
func (d Design) Agrees() bool { return d != ResetRecord }
