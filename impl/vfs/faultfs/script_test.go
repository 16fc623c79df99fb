package faultfs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
)

// TestScripts runs the files of testdata on a disk that can lose power.
// After go test -run TestScripts -rewrite the diff is to be reviewed.
//
//	disk               a new disk
//	rules              the lines are the rules from now on; prints them
//	also               the lines are the rules of one more wrapper around all
//	do                 the lines are calls:
//	    create|open|sync|size|remove|mkdir|list|syncdir PATH
//	    write PATH OFFSET TEXT
//	    read PATH [OFFSET [LENGTH]]
//	    truncate PATH SIZE
//	    rename|link FROM TO
//	    process-crash | power-loss
//	parse              the lines are rules; prints them, or what is wrong
//
// Calls carry the label t.<name of the call>. A power loss keeps nothing.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := &world{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.out.Reset()
			switch d.Cmd {
			case "disk":
				w.disk, w.sets = crashfs.New(), nil
				w.boot()
			case "rules", "also":
				w.rules(d.Cmd == "also", d.Input)
			case "parse":
				for _, line := range strings.Split(d.Input, "\n") {
					if r, err := Parse(line); err != nil {
						fmt.Fprintln(&w.out, err)
					} else {
						fmt.Fprintln(&w.out, r)
					}
				}
			case "do":
				for _, line := range strings.Split(d.Input, "\n") {
					w.do(line)
				}
			default:
				d.Fatalf(t, "no command %s", d.Cmd)
			}
			return w.out.String()
		})
	})
}

type world struct {
	t     *testing.T
	out   strings.Builder
	disk  *crashfs.Disk
	sets  []*Set
	fs    vfs.FS
	files map[string]vfs.File
}

func (w *world) boot() {
	w.fs, w.files = w.disk.FS(), map[string]vfs.File{}
	for _, s := range w.sets {
		w.fs = s.Wrap(w.fs)
	}
}

func (w *world) rules(also bool, text string) {
	s := NewSet()
	for _, line := range strings.Split(text, "\n") {
		r, err := Parse(line)
		require.NoError(w.t, err)
		s.Add(r)
	}
	if !also {
		w.sets = nil
	}
	w.sets = append(w.sets, s)
	w.boot()
	for _, s := range w.sets {
		for _, r := range s.Rules() {
			fmt.Fprintln(&w.out, r)
		}
	}
}

// file opens a file once a boot.
func (w *world) file(path string) (vfs.File, error) {
	if f := w.files[path]; f != nil {
		return f, nil
	}
	f, err := w.fs.Open(path)
	if err == nil {
		w.files[path] = f
	}
	return f, err
}

func (w *world) do(line string) {
	got, err := w.call(strings.Fields(line))
	if err != nil {
		got += " error: " + err.Error()
	}
	fmt.Fprintln(&w.out, strings.TrimSpace(line+" ->"+got))
}

func (w *world) call(a []string) (string, error) {
	label := vfs.Label("t." + a[0])
	num := func(i, d int) int {
		if i < len(a) {
			_, err := fmt.Sscan(a[i], &d)
			require.NoError(w.t, err)
		}
		return d
	}
	switch a[0] {
	case "process-crash":
		w.disk.ProcessCrash()
		w.boot()
		return "", nil
	case "power-loss":
		w.disk.PowerLossAs(nil)
		w.boot()
		return "", nil
	case "create":
		f, err := w.fs.Create(label, a[1])
		if err == nil {
			w.files[a[1]] = f
		}
		return "", err
	case "rename":
		return "", w.fs.Rename(label, a[1], a[2])
	case "link":
		return "", w.fs.Link(label, a[1], a[2])
	case "remove":
		return "", w.fs.Remove(label, a[1])
	case "mkdir":
		return "", w.fs.Mkdir(label, a[1])
	case "syncdir":
		return "", w.fs.SyncDir(label, a[1])
	case "list":
		names, err := w.fs.List(a[1])
		return " " + strings.Join(names, " "), err
	}
	f, err := w.file(a[1])
	if err != nil {
		return "", err
	}
	switch a[0] {
	case "open":
		return "", nil
	case "size":
		n, err := f.Size()
		return fmt.Sprintf(" %d", n), err
	case "sync":
		return "", f.Sync(label)
	case "truncate":
		return "", f.Truncate(label, int64(num(2, 0)))
	case "write":
		n, err := f.WriteAt(label, []byte(a[3]), int64(num(2, 0)))
		return fmt.Sprintf(" %d", n), err
	case "read":
		p := make([]byte, num(3, 100))
		n, err := f.ReadAt(p, int64(num(2, 0)))
		if n > 0 && fmt.Sprint(err) == "EOF" {
			err = nil
		}
		return fmt.Sprintf(" %q", p[:n]), err
	}
	w.t.Fatalf("no call %s", a[0])
	return "", nil
}

// Every rule reads as it prints.
func TestRulesReadAsTheyPrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New(rapid.SampledFrom(Actions).Draw(t, "action"))
		r.Op = rapid.SampledFrom(append([]string{""}, fits[r.Action]...)).Draw(t, "op")
		r.Label = rapid.SampledFrom([]string{"", "purge", "journal.append.write"}).Draw(t, "label")
		r.Path = rapid.SampledFrom([]string{"", "seg-*.log", "p0/gen-?/checkpoint"}).Draw(t, "path")
		r.Nth = rapid.IntRange(1, 9).Draw(t, "nth")
		r.Times = rapid.IntRange(0, 3).Draw(t, "times")
		if name, _ := r.Action.argument(); name != "" {
			r.Arg = rapid.IntRange(0, 600).Draw(t, "arg")
		}
		if r.Action == BitFlip {
			r.Bit = rapid.IntRange(0, 7).Draw(t, "bit")
		}
		got, err := Parse(r.String())
		require.NoError(t, err)
		require.Equal(t, r, got)
	})
}

// Errors say that they are injected, and which call broke by which rule.
func TestErrors(t *testing.T) {
	s := NewSet(New(NoSpace))
	var seen []string
	s.Hit = func(e *Error) { seen = append(seen, e.Op+" "+e.Path) }
	_, err := s.Wrap(crashfs.New().FS()).Create("t", "a")
	require.ErrorIs(t, err, ErrInjected)
	require.ErrorIs(t, err, vfs.ErrNoSpace)
	require.Equal(t, []string{"create a"}, seen)
	require.Equal(t, 1, s.Hits())
}
