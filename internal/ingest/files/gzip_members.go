package files

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const gzipMagic = "\x1f\x8b"

// errBehind is returned where gzip data has ended and other bytes follow. The package gzip takes them for the head of more gzip data, which it
// calls invalid, or cut off where they are few.
var errTrailingBytes = errors.New("other bytes follow its gzip data")

// gzipMembers reads gzip data, which may be several pieces behind each other.
type gzipMembers struct {
	from   *bufio.Reader
	member *gzip.Reader
}

func openGzip(r io.Reader) (io.ReadCloser, error) {
	from := bufio.NewReaderSize(r, 64<<10)
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{from, z}, nil
}

func (m *gzipMembers) Read(p []byte) (int, error) {
	n, err := m.member.Read(p)
	if err != io.EOF {
		return n, err
	}
	head, err := m.from.Peek(len(gzipMagic))
	if len(head) == 0 {
		return n, err
	}
	if !strings.HasPrefix(gzipMagic, string(head)) {
		return n, errTrailingBytes
	}
	if err := m.member.Reset(m.from); err != nil {
		return n, err
	}
	m.member.Multistream(false)
	return n, nil
}

// Close ends the reading; what is read from stays open.
func (m *gzipMembers) Close() error { return m.member.Close() }
