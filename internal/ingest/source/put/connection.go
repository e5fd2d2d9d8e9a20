package put

import (
	"errors"
	"fmt"
	"io"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Connection counts the bytes of a connection.
type Connection struct {
	From  io.Reader
	bytes int64
}

func (r *Connection) Read(p []byte) (int, error) {
	n, err := r.From.Read(p)
	r.bytes += int64(n)
	return n, err
}

// readFull reads all of p. A connection that ends before is an error that says how many bytes have come of how many.
func (r *Connection) readFull(p []byte, want int64) error {
	_, err := io.ReadFull(r, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return endedEarly(r.bytes, want)
	}
	if err != nil {
		return &loaderr.SourceError{Reason: "the connection failed: " + err.Error()}
	}
	return nil
}

func endedEarly(got, want int64) error {
	return &loaderr.SourceError{Reason: fmt.Sprintf("the connection ended after %d of %d bytes", got, want), Hint: "send all values, and keep the connection open for the answer"}
}
