package foreign

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"

	"purgelab/linearizability/foreign/form"
)

// Format is how a history is written.
type Format string

const (
	// Auto: the first bytes of the file tell.
	Auto     Format = "auto"
	Purgelab Format = "purgelab"
	Jepsen   Format = "jepsen"
	CSV      Format = "csv"
)

// Formats lists them.
var Formats = []string{string(Auto), string(Purgelab), string(Jepsen), string(CSV)}

// looksFar is how much of a file tells its format: a few operations.
const looksFar = 8 << 10

// edn finds the map of an operation, or what may stand around it; jepsenJSON what
// an operation of Jepsen has and one of ours has not: an index, and a list as its
// value, or none at all.
var (
	edn        = regexp.MustCompile(`^[\s,]*(;|[\[(]?[\s,]*(\{\s*:|#jepsen))`)
	jepsenJSON = regexp.MustCompile(`^\s*(\[|\{[^{}\n]*"(index"|value"\s*:\s*(\[|null)))`)
)

// Detect tells the format of a stream, and gives it back from its beginning.
func Detect(r io.Reader) (Format, *bufio.Reader) {
	b := bufio.NewReaderSize(r, looksFar)
	head, _ := b.Peek(looksFar)
	switch text := bytes.TrimLeft(head, " \t\r\n"); {
	case edn.Match(head), jepsenJSON.Match(head):
		return Jepsen, b
	case len(text) == 0, text[0] == '{':
		return Purgelab, b
	}
	return CSV, b
}

// Read reads a history that is written in a format, which is not Auto; file is
// the name that errors give. Every error is an *Error. Operations come in the
// order of their calls, but for a table, in the order of its rows.
func Read(file string, format Format, r *bufio.Reader) ([]Op, error) {
	switch format {
	case Purgelab:
		return readLines(file, r)
	case CSV:
		return readCSV(file, r)
	case Jepsen:
		head, _ := r.Peek(looksFar)
		if edn.Match(head) || len(bytes.TrimSpace(head)) == 0 {
			return readJepsen(file, form.NewEDN(r))
		}
		return readJepsen(file, form.NewJSON(r))
	}
	return nil, fmt.Errorf("format %q: want one of %v", format, Formats[1:])
}
