package replay

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"purgelab/impl/record"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/traces/behaviours"
)

// This file reads what a disk shows of a state on its way, or installed.

// homeOn is where the files of the replica lie, as its record says.
func homeOn(fs vfs.FS) (string, error) {
	b, answer, err := record.Read(fs, dir+"/member", identity)
	if answer != record.Value {
		return dir, err
	}
	var member []any
	if err := cbor.Unmarshal(b, &member); err != nil {
		return "", fmt.Errorf("record member: %w", err)
	}
	if home, ok := member[1].(string); ok && home != "." {
		return dir + "/" + home, nil
	}
	return dir, nil
}

// stage is a home that is being filled.
type stage struct {
	home string // empty: there is none
	m    *transfer.Manifest
	f    *folder
	in   string // where f lies
}

// readStage finds the home that a transfer fills.
func readStage(fs vfs.FS, present string) (*stage, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	s := &stage{}
	number := func(home string) int { // homes are numbered as they are made; 0 is the first
		n, _ := strconv.Atoi(strings.TrimPrefix(home, dir+"/h"))
		return n
	}
	for _, name := range names {
		home := dir + "/" + strings.TrimSuffix(name, "/")
		if number(home) <= number(present) { // one before
			continue
		}
		m, err := transfer.Staged(fs, home, identity)
		if err != nil || m == nil {
			return nil, err
		}
		s = &stage{home: home, m: m, in: home + "/gen-" + strconv.Itoa(int(m.Point.Generation))}
		if s.f, err = readFolder(fs, s.in); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// whole tells whether all records of the home are there.
func (s *stage) whole(fs vfs.FS) bool {
	there := func(file string) bool {
		_, answer, _ := record.Read(fs, file, identity)
		return answer == record.Value
	}
	return there(s.in+"/checkpoint") && (s.m.Point.Generation == 0 || there(s.home+"/marker"))
}

// staged adds what the disk shows of a state on its way, and from which op the present
// home comes, to a state. Of chunks those are safe that are left if a loss of power takes
// all bytes that are not synced.
func (d *driver) staged(out map[string]any) error {
	disk := d.stopped()
	fs := disk.FS()
	home, err := homeOn(fs)
	if err != nil {
		return err
	}
	from := 0.0
	if home != dir {
		m, err := transfer.Staged(fs, home, identity)
		if err != nil || m == nil {
			return fmt.Errorf("%s: no manifest: %w", home, err)
		}
		from = number(uint64(m.Point.Applied))
	}
	out["root"] = from
	s, err := readStage(fs, home)
	if err != nil {
		return err
	}
	shown := map[string]any{"n": 0.0, "got": 0.0, "safe": 0.0, "state": "no"}
	if s.home != "" {
		shown["n"], shown["got"] = number(uint64(s.m.Point.Applied)), float64(len(s.f.segs))
		if s.whole(fs) {
			shown["state"] = "yes"
		}
		least := disk.Clone()
		least.PowerLossKeeping(crashfs.Change.Names)
		f, err := readFolder(least.FS(), s.in)
		if err != nil {
			return err
		}
		shown["safe"] = float64(len(f.segs))
	}
	out["stage"] = shown
	return nil
}

// wantStaged adds the same of a state of the specification; the journal ends before the
// log where other members have committed more.
func wantStaged(out, s map[string]any) {
	stage := s["stage"].(map[string]any)
	safe := s["kept"]
	if stage["synced"] == true {
		safe = stage["got"]
	}
	out["root"] = s["root"].(map[string]any)["n"]
	out["stage"] = map[string]any{"n": stage["n"], "got": stage["got"], "safe": safe, "state": stage["state"]}
	if out["log"] != nil {
		out["log"] = s["journal"].(map[string]any)["held"]
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
	home, err := homeOn(fs)
	if err != nil {
		return nil, err
	}
	if a.State["root"].(map[string]any)["there"] == "gone" { // a defect
		return func(c crashfs.Change) bool { return !strings.HasPrefix(c.Path, home) || !c.Names() }, nil
	}
	s, err := readStage(fs, home)
	if err != nil || s.home == "" {
		return all, err
	}
	keep := keeping{home: s.home}
	keep.leave(s.f, integer(is["got"]), len(s.f.bms))
	return keep.change, nil
}
