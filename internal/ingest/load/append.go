package load

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/layout"
)

// Append is the generation that rows are appended to.
type Append struct {
	// Dir is the generation's directory. It must exist until the load ends.
	Dir string `json:"dir"`
	// Skip are paths of files, given as sources or found in folders, whose rows the generation has.
	Skip []string `json:"skip,omitempty"`
}

// AppendOptions returns the options that a generation was loaded with, for other sources. The error
// is a [loaderr.SourceError].
func AppendOptions(m *layout.Manifest, sources []string) (option.Options, error) {
	var o option.Options
	if of := m.ScaledOf; of != nil {
		return o, &loaderr.SourceError{
			Reason: fmt.Sprintf("rows cannot be appended to a scaled copy of dataset %q", of.Dataset),
			Hint:   "append them to that dataset, and scale it again",
		}
	}
	for _, c := range m.Columns {
		if c.StepsOf != nil {
			of := put.StepsOf{Dataset: c.StepsOf.Dataset, Column: c.StepsOf.Column, Changed: c.StepsOf.Changed}
			return o, &loaderr.SourceError{Column: c.Name,
				Reason: of.Description() + ", whose steps rows that are appended would not have",
				Hint:   "append them to that dataset, and put its columns again"}
		}
	}
	err := json.Unmarshal(m.Recipe, &o)
	if err == nil {
		err = o.CheckTimeFormat() // earlier versions accepted more
	}
	if err != nil {
		return o, &loaderr.SourceError{
			Reason: "rows cannot be appended with the recipe of the dataset: " + err.Error(),
			Hint:   loaderr.HintReload,
		}
	}
	o.Sources = sources
	return o, nil
}

// withoutOptions returns the error of an append. If its hint names an option, it says that an append
// has the options of its dataset.
func withoutOptions(err error) error {
	e := (*loaderr.SourceError)(nil)
	if errors.As(err, &e) && strings.Contains(e.Hint, "`") &&
		!strings.Contains(e.Hint, loaderr.HintReload) {
		e.Hint = "to change options, " + loaderr.HintReload + ": " + e.Hint
	}
	return err
}

// deltaDir is the directory, in that of the load, of the new rows before they are joined with the
// generation.
const deltaDir = "delta"

// append loads new rows with the types and fits of the generation, and joins them with it.
func (r Request) append(ctx context.Context,
	m *progress.Meter) (manifest *layout.Manifest, err error) {
	k, err := openBase(r.Append.Dir)
	if err != nil {
		return nil, lostIfTorn(err)
	}
	defer func() { err = errors.Join(err, k.Data.Close()) }()
	dir := filepath.Join(r.Dir, deltaDir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	l := newLoad(dir, r.Options, m)
	if err := l.appendTo(k, r.Append.Skip); err != nil {
		return nil, err
	}
	if _, err = l.readRequest(ctx, r); err != nil {
		return nil, withoutOptions(l.cleanUp(err))
	}
	delta, err := layout.Open(dir)
	if err != nil {
		return nil, err
	}
	manifest, err = k.join(ctx, l, delta, r.Dir)
	if err != nil {
		err = k.explainFull(err, r.Dir, k.Data.Manifest.Rows+delta.Manifest.Rows, l.freeSpace)
	}
	if err = errors.Join(err, delta.Close(), os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	return manifest, nil
}

// lostIfTorn returns the error of opening a generation, which was complete when the daemon opened it.
func lostIfTorn(err error) error {
	if errors.Is(err, layout.ErrTorn) || errors.Is(err, layout.ErrChecksum) {
		return &loaderr.Reported{Text: err.Error(), Err: mmapfile.ErrLost}
	}
	return err
}

// appendTo makes l a load of rows that are appended to a generation. It skips the files of skip.
func (l *load) appendTo(k *base, skip []string) error {
	features, err := l.CalendarColumns()
	if err != nil {
		return err
	}
	if m := k.Data.Manifest; l.Melt == "" {
		if len(l.ItemID) == 0 {
			l.ItemID = m.ItemID // the base's own
		}
		l.Time = cmp.Or(l.Time, m.Time)
	}
	k.all = len(l.Columns) == 0
	for _, c := range k.Data.Manifest.Columns {
		computed := slices.ContainsFunc(features,
			func(f calendar.Column) bool { return f.Name == c.Name })
		if !computed {
			k.stored = append(k.stored, c.Name)
		}
	}
	l.base, l.skip = k, skip
	return nil
}

// base is a generation that rows are appended to.
type base struct {
	step.Base
	all    bool             // it was loaded with all columns of its sources
	stored []string         // its columns that come from sources
	items  map[string]int64 // codes of items by canonical name
}

// openBase opens a generation to append rows to it.
func openBase(dir string) (*base, error) {
	d, err := layout.Open(dir)
	if err != nil {
		return nil, err
	}
	k := &base{Base: step.Base{Data: d}, items: map[string]int64{}}
	k.Offsets, err = d.ItemOffsets()
	for code := int64(0); err == nil && code < d.Manifest.Items.Count; code++ {
		var name []any
		if name, err = d.Item(code); err == nil {
			k.items[string(option.AppendParts(nil, name))] = code
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return k, nil
}

// calendarOf returns the feature of a calendar column of the generation, "" for other columns.
func (k *base) calendarOf(name string) string {
	c, err := k.Data.Manifest.Column(name)
	if err != nil {
		return "" // the load refuses it later
	}
	return c.Calendar
}

// vocab returns the words of a text column, in the order of their codes.
func vocab(d *layout.Data, column string) ([]string, error) {
	words := make([]string, d.Manifest.Vocab[column].Count)
	for code := range words {
		var err error
		if words[code], err = d.Word(column, int64(code)); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// hasItem reports whether one column names the items of the generation, and has the value.
func (k *base) hasItem(value string) bool {
	_, ok := k.items[string(option.AppendParts(nil, []any{value}))]
	return ok
}

// texts reports which value columns are texts in the generation. None is if k is nil.
func (k *base) texts(w wanted) []bool {
	out := make([]bool, len(w.names))
	for i, name := range w.names {
		out[i] = k != nil && k.isText(name) && w.roles[i] == layout.RoleValue
	}
	return out
}

// isText reports whether a column of the generation has texts.
func (k *base) isText(name string) bool {
	c, err := k.Data.Manifest.Column(name)
	return err == nil && c.DType == layout.Text
}

// words returns the words of a text column of the generation. It is nil if k is nil.
func (k *base) words(column string) ([]string, error) {
	if k == nil {
		return nil, nil
	}
	return vocab(k.Data, column)
}

// withoutSkipped returns the files whose paths, or URLs, are not in skip.
func (l *load) withoutSkipped(found []files.SourceFile) []files.SourceFile {
	skipped := make(map[string]bool, len(l.skip))
	for _, path := range l.skip {
		skipped[path] = true
	}
	return slices.DeleteFunc(found, func(f files.SourceFile) bool {
		o := l.Staged.Of(f.Path)
		return skipped[f.Path] || o != nil && skipped[o.URL]
	})
}
