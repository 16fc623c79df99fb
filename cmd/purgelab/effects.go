package main

import (
	"slices"
	"strings"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
)

// crashes are the kinds of fault that take a machine down.
var crashes = []faults.Kind{faults.ProcessCrash, faults.PowerLoss, faults.CrashAt, faults.CrashAmid}

// disks are the kinds of fault that make a disk fail, or lie.
var disks = []faults.Kind{faults.DiskFault, faults.Rot, faults.Misdirect, faults.FlipRead, faults.Lie, faults.ReplaceDisk, faults.ForeignDisk, faults.ReplacePlane, faults.RotPlane}

// causes says which kinds of fault can bring an effect about. What is not named
// here may happen whatever breaks.
var causes = map[string][]faults.Kind{
	"messages lost":                                {faults.Storm},
	"messages duplicated":                          {faults.Storm},
	"messages slowed":                              {faults.Storm},
	"messages cut off":                             {faults.Partition, faults.Isolate},
	"messages to the dead":                         slices.Concat(crashes, disks),
	"slow syncs":                                   {faults.SlowDisk},
	"process crashes":                              {faults.ProcessCrash, faults.CrashAt, faults.CrashAmid},
	"power losses":                                 {faults.PowerLoss, faults.CrashAt, faults.CrashAmid},
	"power losses with unsynced data":              {faults.PowerLoss, faults.CrashAt, faults.CrashAmid},
	"crashes at a disk call":                       {faults.CrashAt},
	"crashes in recovery":                          {faults.CrashAt},
	"crashes amid a topic's purge":                 {faults.CrashAmid},
	"restarts":                                     slices.Concat(crashes, disks),
	"failed disk calls":                            disks,
	"restarts over a disk":                         disks,
	"rotten bytes of the journal":                  {faults.Rot, faults.Misdirect},
	"rotten bytes of messages":                     {faults.Rot, faults.Misdirect},
	"rotten bytes of bookmarks":                    {faults.Rot, faults.Misdirect},
	"rotten bytes of records":                      {faults.Rot, faults.Misdirect},
	"misdirected writes":                           {faults.Misdirect, faults.Lie},
	"lost writes":                                  {faults.Lie},
	"bits flipped in writes":                       {faults.Lie},
	"bits flipped in reads":                        {faults.FlipRead, faults.Lie},
	"stale reads":                                  {faults.Lie},
	"disks replaced":                               {faults.ReplaceDisk},
	"foreign disks put in":                         {faults.ForeignDisk},
	"foreign disks refused":                        {faults.ForeignDisk},
	"disks of the plane replaced":                  {faults.ReplacePlane},
	"rotten bytes of the plane":                    {faults.RotPlane},
	"replicas of the plane that lost their memory": {faults.ReplacePlane, faults.RotPlane},
	"replicas of the plane rejoined":               {faults.ReplacePlane, faults.RotPlane},
	"replicas stopped by them":                     disks,
	"replicas that lost their memory":              slices.Concat(crashes, disks),
	"suspects rejoined":                            slices.Concat(crashes, disks),
	"memberships changed":                          slices.Concat(crashes, disks),
	"incarnations begun":                           slices.Concat(crashes, disks),
	"acknowledged operations lost":                 slices.Concat(crashes, disks),
	"proposals dropped":                            {faults.DropProposals},
	"chunks flipped in a transfer":                 {faults.SpoilTransfer},
	"manifests flipped in a transfer":              {faults.SpoilTransfer},
	"late messages of a transfer":                  {faults.SpoilTransfer},
	"replicas of deleted partitions":               nil, // see recreation
	"partitions created again":                     nil,
	"requests for deleted partitions":              nil,
}

// recreation are the effects of --recreate.
var recreation = []string{"replicas of deleted partitions", "partitions created again", "requests for deleted partitions"}

// moves are the effects of --compact-ops.
func moves(effect string) bool {
	return effect == "journals compacted" || strings.Contains(effect, "transfer")
}

// effects lists what took effect in many runs: planned faults by kind, then what
// they and the network did. What cannot happen under the settings is left out,
// unless it did.
func effects(s *run.Settings, planned map[faults.Kind]int, e *sim.Effects) *table {
	kinds := s.FaultKinds()
	t := &table{header: []string{"took effect", "times"}}
	for _, k := range faults.Kinds {
		if planned[k] > 0 || slices.Contains(kinds, k) {
			t.add("fault "+string(k), planned[k])
		}
	}
	e.Each(func(name string, n int) {
		by, caused := causes[name]
		possible := !caused || slices.ContainsFunc(by, func(k faults.Kind) bool { return slices.Contains(kinds, k) }) ||
			s.Recreate > 0 && slices.Contains(recreation, name)
		if moves(name) {
			possible = possible && s.CompactOps > 0
		}
		if n > 0 || possible {
			t.add(name, n)
		}
	})
	return t
}
