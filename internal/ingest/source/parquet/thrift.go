package parquet

import (
	"bufio"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// thriftReader decodes page headers and limits what it allocates. parquet-go allocates every
// declared length of a text and of a list, so one damaged byte can cost gigabytes.
type thriftReader struct {
	compactReader
	limit int64 // largest element count of a list: an element takes at least one byte
}

// compactReader is thrift.Reader under another name: an embedded field named Reader would hide the
// method Reader.
type compactReader interface{ thrift.Reader }

// maxTrustedLength is the length in bytes up to which a text is allocated before it is read.
const maxTrustedLength = 64 << 10

// newThriftDecoder returns a decoder of metadata of at most limit bytes.
func newThriftDecoder(from *bufio.Reader, limit int64) *thrift.Decoder {
	var protocol thrift.CompactProtocol
	return thrift.NewDecoder(&thriftReader{protocol.NewReader(from), limit})
}

func (r *thriftReader) ReadBytes() ([]byte, error) {
	n, err := r.ReadLength()
	if err != nil {
		return nil, err
	}
	if n <= maxTrustedLength {
		b := make([]byte, n)
		_, err := io.ReadFull(r.Reader(), b)
		return b, err
	}
	b, err := io.ReadAll(io.LimitReader(r.Reader(), int64(n)))
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

func (r *thriftReader) ReadString() (string, error) {
	b, err := r.ReadBytes()
	return string(b), err
}

func (r *thriftReader) ReadList() (thrift.List, error) {
	l, err := r.compactReader.ReadList()
	return l, r.checkLength(l.Size, err)
}

func (r *thriftReader) ReadSet() (thrift.Set, error) {
	s, err := r.compactReader.ReadSet()
	return s, r.checkLength(s.Size, err)
}

func (r *thriftReader) ReadMap() (thrift.Map, error) {
	m, err := r.compactReader.ReadMap()
	return m, r.checkLength(m.Size, err)
}

// checkLength returns an error if a list declares more elements than the limit.
func (r *thriftReader) checkLength(n int32, err error) error {
	if err == nil && int64(n) > r.limit {
		err = fmt.Errorf("a list of %d elements in %d bytes", n, r.limit)
	}
	return err
}
