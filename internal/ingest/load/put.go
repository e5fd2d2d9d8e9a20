package load

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/arrow"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/layout"
)

// runPut loads values that a connection sends.
func (l *load) runPut(ctx context.Context, p put.Header, conn io.Reader,
	kept map[string]string) (m *layout.Manifest, err error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := l.Dialect().CheckUnused("a put"); err != nil {
		return nil, err
	}
	if l.HashSources {
		return nil, &loaderr.OptionError{Field: "hash_sources",
			Allowed: "it for files only, not for a put"}
	}
	if conn == nil {
		return nil, errors.New("a put without a connection")
	}
	l.sources = []layout.Source{}
	l.meter.Enter(progress.Count)
	if err := fault.At("ingest.count"); err != nil {
		return nil, fmt.Errorf("receive values: %w", err)
	}
	defer func() { err = errors.Join(err, l.closeKept()) }()
	if err := l.openKept(p.Columns, kept); err != nil {
		return nil, err
	}
	var r source.Reader
	switch p.Format {
	case put.FormatColumns:
		r, err = put.Open(p.Columns, conn, l.Dir)
	case put.FormatArrow:
		r, err = arrow.OpenStream(conn, l.Dir, l.Workers, l.IsNamed, l.meter)
	default:
		err = &loaderr.OptionError{
			Field: "format", Value: p.Format, Allowed: put.FormatColumns + " or " + put.FormatArrow,
		}
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if s, ok := r.(source.Sized); ok {
		l.meter.BytesTotal.Store(s.Size())
	}
	l.meter.SetPhases(l.phases())
	l.readers = []source.Reader{r}
	return l.generate(ctx)
}
