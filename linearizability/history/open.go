package history

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// The first bytes of files that are packed.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// Open opens a file of a history to be read as a stream. What gzip or zstd
// packed is unpacked on the way: the first bytes tell, not the name.
func Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	r, err := unpack(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("history: %s: %w", path, err), f.Close())
	}
	return &opened{r, f}, nil
}

func unpack(f io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(f, 256<<10)
	magic, err := b.Peek(len(zstdMagic))
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case bytes.HasPrefix(magic, gzipMagic):
		return gzip.NewReader(b)
	case bytes.HasPrefix(magic, zstdMagic):
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(b), nil
}

// opened closes what unpacks, and the file.
type opened struct {
	io.ReadCloser
	file *os.File
}

func (o *opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.file.Close()) }
