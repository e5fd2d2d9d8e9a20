package load

import (
	"context"
	"io"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// Request is one load: of files, of values that a connection sends, of rows that are appended, or a
// scaled copy.
type Request struct {
	// Dir is an empty directory of the load. It becomes the generation.
	Dir     string
	Options option.Options
	// Put is set if Conn sends the values.
	Put  *put.Header
	Conn io.Reader
	// Kept are the directories of the generations that columns of the put are of, by digest. They
	// must exist until the load ends.
	Kept map[string]string
	// Append is set if rows are appended to a generation. Options are then those of
	// [AppendOptions].
	Append *Append
	// Scaled is set if a scaled copy of a generation is made. Options are then zero.
	Scaled *Scaled
	// LeaveMapped leaves the result mapped, because the process ends with the load.
	LeaveMapped bool
}

// Run does a load. If it returns an error, Dir has no manifest. The error is a
// [loaderr.SourceError], a [loaderr.OptionError], a [loaderr.NoSpaceError], that of ctx, or of the
// system.
func Run(ctx context.Context, r Request, m *progress.Meter) (manifest *layout.Manifest, err error) {
	defer func() { err = origin.NamesOf(r.Options.Origins, r.Options.Sources).Error(err) }()
	path := ""
	if len(r.Options.Sources) > 0 {
		path = r.Options.Sources[0]
	}
	if r.Append != nil || r.Scaled != nil {
		err = parallel.Guard(path, func() error {
			if r.Append != nil {
				manifest, err = r.append(ctx, m)
			} else {
				manifest, err = r.scaled(ctx, m)
			}
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
		return nil, l.cleanUp(err)
	}
	return manifest, nil
}

// readRequest loads files, or the values of a put.
func (l *load) readRequest(ctx context.Context, r Request) (*layout.Manifest, error) {
	if r.Put != nil {
		return l.runPut(ctx, *r.Put, r.Conn, r.Kept)
	}
	return l.run(ctx)
}
