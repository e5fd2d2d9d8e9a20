package tensorcache

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// LoadOptions say what a load keeps and does. The zero value loads every column as it is. The
// fields are the flags of tensorcache load, which docs/LOADING.md describes.
type LoadOptions struct {
	// value columns to keep, in this order; nil keeps all
	Columns []string `json:"columns,omitempty"`
	ItemID  []string `json:"item_id,omitempty"` // the columns that name a row's item
	Time    string   `json:"time,omitempty"`    // the column that orders the rows of an item
	Layout  string   `json:"layout,omitempty"`  // columns or packed
	Melt    bool     `json:"melt,omitempty"`    // every column but the time is a series

	// DType, float32 or float64, is what float columns are stored as; or a map of dtypes by column,
	// with "*" for the others.
	DType any `json:"dtype,omitempty"`

	// Steps of value columns, in this order. Each is one setting for all columns, or a map of them
	// by name with "*" for the others: Fill a number, mean, forward, backward, linear; Clip
	// [2]*float64; Log1p and Diff true, or a []string of columns; Scale standard, minmax, robust,
	// maxabs.
	Fill  any `json:"fill,omitempty"`
	Clip  any `json:"clip,omitempty"`
	Log1p any `json:"log1p,omitempty"`
	Diff  any `json:"diff,omitempty"`
	Scale any `json:"scale,omitempty"`

	ScalePer string `json:"scale_per,omitempty"` // column or item
	// rows of each item that fits see, half-open; nil is open
	FitRows *[2]*int64 `json:"fit_rows,omitempty"`
	// a time that ends them: RFC 3339, a date or an integer
	FitBefore any `json:"fit_before,omitempty"`
	// a share of each item's rows that ends them
	FitFraction *float64 `json:"fit_fraction,omitempty"`
	FitSample   int64    `json:"fit_sample,omitempty"` // draw so many of these rows
	FitSeed     int64    `json:"fit_seed,omitempty"`
	// features of the time that become value columns
	Calendar []string `json:"calendar,omitempty"`

	Delimiter string `json:"delimiter,omitempty"` // between the cells of text files
	NoHeader  bool   `json:"no_header,omitempty"` // text files begin with values
	Decimal   string `json:"decimal,omitempty"`   // the decimal sign of text files
	// words of text files that stand for no value
	NA         []string `json:"na,omitempty"`
	TimeFormat string   `json:"time_format,omitempty"` // as %d/%m/%Y

	Where *LoadWhere `json:"where,omitempty"` // keep rows by their time
	Items []any      `json:"items,omitempty"` // keep these items
	// as 3/16, keep items by the hash of their names
	ItemBucket string `json:"item_bucket,omitempty"`
	Sort       bool   `json:"sort,omitempty"` // sort the rows by item and time
	// of rows with the same item and time keep first, last or mean
	Duplicates string `json:"duplicates,omitempty"`
	// a duration as 1h or an integer: insert the rows that a grid lacks
	Regrid      any  `json:"regrid,omitempty"`
	HashSources bool `json:"hash_sources,omitempty"`

	// Progress, if not nil, is told now and then how far a load of files is.
	Progress func(Job) `json:"-"`
}

// LoadWhere keeps the rows of a load whose time lies in [Time[0], Time[1]): RFC 3339, a date or an
// integer each, nil for an open end.
type LoadWhere struct {
	Time [2]any `json:"time"`
}

// Job is a load under way. Bytes are of the sources; rows and bytes are those of the phase.
type Job struct {
	Phase      string `json:"phase"` // hash, count, read, filter, arrange, scale, copy, finish
	Rows       int64  `json:"rows"`
	RowsTotal  int64  `json:"rows_total"`
	Bytes      int64  `json:"bytes"`
	BytesTotal int64  `json:"bytes_total"`
	// the share of the whole work that is done; it never goes back
	Progress float64  `json:"progress"`
	EtaS     *float64 `json:"eta_s"` // seconds that are left; nil while that is not known
}

// Load loads files and folders into the next generation of a dataset, and opens it. Sources may be
// patterns as *.csv. The same sources, unchanged, with the same options are there already and cost
// nothing. The context's end takes the load back, unless others wait for it too. The error names
// file, column and row that are to blame.
func (c *Cache) Load(ctx context.Context, name string, sources []string,
	o LoadOptions) (*Dataset, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	paths, err := absolutePaths(sources)
	if err != nil {
		return nil, err
	}
	request := struct {
		Sources []string `json:"sources"`
		LoadOptions
	}{paths, o}
	return c.runJob(ctx, name, "/load", request, o.Progress)
}

// AppendOptions are those of an append; the zero value will do.
type AppendOptions struct {
	// HashSources compares sources by what they hold, instead of by the time of their last change.
	HashSources bool
	// Progress, if not nil, is told now and then how far it is.
	Progress func(Job)
}

// Append makes a new generation of a dataset: the rows of the newest one and, behind those of their
// items, the rows of more files, prepared as the dataset was. Sources that it has already,
// unchanged, are passed over. Otherwise it is as Load.
func (c *Cache) Append(ctx context.Context, name string, sources []string,
	o AppendOptions) (*Dataset, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	paths, err := absolutePaths(sources)
	if err != nil {
		return nil, err
	}
	return c.runJob(ctx, name, "/append",
		wire.Append{Sources: paths, HashSources: o.HashSources}, o.Progress)
}

// follow begins a job, waits for its end, and opens what it made.
func (c *Cache) runJob(ctx context.Context, name, action string, request any,
	progress func(Job)) (*Dataset, error) {
	var job wire.Job
	if err := c.control.Post(ctx, control.Dataset(name, action), request, &job); err != nil {
		return nil, clientError(err)
	}
	for owner := job.Owner; !job.Ended(); {
		if progress != nil {
			progress(Job{job.Phase, job.Rows, job.RowsTotal, job.Bytes, job.BytesTotal,
				job.Progress, job.EtaS})
		}
		err := c.control.Get(ctx, "/v1/jobs/"+job.Job+"?wait_ms=200", &job)
		if ctx.Err() != nil {
			_ = c.control.Delete(context.WithoutCancel(ctx), "/v1/jobs/"+job.Job+
				"?owner="+owner, &job)
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, clientError(err)
		}
	}
	if job.Error != nil {
		return nil, clientError(job.Error)
	}
	return c.Generation(ctx, name, job.Generation)
}

// absolute are the sources as absolute paths: the daemon works in another directory. A pattern that
// names no file itself stands for the files and folders it matches, but for hidden ones.
func absolutePaths(sources []string) ([]string, error) {
	var out []string
	for _, source := range sources {
		abs, err := filepath.Abs(source)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(abs); err == nil || !strings.ContainsAny(source, "*?[") {
			out = append(out, abs)
			continue
		}
		matches, err := filepath.Glob(abs)
		if err != nil {
			return nil, errorf(SourceError, "sources", "%q is no pattern: %v", source, err)
		}
		matches = slices.DeleteFunc(matches,
			func(m string) bool { return strings.HasPrefix(filepath.Base(m), ".") })
		if len(matches) == 0 {
			return nil, noMatch(source)
		}
		out = append(out, matches...)
	}
	if len(out) == 0 {
		return nil, errorf(SourceError, "sources", "sources: got none, want at least one file")
	}
	return out, nil
}

func noMatch(pattern string) *Error {
	e := errorf(SourceError, "sources", "no file matches %q", pattern)
	e.Hint = "look at the folder and the pattern; hidden files match none"
	return e
}

// putOptions are the options of a put as JSON.
func (o LoadOptions) encode() (json.RawMessage, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, errorf(InvalidRequest, "options", "options: %v", err)
	}
	return b, nil
}
