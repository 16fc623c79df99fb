package tlc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
	return path
}

// fakeTools puts programs named java and mvn, as far as asked for, alone in PATH.
func fakeTools(t *testing.T, java, mvn bool, mvnDoes string) {
	t.Helper()
	bin := t.TempDir()
	if java {
		write(t, filepath.Join(bin, "java"), javaSays(`openjdk version "17.0.15"`), 0o755)
	}
	if mvn {
		write(t, filepath.Join(bin, "mvn"), "#!/bin/sh\n"+mvnDoes+"\n", 0o755)
	}
	t.Setenv("PATH", bin)
	t.Setenv("JAVA_HOME", "")
	t.Setenv(envJar, "")
	t.Setenv(envSum, "")
}

func TestMissingJavaSaysWhatToInstall(t *testing.T) {
	fakeTools(t, false, true, "")
	_, err := Find(context.Background(), t.TempDir(), io.Discard)
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "apt-get install openjdk-17-jre-headless")
	require.ErrorContains(t, err, "JAVA_HOME")

	t.Setenv("JAVA_HOME", t.TempDir())
	_, err = Find(context.Background(), t.TempDir(), io.Discard)
	require.ErrorIs(t, err, ErrMissing)
}

func javaSays(words string) string { return "#!/bin/sh\necho '" + words + "' >&2\n" }

func TestJavaMustWorkAndBeNewEnough(t *testing.T) {
	for words, want := range map[string]string{
		`openjdk version "11.0.2"`:  "is Java 11, want 17 or newer",
		`java version "1.8.0_292"`:  "is Java 8, want 17 or newer",
		"cannot open shared object": "does not name a version",
	} {
		fakeTools(t, true, false, "")
		write(t, filepath.Join(os.Getenv("PATH"), "java"), javaSays(words), 0o755)
		_, err := Find(context.Background(), t.TempDir(), io.Discard)
		require.ErrorIs(t, err, ErrMissing)
		require.ErrorContains(t, err, want)
	}
}

func TestMissingMavenSaysWhatToInstall(t *testing.T) {
	fakeTools(t, true, false, "")
	_, err := Find(context.Background(), t.TempDir(), io.Discard)
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "apt-get install maven")
	require.ErrorContains(t, err, "TLA2TOOLS_JAR")
}

func TestFailingMavenShowsItsWords(t *testing.T) {
	fakeTools(t, true, true, "echo no network here; exit 1")
	_, err := Find(context.Background(), t.TempDir(), io.Discard)
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "no network here")
}

func TestWrongChecksumIsAnError(t *testing.T) {
	sum := sha256.Sum256([]byte("not TLC"))
	have := hex.EncodeToString(sum[:])
	var wrong *ChecksumError

	fakeTools(t, true, false, "")
	tools := t.TempDir()
	jar := write(t, filepath.Join(tools, mavenBuild.file), "not TLC", 0o666)
	_, err := Find(context.Background(), tools, io.Discard)
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, ChecksumError{File: jar, Want: mavenBuild.sum, Have: have}, *wrong)

	t.Setenv(envJar, jar)
	_, err = Find(context.Background(), t.TempDir(), io.Discard)
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, have, wrong.Have)

	// Unless the caller vouches for it.
	t.Setenv(envSum, have)
	found, err := Find(context.Background(), t.TempDir(), io.Discard)
	require.NoError(t, err)
	require.Equal(t, jar, found.Jar)
	require.Equal(t, envJar, found.Source)

	// What Maven brings is verified too, and not kept.
	fakeTools(t, true, true, `for a; do case $a in -DoutputDirectory=*) printf 'not TLC' > "${a#*=}/`+mavenBuild.file+`";; esac; done`)
	tools = t.TempDir()
	_, err = Find(context.Background(), tools, io.Discard)
	require.ErrorAs(t, err, &wrong)
	left, err := os.ReadDir(tools)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestJarNamedByTheEnvironmentMustExist(t *testing.T) {
	fakeTools(t, true, false, "")
	t.Setenv(envJar, filepath.Join(t.TempDir(), "none.jar"))
	_, err := Find(context.Background(), t.TempDir(), io.Discard)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, envJar)
}

// A jar of a build that nobody knew says itself which TLC it is; one that is no TLC
// stays unknown.
func TestJarSaysItsVersion(t *testing.T) {
	tool, err := Find(context.Background(), "../../.tools", io.Discard)
	require.NoError(t, err)
	require.Regexp(t, `^TLC 2\.\d+ of `, ask(context.Background(), tool))
	tool.Jar = filepath.Join(t.TempDir(), "none.jar")
	require.Equal(t, unknownBuild, ask(context.Background(), tool))
}
