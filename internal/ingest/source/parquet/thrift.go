package parquet

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// thriftReader reads what Parquet says about itself without making room for more than there is: parquet-go believes each length of a text and each
// number of elements, of which damage to one byte makes gigabytes.
type thriftReader struct {
	compactReader
	limit int64 // elements of a list, each of which takes a byte at least
}

type compactReader interface{ thrift.Reader }

// thriftAhead is how long a text may be for which room is made before it is read.
const maxTrustedLength = 64 << 10

func newThriftDecoder(from *bufio.Reader, most int64) *thrift.Decoder {
	var protocol thrift.CompactProtocol
	return thrift.NewDecoder(&thriftReader{protocol.NewReader(from), most})
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

func (r *thriftReader) checkLength(n int32, err error) error {
	if err == nil && int64(n) > r.limit {
		err = fmt.Errorf("a list of %d elements in %d bytes", n, r.limit)
	}
	return err
}

// checkFooter walks over a footer of n bytes before parquet-go makes room for what it says it holds.
func checkFooter(f *os.File, size, n int64) error {
	return newThriftDecoder(bufio.NewReaderSize(io.NewSectionReader(f, size-8-n, n), pageBuffer), n).Decode(&struct{}{})
}
