package files

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// gzipMagic is the first two bytes of every gzip member.
const gzipMagic = "\x1f\x8b"

// errTrailingBytes is returned if other bytes follow the gzip data. Package gzip takes them for the
// header of another member, which it calls invalid, or truncated if there are only a few bytes.
var errTrailingBytes = errors.New("other bytes follow its gzip data")

// gzipMembers reads gzip data, which may consist of several concatenated members.
type gzipMembers struct {
	from   *bufio.Reader
	member *gzip.Reader
}

// openGzip returns a reader of the decompressed data of r.
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

// Close closes the decompressor. The underlying reader stays open.
func (m *gzipMembers) Close() error { return m.member.Close() }
