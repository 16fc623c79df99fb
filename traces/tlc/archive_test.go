package tlc

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestArchive: Java loads TLC from the archive, an archive that is none changes no
// answer, and one that cannot be written is not asked for again.
func TestArchive(t *testing.T) {
	found := tool(t)
	require.NotEmpty(t, found.Archive)
	elsewhere := filepath.Join(t.TempDir(), "linked")
	folder, err := filepath.Abs("../../.tools")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(folder, elsewhere))
	linked, err := Find(context.Background(), elsewhere, io.Discard)
	require.NoError(t, err)
	if os.Getenv(envJar) == "" {
		require.Equal(t, filepath.Base(found.Archive), filepath.Base(linked.Archive), "one archive, whatever way leads to the jar")
	}
	loads := filepath.Join(t.TempDir(), "loads")
	out, err := exec.Command(found.Java, "-XX:SharedArchiveFile="+found.Archive, "-Xlog:class+load:file="+loads, "-cp", found.Jar, "tlc2.TLC", "-help").CombinedOutput()
	require.NotEmpty(t, out, "%v", err)
	text, err := os.ReadFile(loads)
	require.NoError(t, err)
	require.Regexp(t, `tlc2\.TLC source: shared objects file \(top\)`, string(text))

	broken := found
	broken.Archive = write(t, filepath.Join(t.TempDir(), "broken.jsa"), "no archive", 0o666)
	for _, tlc := range []Tool{found, broken} {
		res, err := Run(context.Background(), tlc, Options{Dir: "testdata", Module: "Lamp.tla", Config: "pass.cfg", Heap: "512m", Timeout: time.Minute})
		require.NoError(t, err)
		require.Equal(t, Pass, res.Verdict, res.Reason)
		require.EqualValues(t, 35, res.Distinct)
		require.Empty(t, res.Output, "Java says nothing")
	}
}

func TestArchiveThatCannotBeWritten(t *testing.T) {
	tools := t.TempDir()
	jar := write(t, filepath.Join(tools, "tlc.jar"), "a jar", 0o666)
	calls := filepath.Join(t.TempDir(), "calls")
	java := write(t, filepath.Join(t.TempDir(), "java"), "#!/bin/sh\necho called >> "+calls+"\n", 0o755)
	for range 2 {
		require.Empty(t, archive(context.Background(), Tool{Java: java, Jar: jar}, []byte("17"), tools, io.Discard))
	}
	text, err := os.ReadFile(calls)
	require.NoError(t, err)
	require.Equal(t, "called\n", string(text))
	left, err := filepath.Glob(filepath.Join(tools, "archive-*"))
	require.NoError(t, err)
	require.Empty(t, left)

	ended, end := context.WithCancel(context.Background())
	end()
	require.Empty(t, archive(ended, Tool{Java: java, Jar: jar}, []byte("21"), tools, io.Discard), "interrupted")
	require.Empty(t, archive(context.Background(), Tool{Java: java, Jar: jar}, []byte("21"), tools, io.Discard))
	text, err = os.ReadFile(calls)
	require.NoError(t, err)
	require.Equal(t, "called\ncalled\n", string(text), "is asked again")
}
