package tensorcache

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// LoadOptions configure a load. The zero value loads every column as it is. The fields are the
// flags of tensorcache load, which docs/LOADING.md describes.
type LoadOptions struct {
	// Columns are the value columns to keep, in this order. Nil keeps all.
	Columns []string `json:"columns,omitempty"`
	ItemID  []string `json:"item_id,omitempty"` // the columns that name a row's item
	// the time column, by which the rows of an item rise
	Time string `json:"time,omitempty"`
	// TimeParts are the columns of year, month, day, hour, minute and second, or the first of
	// these, in this order. They make the column Time, which is called time without a name.
	TimeParts []string `json:"time_parts,omitempty"`
	// Layout is columns, packed, or auto: packed from 32 columns of numbers of one dtype on, else
	// columns. "" is columns. [Dataset.Manifest] says which it became.
	Layout string `json:"layout,omitempty"`
	// Melt makes one item of each column except Time, if it is true or columns, or of each row, if
	// it is rows.
	Melt any `json:"melt,omitempty"`

	// DType is the dtype of float columns, float32 or float64, or a map of dtypes by column, with
	// "*" for all others.
	DType any `json:"dtype,omitempty"`

	// Steps of value columns, in the order in which a load applies them. Each is one setting for
	// all columns, or a map of settings by column, with "*" for all others. Fill is a number or
	// mean, forward, backward or linear. Clip is a [2]*float64, where nil is no bound. Log1p and
	// Diff are true or a []string of columns. Winsorize is a [2]float64: quantiles of the values in
	// the fit rows, at which all values are clipped. Scale is standard, minmax, robust or maxabs.
	Fill      any `json:"fill,omitempty"`
	Clip      any `json:"clip,omitempty"`
	Log1p     any `json:"log1p,omitempty"`
	Diff      any `json:"diff,omitempty"`
	Winsorize any `json:"winsorize,omitempty"`
	Scale     any `json:"scale,omitempty"`

	ScalePer string `json:"scale_per,omitempty"` // column or item; "" is column

	// FitRows are the rows of each item to which Fill mean, Winsorize and Scale are fitted,
	// half-open; a nil bound is open. FitBefore (RFC 3339, a date, a month or an integer; see
	// [window.TimeValue]) ends these rows at a time, and FitFraction at a fraction of each item's
	// rows. The fit uses the rows that all of them allow.
	FitRows     *[2]*int64 `json:"fit_rows,omitempty"`
	FitBefore   any        `json:"fit_before,omitempty"`
	FitFraction *float64   `json:"fit_fraction,omitempty"`
	FitSample   int64      `json:"fit_sample,omitempty"` // number of these rows to draw; 0 is all
	FitSeed     int64      `json:"fit_seed,omitempty"`   // seed of FitSample

	// Calendar are features of the time that become value columns: "hour", "month_sincos", "timeF:h"
	// for all of a frequency, "age" and others. Spec.KnownColumns names them, all as "calendar".
	Calendar []string `json:"calendar,omitempty"`

	// Options of text files.
	Encoding   string   `json:"encoding,omitempty"`    // such as cp1252; "" finds it
	Delimiter  string   `json:"delimiter,omitempty"`   // between cells; "" finds it
	NoHeader   bool     `json:"no_header,omitempty"`   // the first line has values
	Decimal    string   `json:"decimal,omitempty"`     // . or ,; "" finds it
	Thousands  string   `json:"thousands,omitempty"`   // , . ' ’ _ or a blank; "" is none
	Skip       int64    `json:"skip,omitempty"`        // lines above the header
	Comment    string   `json:"comment,omitempty"`     // begins lines to skip; "" is none
	NA         []string `json:"na,omitempty"`          // cells that mean a missing value
	TimeFormat string   `json:"time_format,omitempty"` // such as %d/%m/%Y

	Where *LoadWhere `json:"where,omitempty"` // rows to keep
	Items []any      `json:"items,omitempty"` // items to keep
	// ItemBucket keeps a part of the items by the hash of their names: 3/16 is part 3, from 0, of
	// 16.
	ItemBucket string `json:"item_bucket,omitempty"`
	Sort       bool   `json:"sort,omitempty"` // sort the rows by item and time
	// Duplicates is what to keep of rows with the same item and time: first, last or mean.
	Duplicates string `json:"duplicates,omitempty"`
	// MaxDuplicates is the largest share of rows, from 0 to 1, that Duplicates may leave out; nil is
	// 0.5. More are likely several items that ItemID does not tell apart.
	MaxDuplicates *float64 `json:"max_duplicates,omitempty"`
	// Regrid inserts rows of missing values, so that times are at this distance: a duration such as
	// 1h, or an integer.
	Regrid any `json:"regrid,omitempty"`
	// HashSources compares sources with those of the last load by content, instead of by the time
	// of their last change.
	HashSources bool `json:"hash_sources,omitempty"`

	// Progress, if not nil, is called several times a second during a load of files.
	Progress func(Job) `json:"-"`
}

// LoadWhere keeps the rows of a load whose time is in [Time[0], Time[1]). A time is RFC 3339, a
// date or an integer, as [window.TimeValue] describes; nil is no bound.
type LoadWhere struct {
	Time [2]any `json:"time"`
}

// Job is the progress of a load. Rows and bytes are those of the present phase.
type Job struct {
	Phase      string `json:"phase"` // hash, count, read, filter, arrange, scale, copy or finish
	Rows       int64  `json:"rows"`
	RowsTotal  int64  `json:"rows_total"`
	Bytes      int64  `json:"bytes"` // of the sources
	BytesTotal int64  `json:"bytes_total"`
	// Progress is the fraction of all work that is done. It never falls.
	Progress float64  `json:"progress"`
	EtaS     *float64 `json:"eta_s"` // estimate of the seconds left; nil if unknown
}

// Load loads files and folders as the next generation of a dataset, and opens it. Sources may be
// patterns such as *.csv. If the newest generation was loaded from the same unchanged sources with
// the same options, Load only opens it. The end of the context cancels the load, unless another
// client waits for it too. The error is of type SourceError for a file that cannot be loaded, and
// names file, row and column; it is of type InvalidRequest for an option that is not allowed. Notes
// of the manifest say what the load assumed or left out.
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

// AppendOptions configure an append. The zero value works.
type AppendOptions struct {
	// HashSources compares sources by content, instead of by the time of their last change.
	HashSources bool
	// Progress, if not nil, is called several times a second.
	Progress func(Job)
}

// Append makes a new generation of a dataset from the newest one and more files. Each item's new
// rows follow its old ones, and get the steps with which the dataset was loaded. Append skips
// sources that the dataset already has, if they are unchanged. The context and the errors are as
// for Load.
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

// runJob starts a job, waits for its end, and opens the generation that it made.
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
	return c.Generation(ctx, job.Dataset, job.Generation)
}

// absolutePaths returns the sources as absolute paths, because the daemon has another working
// directory. A source that does not exist and is a pattern stands for the files and folders that it
// matches, without hidden ones.
func absolutePaths(sources []string) ([]string, error) {
	var out []string
	for _, source := range sources {
		abs, err := filepath.Abs(source)
		if err != nil {
			return nil, err
		}
		_, err = os.Lstat(abs)
		if scheme, _, ok := strings.Cut(source, "://"); err != nil && ok && urlScheme(scheme) {
			return nil, noURL(scheme)
		}
		if err == nil || !strings.ContainsAny(source, "*?[") {
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
	for _, path := range out {
		if !utf8.ValidString(path) {
			err := errorf(SourceError, "sources", "%q: the name is not UTF-8", path)
			err.Hint = "rename it: requests are JSON, which is UTF-8"
			return nil, err
		}
	}
	return out, nil
}

// urlScheme reports whether a text can be the scheme of a URL.
func urlScheme(text string) bool {
	return len(text) > 1 && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("+.-", r)
	})
}

// noURL returns the error for a URL, of which it quotes nothing that may be secret.
func noURL(scheme string) *Error {
	e := errorf(SourceError, "sources", "got a URL, %q, want the path of a file", scheme+"://…")
	switch strings.ToLower(scheme) {
	case "http", "https":
		e.Hint = "tensorcache load NAME URL, on the command line, loads it"
	case "file":
		e.Hint = "leave file:// out"
	default:
		e.Hint = `Python loads it: cache.load("name", "` + scheme + `://…")`
	}
	return e
}

func noMatch(pattern string) *Error {
	e := errorf(SourceError, "sources", "no file matches %q", pattern)
	e.Hint = "look at the folder and the pattern; hidden files match none"
	return e
}

// encode returns the options of a put in JSON.
func (o LoadOptions) encode() (json.RawMessage, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, errorf(InvalidRequest, "options", "options: %v", err)
	}
	return b, nil
}
