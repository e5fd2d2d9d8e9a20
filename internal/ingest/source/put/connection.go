package put

import (
	"errors"
	"fmt"
	"io"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// connection counts the bytes that are read from a connection.
type connection struct {
	from  io.Reader
	bytes int64 // read so far
}

// Read reads from the connection and counts the bytes.
func (r *connection) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.bytes += int64(n)
	return n, err
}

// readFull fills p. If the connection ends early, it returns an error with the number of bytes read
// and the number wanted; want is the total of all columns.
func (r *connection) readFull(p []byte, want int64) error {
	_, err := io.ReadFull(r, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return endedEarly(r.bytes, want)
	}
	if err != nil {
		return &loaderr.SourceError{Reason: "the connection failed: " + err.Error()}
	}
	return nil
}

// endedEarly returns the error for a connection that ended after got of want bytes.
func endedEarly(got, want int64) error {
	return &loaderr.SourceError{
		Reason: fmt.Sprintf("the connection ended after %d of %d bytes", got, want),
		Hint:   "send all values, and keep the connection open for the answer",
	}
}
