package tensorcache

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"reflect"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// PutColumn is a column of Put. [Values], [Matrix], [Texts] and [Timestamps] return one.
type PutColumn struct {
	Name  string  `json:"name"`
	DType string  `json:"dtype"`
	Unit  string  `json:"unit,omitempty"`
	Shape []int64 `json:"shape"`
	Bytes int64   `json:"bytes"`
	// NamedOnly is true if windows include the column only where a spec names it, as they do texts
	// and durations.
	NamedOnly bool `json:"named_only,omitempty"`

	payload [][]byte
}

// Values returns a column of numbers or truth values, of shape [rows]. It does not copy the slice,
// which Put reads.
func Values[T Value](name string, values []T) PutColumn {
	b := bytesOfValues(values)
	return PutColumn{Name: name, DType: string(dtypeOf[T]()), Shape: []int64{int64(len(values))},
		Bytes: int64(len(b)), payload: [][]byte{b}}
}

// Matrix returns a column of shape [rows, width], whose rows are one after the other in values. It
// does not copy the slice. Put refuses it if len(values) is not a multiple of width.
func Matrix[T Value](name string, values []T, width int) PutColumn {
	c := Values(name, values)
	c.Shape = []int64{int64(len(values) / max(1, width)), int64(width)}
	return c
}

// Timestamps returns a column of times since 1970, in unit s, ms, us or ns. It does not copy the
// slice.
func Timestamps(name, unit string, values []int64) PutColumn {
	c := Values(name, values)
	c.DType, c.Unit = string(layout.Timestamp), unit
	return c
}

// Texts returns a column of texts. It copies them.
func Texts(name string, values []string) PutColumn {
	offsets := make([]int64, len(values)+1)
	for i, v := range values {
		offsets[i+1] = offsets[i] + int64(len(v))
	}
	text := make([]byte, 0, offsets[len(values)])
	for _, v := range values {
		text = append(text, v...)
	}
	b := bytesOfValues(offsets)
	return PutColumn{Name: name, DType: "utf8", Shape: []int64{int64(len(values))},
		Bytes: int64(len(b) + len(text)), payload: [][]byte{b, text}}
}

func dtypeOf[T Value]() layout.DType {
	for dtype, goType := range goTypes {
		if goType == reflect.TypeFor[T]() && dtype.Plain() == dtype {
			return dtype
		}
	}
	return ""
}

// Put stores arrays as the next generation of a dataset, and opens it. If the newest generation is a
// put of the same values and options, Put makes no new one. A slice that [Column] returned
// keeps the steps of its column, if it has all rows: see docs/LOADING.md. Options of text files and
// Progress do not apply. The error is of type SourceError for columns of different lengths, and of
// type InvalidRequest for an option that is not allowed.
func (c *Cache) Put(ctx context.Context, name string, columns []PutColumn,
	o LoadOptions) (*Dataset, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	options, err := o.encode()
	if err != nil {
		return nil, err
	}
	sent := make([]sentColumn, len(columns))
	for i, column := range columns {
		sent[i] = c.sent(column)
	}
	header, err := json.Marshal(sent)
	if err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer interruptOn(ctx, conn)()
	request := wire.PutRequest{RequestHeader: requestHeader("put"), Dataset: name, Options: options,
		Format: "columns", Columns: header}
	var reply wire.PutReply
	if err := sendPut(conn, request, columns, &reply); err != nil {
		return nil, connectionError(ctx, err)
	}
	return c.Generation(ctx, name, reply.Generation)
}

// sendPut sends a put and reads the reply, which may come before everything was sent.
func sendPut(conn *net.UnixConn, request wire.PutRequest, columns []PutColumn,
	reply *wire.PutReply) error {
	if err := sendRequest(conn, request); err != nil {
		return finalError(conn, err)
	}
	out := bufio.NewWriterSize(conn, 1<<16)
	for _, column := range columns {
		for _, piece := range column.payload {
			if _, err := out.Write(piece); err != nil {
				return finalError(conn, err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return finalError(conn, err)
	}
	files, err := receiveReply(conn, reply)
	closeAll(files)
	return err
}
