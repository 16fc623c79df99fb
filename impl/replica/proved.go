package replica

import (
	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/engine/flat"
	"purgelab/impl/engine/tagged"
	"purgelab/impl/journal"
	"purgelab/impl/record"
)

// Proved lists the bytes of a replica's disk, never those of a term or a vote,
// whose damage a boot must refuse or which it does not need any more: something
// later on the disk shows that they were durable. Of the configuration who the
// replica is, its design, its disk and its folder count.
func Proved(cfg *Config) ([]corrupt.Span, error) {
	if err := cfg.findMember(); err != nil {
		return nil, err
	}
	id := cfg.identity()
	out, err := journal.Proved(cfg.FS, cfg.journalDir(), id)
	if err != nil {
		return nil, err
	}
	o := engine.Options{FS: cfg.FS, Dir: cfg.home(), Identity: id}
	var more []corrupt.Span
	if cfg.Design == ResetRecord {
		more, err = flat.Proved(flat.Options{Options: o, Tagged: cfg.Variants.TaggedBookmarks})
	} else {
		more, err = tagged.Proved(o)
	}
	return append(out, more...), err
}

// identity is whose the files are.
func (c *Config) identity() record.Identity {
	return record.Identity{Cluster: c.Cluster, Partition: c.Partition, Replica: uint32(c.ID), Incarnation: c.Incarnation}
}

func (c *Config) journalDir() string { return c.home() + "/journal" }
