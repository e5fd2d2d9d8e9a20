// Package load does one load in this process: [Run] turns the sources of a [Request] into a
// generation.
//
// The phases are the same for every format:
//
//   - readers open and describe the sources (load.go, describe.go, wanted.go);
//   - each column is planned: its steps, dtype and destination (column_plan.go, destinations.go);
//   - readers write all rows in parallel (read_rows.go), or those that filters select
//     (filtered_load.go);
//   - build.go runs all phases after reading, up to the manifest: rows are sorted, deduplicated,
//     inserted and moved (order_rows.go, regrid.go), columns are converted (convert_columns.go),
//     and steps are applied (run_steps.go).
//
// An append loads its new rows in the same way, and then joins them with the generation (append.go,
// append_join.go). formats.go lists the formats.
//
// The load struct has many methods, and the package many files, because the phases share the readers,
// columns and result of one load. A file is one phase. Code that does not need them is in packages
// rows, step and option.
package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

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

// load is one load.
type load struct {
	option.Options
	recorded option.Options // for the manifest: Options before melt changed them
	source.Settings
	meter   *progress.Meter
	sources []layout.Source
	readers []source.Reader
	wanted  wanted
	columns []column.Column            // of all sources together; set by setColumns
	plans   []columnPlan               // by column
	rows    int64                      // of the sources; after orderRows, of the result
	dicts   map[int]*column.Dictionary // by column

	writer       *layout.Writer
	scratch      *column.Scratch // columns that are read as another dtype than they are stored as
	scratchIndex map[int]int     // by column: its place in scratch
	// rows of the sources that the filters select; nil for all
	selected *rows.Map
	// of those, the rows of the result in their order; nil before orderRows
	rowOrder *rows.Map
	losses   map[int]*column.Loss // by column; of those that are stored as another dtype
	// by column; of those that are measured while they are read
	tileMoments map[int]*step.TileMoments
	capitals    []atomic.Bool // by column: booleans of text files are TRUE or FALSE
	// by column; of times in another unit than the generation's
	units map[int]string
	// by column; of integers, or of nulls, that are appended to another type
	kinds map[int]column.Kind
	// by the name of a column of a put; the columns whose values they are
	kept     map[string]keptColumn
	keptFrom map[string]*layout.Data // their generations by digest
	// the generation that rows are appended to; nil for a load
	base        *base
	skip        []string          // paths of files that are not loaded
	found       []textvalue.Found // about each text file
	notes       []layout.Note     // about rows that earlier phases left out
	leaveMapped bool              // the process ends with the load
	readAll     bool              // row groups without any selected row are read too

	// free bytes of a file system; negative if it does not report them
	freeSpace func(dir string) int64
}

// cores is the number of workers of a load, which has at least two. The daemon limits how many of
// them run at once.
var cores = runtime.GOMAXPROCS(0)

// newLoad prepares a load into a directory.
func newLoad(dir string, o option.Options, m *progress.Meter) *load {
	o = o.WithTimeName()
	l := &load{
		Options: o, recorded: o,
		Settings: source.Settings{
			AllowedRoots: o.AllowedRoots, Staged: files.NewStaged(o.Origins),
			Workers: max(2, cores), BlockBytes: files.BlockBytes,
			Text: textvalue.DefaultDialect,
			Decompression: files.Decompression{
				Dir: dir, Free: files.FreeBytes, Ratio: files.MaxRatio,
				OnRead: func(n int64) { m.Bytes.Add(n) },
			},
		},
		meter: m, units: map[int]string{}, kinds: map[int]column.Kind{},
		freeSpace: files.FreeSpace,
	}
	l.IsNamed, l.HasNumbers, l.HasTime = l.isNamed, l.hasNumbers, l.Time != ""
	return l
}

// run loads files.
func (l *load) run(ctx context.Context) (*layout.Manifest, error) {
	found, err := l.findSources()
	if err != nil {
		return nil, err
	}
	for _, s := range l.sources {
		l.meter.BytesTotal.Add(s.Bytes)
	}
	l.meter.SetPhases(l.phases())
	if l.HashSources {
		l.meter.Enter(progress.Hash)
		onRead := func(n int64) { l.meter.Bytes.Add(n) }
		if l.sources, err = l.Options.AllowedRoots.HashSources(ctx, l.sources, l.Workers,
			onRead); err != nil {
			return nil, err
		}
	}
	l.Text = l.textDialect()
	l.Settings.Found = l.foundDialect
	l.meter.Enter(progress.Count)
	if err := fault.At("ingest.count"); err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	for i, s := range l.sources {
		l.meter.SetSource(s.Path)
		before := l.meter.Bytes.Load()
		var r source.Reader
		err := parallel.Guard(s.Path, func() (err error) {
			if r, err = open(s.Path, l.Settings); err == nil {
				err = l.selectColumns(r, found[i].Parts)
			}
			return err
		})
		if err != nil {
			return nil, withPath(s.Path, err)
		}
		defer r.Close()
		if r, err = source.WithPartitions(r, found[i].Parts); err != nil {
			return nil, err
		}
		l.readers = append(l.readers, r)
		l.meter.Bytes.Store(before + s.Bytes)
	}
	l.meter.SetSource("")
	if err := l.checkDecimals(); err != nil {
		return nil, err
	}
	return l.generate(ctx)
}

// findSources sets the sources of the load. It returns them with their partitions.
func (l *load) findSources() ([]files.SourceFile, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if len(l.Sources) == 0 {
		return nil, &loaderr.OptionError{Field: "sources", Allowed: "at least one file"}
	}
	found, err := l.Options.AllowedRoots.Expand(l.Sources)
	if err != nil {
		return nil, err
	}
	found = l.withoutSkipped(found)
	if err := files.CheckDescriptors(len(found), files.DescriptorLimit()); err != nil {
		return nil, err
	}
	if l.sources, err = files.SourcesOf(found); err != nil {
		return nil, err
	}
	return found, l.Staged.Check(l.sources)
}

// withPath adds the path of a source to an error without one.
func withPath(path string, err error) error {
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) && e.Path == "" {
		e.Path = path
	}
	return err
}

// generate reads the rows of all readers and makes a generation of them.
func (l *load) generate(ctx context.Context) (m *layout.Manifest, err error) {
	closeMelted, err := l.describeReaders()
	defer func() { err = errors.Join(err, closeMelted()) }()
	if err != nil {
		return nil, err
	}
	l.meter.RowsTotal.Store(l.rows)
	if err := l.readAllRows(ctx); err != nil {
		return nil, err
	}
	return l.buildGeneration(ctx)
}

// describeReaders wraps the readers as the options say, and finds the columns of the result.
// closeMelted must be called once the rows are read.
func (l *load) describeReaders() (closeMelted func() error, err error) {
	closeMelted = func() error { return nil }
	if err := l.checkColumns(); err != nil {
		return closeMelted, err
	}
	if err := l.joinTimes(); err != nil {
		return closeMelted, err
	}
	if err := l.setDefaultRoles(); err != nil {
		return closeMelted, err
	}
	if l.Melt != "" {
		if closeMelted, err = l.melt(); err != nil {
			return closeMelted, err
		}
	}
	return closeMelted, l.describe()
}

// checkColumns refuses sources without columns.
func (l *load) checkColumns() error {
	for _, r := range l.readers {
		if len(r.Names()) == 0 {
			return &loaderr.SourceError{
				Path: r.Path(), Reason: "has no columns", Hint: "write it with at least one column",
			}
		}
	}
	return nil
}

// joinTimes wraps the readers of sources whose times are in several columns.
func (l *load) joinTimes() error {
	if len(l.TimeParts) == 0 {
		return nil
	}
	hides := len(l.Columns) > 0 && !slices.Contains(l.Columns, l.Time)
	for i, r := range l.readers {
		var err error
		l.readers[i], err = source.WithTimeParts(r, l.Time, l.TimeParts, hides, l.Dir)
		if err != nil {
			return err
		}
	}
	return nil
}

// clear removes the result, so that createResult can make another.
func (l *load) clear() error {
	if err := l.abort(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(l.Dir, layout.DataFile)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// abort closes the result and the files of scratch.
func (l *load) abort() error {
	var errs []error
	if l.scratch != nil {
		errs = append(errs, l.scratch.Close())
		l.scratch = nil
	}
	if l.writer != nil {
		errs = append(errs, l.writer.Abort())
		l.writer = nil
	}
	errs = append(errs, l.rowOrder.Close(), l.selected.Close())
	l.rowOrder, l.selected = nil, nil
	return errors.Join(errs...)
}

// cleanUp removes the result of a load that failed, and returns its error, or a better reason for
// it: a source that has changed, or a full disk.
func (l *load) cleanUp(err error) error {
	_ = l.abort() // err is the error to report
	_ = os.Remove(filepath.Join(l.Dir, layout.DataFile))
	if changed := l.Options.AllowedRoots.Unchanged(l.sources); changed != nil {
		return changed // any other error may come from it
	}
	if missed := l.Staged.Err(); missed != nil {
		return missed // any other error may come from it
	}
	return l.explainFull(err)
}
