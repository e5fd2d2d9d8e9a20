package load

import (
	"context"
	"io"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/layout"
)

// Request is one load: of files, of values that come over a connection, or of rows for a generation.
type Request struct {
	// Dir is the load's own directory, which is empty. The generation is made there.
	Dir     string
	Options option.Options
	// Put is set if the values come over Conn.
	Put  *put.Header
	Conn io.Reader
	// Append is set if the rows are appended to a generation; the options are that one's.
	Append *Append
	// LeaveMapped says that the process ends with the load, so that nothing need be unmapped.
	LeaveMapped bool
}

// Run does a load. On an error the directory holds nothing that was published. The error is a
// [loaderr.SourceError], a [loaderr.OptionError], a [loaderr.NoSpaceError], of ctx, or of the system.
func Run(ctx context.Context, r Request, m *progress.Meter) (manifest *layout.Manifest, err error) {
	path := ""
	if len(r.Options.Sources) > 0 {
		path = r.Options.Sources[0]
	}
	if r.Append != nil {
		err = parallel.Guard(path, func() error {
			manifest, err = r.append(ctx, m)
			return err
		})
		return manifest, err
	}
	l := newLoad(r.Dir, r.Options, m)
	l.leaveMapped = r.LeaveMapped
	err = parallel.Guard(path, func() error {
		manifest, err = l.readRequest(ctx, r)
		return err
	})
	if err != nil {
		return nil, l.failed(err)
	}
	return manifest, nil
}

// readRequest loads files, or the values of a put.
func (l *load) readRequest(ctx context.Context, r Request) (*layout.Manifest, error) {
	if r.Put != nil {
		return l.runPut(ctx, *r.Put, r.Conn)
	}
	return l.run(ctx)
}
