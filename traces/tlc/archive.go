package tlc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Most of a short run of TLC goes into loading its classes. Java can keep them in an
// archive, as they are once loaded (class data sharing); it is written once, from a run
// of a small model, into the tool folder. TLC's jar stays as it is. An archive that
// Java does not accept is as good as none: it loads the jar, and says nothing.

// archiveLimit bounds the run that writes an archive.
const archiveLimit = time.Minute

// archiveModel makes TLC load what most models need, temporal properties included.
const archiveModel = `---- MODULE Archive ----
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS a, b
VARIABLES log, front
Init == log = <<>> /\ front = [r \in {a, b} |-> 0]
Add(n) == Len(log) < 2 /\ log' = Append(log, [n |-> n, of |-> {a}]) /\ UNCHANGED front
Pass(r) == front[r] < Len(log) /\ front' = [front EXCEPT ![r] = @ + 1] /\ UNCHANGED log
Next == (\E n \in 1 .. 2 : Add(n)) \/ (\E r \in {a, b} : Pass(r))
Spec == Init /\ [][Next]_<<log, front>> /\ WF_log(Add(1))
Bounded == \A r \in DOMAIN front : front[r] <= Len(log) /\ Cardinality(DOMAIN log) <= 2
Grows == [][Len(log') >= Len(log)]_log
Fills == <>(Len(log) = 2)
====
`

const archiveConfig = `SPECIFICATION Spec
CONSTANTS
    a = a
    b = b
INVARIANT Bounded
PROPERTIES
    Grows
    Fills
CHECK_DEADLOCK FALSE
`

// archive finds the archive for a tool, or writes it. Empty: there is none. An empty
// file says that this Java writes none, so that it is not asked again.
func archive(ctx context.Context, tool Tool, version []byte, tools string, log io.Writer) string {
	jar, err := os.Stat(tool.path())
	if err != nil {
		return ""
	}
	// Java accepts it only together with the very jar and build that it was made of.
	of := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%d\n%d\n", tool.Java, version, tool.path(), jar.Size(), jar.ModTime().UnixNano()))
	path := filepath.Join(tools, "tlc-"+hex.EncodeToString(of[:6])+".jsa")
	if have, err := os.Stat(path); err == nil {
		if have.Size() == 0 {
			return ""
		}
		return path
	}
	if err := os.MkdirAll(tools, 0o777); err != nil {
		return ""
	}
	into, err := os.MkdirTemp(tools, "archive-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(into)
	fmt.Fprintln(log, "preparing TLC for quicker starts")
	made := filepath.Join(into, "made.jsa")
	err = writeArchive(ctx, tool, into, made)
	if ctx.Err() != nil {
		return "" // another time
	}
	if err != nil {
		_ = os.WriteFile(made, nil, 0o666)
	}
	if os.Rename(made, path) != nil || err != nil {
		return ""
	}
	return path
}

// path is the jar without symbolic links: Java compares it with that of the archive.
func (t Tool) path() string {
	if path, err := filepath.EvalSymlinks(t.Jar); err == nil {
		return path
	}
	return t.Jar
}

// writeArchive lets TLC check the small model, and Java write down what it loaded.
func writeArchive(ctx context.Context, tool Tool, dir, made string) error {
	for name, text := range map[string]string{"Archive.tla": archiveModel, "Archive.cfg": archiveConfig} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, archiveLimit)
	defer cancel()
	o := Options{Module: "Archive.tla", Config: "Archive.cfg", Short: true, Heap: "512m"}
	cmd := exec.CommandContext(ctx, tool.Java, append([]string{"-XX:ArchiveClassesAtExit=" + made}, o.arguments(tool, dir)...)...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return err
	}
	if !bytes.Contains(out, []byte("No error has been found")) {
		return fmt.Errorf("tlc: %s", clip(string(out), 200))
	}
	_, err = os.Stat(made)
	return err
}
