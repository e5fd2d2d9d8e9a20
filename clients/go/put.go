package tensorcache

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"reflect"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// PutColumn is one column of arrays to be put: what [Values], [Matrix], [Texts] and [Timestamps]
// make.
type PutColumn struct {
	Name  string  `json:"name"`
	DType string  `json:"dtype"`
	Unit  string  `json:"unit,omitempty"`
	Shape []int64 `json:"shape"`
	Bytes int64   `json:"bytes"`

	pieces [][]byte
}

// Values is a column of numbers or booleans, of shape [rows]; the slice is read by Put, not
// copied.
func Values[T Value](name string, values []T) PutColumn {
	b := bytesOf(values)
	return PutColumn{Name: name, DType: string(dtypeOf[T]()), Shape: []int64{int64(len(values))},
		Bytes: int64(len(b)), pieces: [][]byte{b}}
}

// Matrix is a column of shape [rows, width], row by row. Values that are left over make no row and
// are refused by Put.
func Matrix[T Value](name string, values []T, width int) PutColumn {
	c := Values(name, values)
	c.Shape = []int64{int64(len(values) / max(1, width)), int64(width)}
	return c
}

// Timestamps is a column of times since 1970 in a unit: s, ms, us or ns.
func Timestamps(name, unit string, values []int64) PutColumn {
	c := Values(name, values)
	c.DType, c.Unit = string(layout.Timestamp), unit
	return c
}

// Texts is a column of texts.
func Texts(name string, values []string) PutColumn {
	offsets := make([]int64, len(values)+1)
	for i, v := range values {
		offsets[i+1] = offsets[i] + int64(len(v))
	}
	text := make([]byte, 0, offsets[len(values)])
	for _, v := range values {
		text = append(text, v...)
	}
	b := bytesOf(offsets)
	return PutColumn{Name: name, DType: "utf8", Shape: []int64{int64(len(values))},
		Bytes: int64(len(b) + len(text)), pieces: [][]byte{b, text}}
}

func dtypeOf[T Value]() layout.DType {
	for dtype, goType := range goTypes {
		if goType == reflect.TypeFor[T]() && dtype.Plain() == dtype {
			return dtype
		}
	}
	return ""
}

// bytesOf sees values as bytes; every machine that a daemon runs on is little-endian.
func bytesOf[T Value](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))),
		len(values)*int(unsafe.Sizeof(*new(T))))
}

// Put puts arrays into the cache as the next generation of a dataset, and opens it. The error is of
// type SourceError for columns that do not fit each other, and InvalidRequest for an option that
// cannot be.
func (c *Cache) Put(ctx context.Context, name string, columns []PutColumn,
	o LoadOptions) (*Dataset, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	options, err := o.putOptions()
	if err != nil {
		return nil, err
	}
	heads, err := json.Marshal(columns)
	if err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer guard(ctx, conn)()
	request := wire.PutRequest{RequestHeader: hello("put"), Dataset: name, Options: options,
		Format: "columns", Columns: heads}
	var said wire.PutReply
	if err := send(conn, request, columns, &said); err != nil {
		return nil, gone(ctx, err)
	}
	return c.Generation(ctx, name, said.Generation)
}

// send sends a put and reads its answer, which may come while there is still something to send.
func send(conn *net.UnixConn, request wire.PutRequest, columns []PutColumn,
	reply *wire.PutReply) error {
	if err := sendRequest(conn, request); err != nil {
		return lastWords(conn, err)
	}
	out := bufio.NewWriterSize(conn, 1<<16)
	for _, column := range columns {
		for _, piece := range column.pieces {
			if _, err := out.Write(piece); err != nil {
				return lastWords(conn, err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return lastWords(conn, err)
	}
	files, err := receiveReply(conn, reply)
	closeAll(files)
	return err
}
