// Package load does one load in this process: [Run] turns the sources of a [Request] into a generation.
//
// The order is always the same, whatever the format. The readers say what the sources hold
// (describe.go); it is planned what becomes of each column (column_plan.go); the result is laid out, and
// the readers write to it in parallel (load.go); rows are filtered, sorted and moved (filtered_load.go,
// arrange.go); steps are done (prepare.go); the manifest is written (finish.go). An append loads its new
// rows so, and then joins both (append.go, append_join.go). formats.go lists the formats.
package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// load is one load in the child.
type load struct {
	option.Options
	asked option.Options // before they were melted: what stands in the manifest
	source.Settings
	meter   *progress.Meter
	sources []layout.Source
	readers []source.Reader
	wanted  wanted
	columns []column.Column            // as resolved over all sources; set by setColumns
	plans   []columnPlan               // of the columns
	rows    int64                      // of the sources, and of the result once they are moved
	dicts   map[int]*column.Dictionary // by column

	writer      *layout.Writer
	stage       *column.Scratch // the columns that are scaled before they are narrowed
	staged      map[int]int
	kept        *rows.Map                 // which rows of the sources the filters let through; nil if all are
	order       *rows.Map                 // which of those are the rows of the result; nil until they are known
	losses      map[int]*column.Loss      // by column, of those that are stored as another dtype
	seenTiles   map[int]*step.TileMoments // by column, of those that are measured while they are read
	units       map[int]string            // by column, of times that are read in another unit than the generation's
	base        *base                     // the generation to which the rows are appended; nil for a load
	skip        []string                  // files that are left out
	leaveMapped bool                      // the process ends with the load
	whole       bool                      // every row is read, also where it is known that it is not kept

	available func(dir string) int64 // bytes that a file system takes, negative where it does not tell
}

// cores are what a load has at most; how many it may use at once is told by the daemon (see obey).
var cores = runtime.GOMAXPROCS(0)

// newLoad prepares a load into a directory.
func newLoad(dir string, o option.Options, m *progress.Meter) *load {
	return &load{units: map[int]string{}, Options: o, asked: o, Settings: source.Settings{Reach: o.Reach, Workers: max(2, cores), BlockBytes: files.BlockBytes, Text: textvalue.DefaultDialect, Decompression: files.Decompression{Dir: dir, Free: files.FreeBytes, Ratio: files.MaxRatio, OnRead: func(n int64) { m.Bytes.Add(n) }}}, meter: m, available: files.FreeSpace}
}

// run does the whole load of files.
func (l *load) run(ctx context.Context) (*layout.Manifest, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if len(l.Sources) == 0 {
		return nil, &loaderr.OptionError{Field: "sources", Allowed: "at least one file"}
	}
	found, err := l.Options.Reach.Expand(l.Sources)
	if err != nil {
		return nil, err
	}
	found = leftOut(found, l.skip)
	if err := files.CheckDescriptors(len(found), files.DescriptorLimit()); err != nil {
		return nil, err
	}
	if l.sources, err = files.SourcesOf(found); err != nil {
		return nil, err
	}
	for _, s := range l.sources {
		l.meter.BytesTotal.Add(s.Bytes)
	}
	l.meter.SetPhases(l.phases())
	if l.HashSources {
		l.meter.Enter(progress.Hash)
		if l.sources, err = l.Options.Reach.HashSources(ctx, l.sources, l.Workers, func(n int64) { l.meter.Bytes.Add(n) }); err != nil {
			return nil, err
		}
	}
	l.Text = l.Dialect()
	l.meter.Enter(progress.Count)
	if err := fault.At("ingest.count"); err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	for i, s := range l.sources {
		l.meter.SetSource(s.Path)
		before := l.meter.Bytes.Load()
		var r source.Reader
		err := parallel.Guard(s.Path, func() (err error) {
			r, err = open(s.Path, l.Settings)
			return err
		})
		if err != nil {
			return nil, inSource(s.Path, err)
		}
		defer r.Close()
		if r, err = source.WithPartitions(r, found[i].Parts); err != nil {
			return nil, err
		}
		l.readers = append(l.readers, r)
		l.meter.Bytes.Store(before + s.Bytes)
	}
	l.meter.SetSource("")
	return l.convert(ctx)
}

// inSource names the source in an error that does not.
func inSource(path string, err error) error {
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) && e.Path == "" {
		e.Path = path
	}
	return err
}

// convert turns the readers' rows into a generation.
func (l *load) convert(ctx context.Context) (*layout.Manifest, error) {
	if l.Melt {
		if err := l.melt(); err != nil {
			return nil, err
		}
	}
	if err := l.describe(); err != nil {
		return nil, err
	}
	l.meter.RowsTotal.Store(l.rows)
	if err := l.fillAll(ctx); err != nil {
		return nil, err
	}
	return l.transform(ctx)
}

// fillAll lays the result out and fills it, again with wider columns where the first cells of a file promised too much.
func (l *load) fillAll(ctx context.Context) error {
	for {
		if err := l.newDictionaries(); err != nil {
			return err
		}
		fill := l.fill
		if l.Filters() {
			fill = l.fillKept
		}
		var wider *source.WidenError
		err := fill(ctx)
		if !errors.As(err, &wider) {
			return err
		}
		if err := l.widen(wider); err != nil {
			return err
		}
		if err := l.clear(); err != nil {
			return err
		}
	}
}

// lay creates the generation's file, and the scratch.
func (l *load) lay() error {
	t, stage := l.tables()
	err := l.checkSpace()
	if err != nil {
		return err
	}
	if l.writer, err = layout.Create(l.Dir, t); err != nil {
		return err
	}
	if len(stage.Columns) > 0 {
		l.stage, err = column.NewScratch(l.Dir, stage)
	}
	return err
}

// startReading begins the phase in which the sources are read.
func (l *load) startReading() error {
	if err := fault.At("ingest.fill"); err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	l.losses = map[int]*column.Loss{}
	for i := range l.columns {
		if l.plans[i].narrowed {
			l.losses[i] = &column.Loss{}
		}
	}
	l.meter.Enter(progress.Read)
	return nil
}

// fill lets every reader write its rows, one source after the other.
func (l *load) fill(ctx context.Context) error {
	if err := l.lay(); err != nil {
		return err
	}
	if err := l.startReading(); err != nil {
		return err
	}
	l.newTiles()
	var row0 int64
	var wider *source.WidenError
	for _, r := range l.readers {
		err := l.read(ctx, r, row0, l.destRead)
		if again := (*source.WidenError)(nil); errors.As(err, &again) {
			wider = wider.Merge(again)
		} else if err != nil {
			return err
		}
		row0 += r.Rows()
	}
	if wider != nil {
		return wider
	}
	return nil
}

// read lets a reader write its columns to their destinations, from a row on.
func (l *load) read(ctx context.Context, r source.Reader, row0 int64, dest func(i int) layout.ColumnWriter) error {
	w, err := l.wanted.in(r.Path(), l.readers[0].Path(), r.Names())
	if err != nil {
		return err
	}
	to := make([]source.Target, len(l.columns))
	for i, c := range l.columns {
		if unit, ok := l.units[i]; ok {
			c.Unit = unit
		}
		to[i] = source.Target{Want: w[i], Column: c, Dest: column.Sink{ColumnWriter: dest(i), Loss: l.losses[i]}, Row0: row0, Words: l.dicts[i]}
		if m := l.seenTiles[i]; m != nil {
			to[i].Observer = m
		}
	}
	if err := fault.At("ingest.read"); err != nil {
		return fmt.Errorf("read %s: %w", r.Path(), err)
	}
	l.meter.SetSource(r.Path())
	defer l.meter.SetSource("")
	return inSource(r.Path(), parallel.Guard(r.Path(), func() error {
		err := r.Fill(ctx, to, l.meter)
		for i := range l.columns {
			if unit, ok := l.units[i]; ok && err == nil {
				err = rescale(r, l.columns[i], dest(i), row0, unit, l.columns[i].Unit)
			}
		}
		return err
	}))
}

// clear takes back what lay has made.
func (l *load) clear() error {
	if err := l.abort(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(l.Dir, layout.DataFile)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (l *load) abort() error {
	var errs []error
	if l.stage != nil {
		errs = append(errs, l.stage.Close())
		l.stage = nil
	}
	if l.writer != nil {
		errs = append(errs, l.writer.Abort())
		l.writer = nil
	}
	errs = append(errs, l.order.Close(), l.kept.Close())
	l.order, l.kept = nil, nil
	return errors.Join(errs...)
}

// failed gives back what was laid out, and returns the error with what is known about it.
func (l *load) failed(err error) error {
	_ = l.abort() // the load has failed already
	_ = os.Remove(filepath.Join(l.Dir, layout.DataFile))
	if changed := l.Options.Reach.Unchanged(l.sources); changed != nil {
		return changed // whatever was made of it
	}
	return l.explain(err)
}
