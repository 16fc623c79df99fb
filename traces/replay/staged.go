package replay

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"purgelab/impl/engine"
	"purgelab/impl/journal"
	"purgelab/impl/record"
	"purgelab/impl/replica"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/traces/behaviours"
)

// This file reads what a disk shows of a state on its way, or installed.

// homeOn is where the files of the replica lie, as its record says.
func (p place) homeOn(fs vfs.FS) (string, error) {
	b, answer, err := record.Read(fs, p.dir+"/member", p.identity)
	if answer != record.Value {
		return p.dir, err
	}
	var member []any
	if err := cbor.Unmarshal(b, &member); err != nil {
		return "", fmt.Errorf("record member: %w", err)
	}
	if home, ok := member[1].(string); ok && home != "." {
		return p.dir + "/" + home, nil
	}
	return p.dir, nil
}

// stage is a home that is being filled.
type stage struct {
	place
	home string // empty: there is none
	m    *transfer.Manifest
	flat bool // in the layout of package engine/flat
	f    *folder
}

// messages reads the chunks that a home holds.
func (s *stage) messages(fs vfs.FS) (*folder, error) {
	if s.flat {
		return readSegments(fs, segmentsIn(s.home))
	}
	return s.readFolder(fs, s.folder())
}

// folder is where they lie in the layout of package engine/tagged.
func (s *stage) folder() string { return s.home + "/gen-" + strconv.Itoa(int(s.m.Point.Generation)) }

// staging finds the home that a transfer fills.
func (d *driver) staging(fs vfs.FS, present string) (*stage, error) {
	names, err := fs.List(d.dir)
	if err != nil {
		return nil, err
	}
	s := &stage{place: d.place}
	number := func(home string) int { // homes are numbered as they are made; 0 is the first
		n, _ := strconv.Atoi(strings.TrimPrefix(home, d.dir+"/h"))
		return n
	}
	for _, name := range names {
		home := d.dir + "/" + strings.TrimSuffix(name, "/")
		if number(home) <= number(present) { // one before
			continue
		}
		m, err := transfer.Staged(fs, home, d.identity)
		if err != nil || m == nil {
			return nil, err
		}
		s = &stage{place: d.place, home: home, m: m, flat: d.design == replica.ResetRecord}
		if s.f, err = s.messages(fs); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// whole tells whether all records of the home are there.
func (s *stage) whole(fs vfs.FS) bool {
	there := func(file string) bool {
		_, answer, _ := record.Read(fs, file, s.identity)
		return answer == record.Value
	}
	in, last := s.folder(), "/marker"
	if s.flat {
		in, last = s.home, "/purge.gen"
	}
	return there(in+"/checkpoint") && (s.m.Point.Generation == 0 || there(s.home+last))
}

// staged adds what the disk shows of a state on its way, and from which op the present
// home comes, to a state. Of chunks those are safe that are left if a loss of power takes
// all bytes that are not synced.
func (d *driver) staged(out map[string]any) error {
	disk := d.stopped()
	fs := disk.FS()
	home, err := d.homeOn(fs)
	if err != nil {
		return err
	}
	from := 0.0
	if home != d.dir {
		m, err := transfer.Staged(fs, home, d.identity)
		if err != nil || m == nil {
			return fmt.Errorf("%s: no manifest: %w", home, err)
		}
		from = number(uint64(m.Point.Applied))
	}
	out["root"] = from
	if out["first"], err = d.firstOf(fs, home); err != nil {
		return err
	}
	s, err := d.staging(fs, home)
	if err != nil {
		return err
	}
	shown, point := map[string]any{"got": 0.0, "safe": 0.0, "state": "no"}, engine.Point{}
	if s.home != "" {
		point, shown["got"] = s.m.Point, float64(len(s.f.segs))
		if s.whole(fs) {
			shown["state"] = "yes"
		}
		least := disk.Clone()
		least.PowerLossKeeping(crashfs.Change.Names)
		f, err := s.messages(least.FS())
		if err != nil {
			return err
		}
		shown["safe"] = float64(len(f.segs))
	}
	if n := number(uint64(point.Applied)); d.design != replica.ResetRecord {
		shown["n"] = n
	} else {
		shown["x"] = map[string]any{"n": n, "g": float64(point.Generation), "floor": number(uint64(point.Boundary))}
	}
	out["stage"] = shown
	return nil
}

// firstOf is the op above which the journal of a home begins.
func (p place) firstOf(fs vfs.FS, home string) (float64, error) {
	n, err := journal.Begins(fs, home+"/journal", p.identity)
	return number(uint64(n)), err
}

// wantStaged adds the same of a state of the specification. The journal of Transfer ends
// before the log where other members have committed more.
func wantStaged(out, s map[string]any) {
	stage := maps.Clone(s["stage"].(map[string]any))
	stage["safe"] = s["kept"]
	if stage["synced"] == true {
		stage["safe"] = stage["got"]
	}
	delete(stage, "synced")
	out["root"], out["stage"] = s["root"].(map[string]any)["n"], stage
	out["first"] = s["first"]
	if journal, ok := s["journal"].(map[string]any); ok {
		// The specification's has the ops of the homes before, too.
		if out["first"] = max(journal["first"].(float64), out["root"].(float64)); out["log"] != nil {
			out["log"] = journal["held"]
		}
	}
}

// onItsWay says what a loss of power leaves of a state on its way: of its chunks the first
// ones, and its records, or not, as the state after it shows.
func (d *driver) onItsWay(a *behaviours.Act) (func(crashfs.Change) bool, error) {
	all := func(crashfs.Change) bool { return true }
	is, ok := a.State["stage"].(map[string]any)
	if !ok {
		return all, nil
	}
	fs := d.stopped().FS()
	home, err := d.homeOn(fs)
	if err != nil {
		return nil, err
	}
	if a.State["root"].(map[string]any)["there"] == "gone" { // a defect
		return func(c crashfs.Change) bool { return !strings.HasPrefix(c.Path, home) || !c.Names() }, nil
	}
	s, err := d.staging(fs, home)
	if err != nil || s.home == "" {
		return all, err
	}
	keep := keeping{home: s.home}
	keep.leave(s.f, integer(is["got"]), len(s.f.bms))
	return keep.change, nil
}
