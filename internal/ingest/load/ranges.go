package load

import (
	"errors"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/origin"
)

// rangedFormat is the format of which a reader tells which bytes it reads. Files of other formats,
// and compressed files, are read as a whole.
const rangedFormat = "Parquet"

// Sizes of the ends of a file, in bytes, which tests change. The footer of most Parquet files is
// shorter. Ranges with fewer than gapBytes between them are one, because one request for both is
// faster than two.
var headBytes, tailBytes, gapBytes int64 = 4 << 10, 64 << 10, 64 << 10

// Ranges returns the bytes of staged files that Run reads and that are not staged, as far as the
// staged bytes tell. If it returns none, all of them are staged. The error is one that Run returns,
// too.
func Ranges(r Request) (missing []origin.Missing, err error) {
	defer func() { err = origin.NamesOf(r.Options.Origins, r.Options.Sources).Error(err) }()
	l := newLoad(r.Dir, r.Options, &progress.Meter{})
	err = parallel.Guard("", func() error {
		if r.Append != nil {
			k, err := openBase(r.Append.Dir)
			if err != nil {
				return err
			}
			defer k.Data.Close()
			if err := l.appendTo(k, r.Append.Skip); err != nil {
				return err
			}
		}
		missing, err = l.missing()
		return err
	})
	return missing, err
}

// missing opens the staged files and returns the bytes that the load needs besides.
func (l *load) missing() ([]origin.Missing, error) {
	found, err := l.findSources()
	if err != nil {
		return nil, err
	}
	l.Text = l.Dialect()
	wanted := make([][]origin.Range, len(found)) // by source
	readers := map[int]source.Reader{}           // by source
	opened := true
	for i, f := range found {
		r, err := l.openRanged(f)
		missed := l.Staged.Missed(f.Path)
		switch {
		case len(missed) > 0: // any error comes from them
			wanted[i], opened = append(missed, ends(l.sources[i].Bytes)...), false
		case err != nil:
			return nil, withPath(f.Path, err)
		case r == nil:
			wanted[i] = []origin.Range{{0, l.sources[i].Bytes}}
		}
		if r != nil {
			defer r.Close()
			readers[i] = r
			l.readers = append(l.readers, r)
		}
	}
	if opened && len(readers) > 0 {
		l.readAll = len(readers) < len(found) // the types of the other files are not known
		err := l.addRanges(readers, wanted)
		for i, f := range found {
			if missed := l.Staged.Missed(f.Path); len(missed) > 0 {
				wanted[i], err = append(wanted[i], missed...), nil
			}
		}
		if err != nil {
			return nil, err
		}
	}
	var out []origin.Missing
	for i, f := range found {
		o := l.Staged.Of(f.Path)
		if o == nil || o.Ranges == nil {
			continue
		}
		if need := origin.Join(wanted[i], gapBytes).Without(o.Ranges); len(need) > 0 {
			out = append(out, origin.Missing{Path: f.Path, Ranges: need})
		}
	}
	return out, nil
}

// ends returns the ranges in which most files say what they are and where their columns are.
func ends(size int64) []origin.Range {
	return []origin.Range{{0, min(headBytes, size)}, {max(0, size-tailBytes), size}}
}

// openRanged opens a file if its reader tells which bytes it reads, and otherwise returns nil.
func (l *load) openRanged(found files.SourceFile) (source.Reader, error) {
	f, err := l.Staged.Open(l.Settings.AllowedRoots, found.Path)
	if err != nil {
		return nil, files.AsSourceError(found.Path, err)
	}
	head, err := readHead(found.Path, f)
	// Rows that are melted are read before the types of the columns are known.
	if err != nil || l.Melt == option.MeltRows || !isRanged(found.Path, head) {
		f.Close()
		return nil, err
	}
	r, err := openAs(found.Path, found.Path, f, head, l.Settings, false)
	if err != nil {
		f.Close()
		return nil, err
	}
	with, err := source.WithPartitions(r, found.Parts)
	if err != nil {
		r.Close()
		return nil, err
	}
	return with, nil
}

// isRanged reports whether the first reader that matches a file tells which bytes it reads.
func isRanged(path string, head []byte) bool {
	if files.IsCompressed(head) {
		return false
	}
	for _, r := range fileReaders {
		if r.matches(path, head) {
			return r.format == rangedFormat
		}
	}
	return false
}

// addRanges adds the bytes that the readers read of their sources to wanted.
func (l *load) addRanges(readers map[int]source.Reader, wanted [][]origin.Range) (err error) {
	closeMelted, err := l.describeReaders()
	defer func() { err = errors.Join(err, closeMelted()) }()
	if err != nil {
		return err
	}
	l.newLosses()
	first := l.readers[0]
	next := 0
	var rows int64
	for i := range wanted {
		if readers[i] == nil {
			continue
		}
		r := l.readers[next] // it may melt readers[i]
		next++
		read := source.Selection{Reader: r, Rows: r.Rows()}
		if l.Filters() {
			read = l.prune(r)
		}
		if rows += read.Rows; read.Rows == 0 {
			continue
		}
		w, err := l.wanted.in(r.Path(), first.Path(), r.Names())
		if err != nil {
			return err
		}
		ranged, ok := read.Reader.(source.Ranged)
		if !ok { // a wrapper without Ranges would be a mistake, but not a wrong load
			wanted[i] = []origin.Range{{0, l.sources[i].Bytes}}
			continue
		}
		wanted[i] = append(wanted[i], ranged.Ranges(w)...)
	}
	if rows == 0 && len(readers) == len(wanted) {
		return l.noRowGroup()
	}
	return nil
}

// noRowGroup returns the error of a load whose filters drop all row groups. Their values are not
// staged, so that it cannot tell more.
func (l *load) noRowGroup() error {
	if len(l.Items) > 0 { // without an item in the bounds, it does not exist
		return &loaderr.OptionError{Field: "items", Item: true,
			Value: strings.Trim(string(l.Items[0]), `"`)}
	}
	return &loaderr.SourceError{
		Path:   l.readers[0].Path(),
		Reason: "no row matches: by its statistics, no row group has rows of the items and times",
		Hint:   "choose other bounds with `where`, or other `items`",
	}
}
