package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
)

// Prepared lists the steps that a load applied to a column's values before it scaled them, in this
// order: fill, clip, log1p, diff, winsorize.
type Prepared struct {
	// Fill is value, mean, forward, backward, linear or "".
	Fill string `json:"fill,omitempty"`
	// FillValue are the numbers that value and mean filled with. There is one for value, and one
	// per feature for mean, or per item and feature if FillPer is item. A manifest of an earlier
	// version may have integers beyond 2^53 here and as bounds. They are read as the nearest
	// float64.
	FillValue Floats   `json:"fill_value,omitempty"`
	FillPer   string   `json:"fill_per,omitempty"`
	ClipLow   *float64 `json:"clip_low,omitempty"`
	ClipHigh  *float64 `json:"clip_high,omitempty"`
	Log1p     bool     `json:"log1p,omitempty"`
	Diff      bool     `json:"diff,omitempty"`
	// First is, per item and feature, the value that the first difference starts from (after
	// log1p). It is nil if there are too many to store.
	First Floats `json:"first,omitempty"`
	// Last is, stored like First, the value of the last row (after log1p). The first difference of
	// appended rows starts from it.
	Last Floats `json:"last,omitempty"`
	// Winsorize are the bounds that the values were clipped at; nil if they were not.
	Winsorize *Winsorize `json:"winsorize,omitempty"`
	// Before lists the cells that were missing before the fill; nil if none was.
	Before *BeforeFill `json:"before,omitempty"`
}

// BeforeFill names the files that list what was missing before a fill.
type BeforeFill struct {
	Missing int64 `json:"missing"` // cells
	// ListFile lists the rows with missing cells, as [MissingRows].
	ListFile
	// Cells has such a list for each feature, see [AppendFeature], of rows in which its value was
	// missing. It is nil unless a row had both missing and other values. Version 0.1 wrote none.
	Cells *ListFile `json:"cells,omitempty"`
}

// ListFile is a file of lists of rows.
type ListFile struct {
	File  string `json:"file"`
	XXH64 string `json:"xxh64"` // of the file's bytes
	// Runs are the file's bytes, for [Writer.Finish]; otherwise nil.
	Runs []byte `json:"-"`
}

// write writes the file into a generation's directory.
func (f *ListFile) write(dir, name string) error {
	f.File, f.XXH64 = name, formatHash(xxhash.Sum64(f.Runs))
	err := os.WriteFile(filepath.Join(dir, name), f.Runs, 0o600)
	f.Runs = nil
	return err
}

// lists returns all list files, by the names that they must have.
func (m *Manifest) lists() iter.Seq2[string, *ListFile] {
	return func(yield func(string, *ListFile) bool) {
		if m.ScaledOf != nil && !yield(FitRowsFile, &m.ScaledOf.FitRows) {
			return
		}
		for _, c := range m.Columns {
			if c.Prepared == nil || c.Prepared.Before == nil {
				continue
			}
			b := c.Prepared.Before
			if !yield(BeforeFillFile(c.Name), &b.ListFile) ||
				b.Cells != nil && !yield(FilledCellsFile(c.Name), b.Cells) {
				return
			}
		}
	}
}

// BeforeFill returns the rows of a column with cells that were missing before the load filled them, or
// nil if it filled none.
func (d *Data) BeforeFill(c *ManifestColumn) (MissingRows, error) {
	if c.Prepared == nil || c.Prepared.Before == nil {
		return nil, nil
	}
	b, err := d.list(c.Prepared.Before.ListFile)
	if err != nil {
		return nil, err
	}
	return ParseMissingRows(b, c.Shape[0], max(c.Width(), 1))
}

// FitRows returns the rows that a scaled copy was fitted to, nil for another generation.
func (d *Data) FitRows() (MissingRows, error) {
	if d.Manifest.ScaledOf == nil {
		return nil, nil
	}
	b, err := d.list(d.Manifest.ScaledOf.FitRows)
	if err != nil {
		return nil, err
	}
	return ParseMissingRows(b, d.Manifest.Rows, 1)
}

// list returns the bytes of a list.
func (d *Data) list(f ListFile) ([]byte, error) {
	m := d.listMaps[f.File]
	return m.Bytes(0, m.Len())
}

// AppendFeature appends the list of the next feature to those of a column, after its length in bytes
// as an unsigned varint.
func AppendFeature(lists, next []byte) []byte {
	return append(binary.AppendUvarint(lists, uint64(len(next))), next...)
}

// FilledCells returns, for each feature of a column, the rows in which its value was missing before the
// load filled it. It returns nil if the load filled none, and an error that wraps ErrNotStored if
// version 0.1 made the generation and a row was filled in part.
func (d *Data) FilledCells(c *ManifestColumn) ([]MissingRows, error) {
	runs, err := d.BeforeFill(c)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	width, rows := max(c.Width(), 1), c.Shape[0]
	features := make([]MissingRows, width)
	if c.Prepared.Before.Cells == nil {
		for i, r := range runs {
			if r.Cells != width {
				return nil, fmt.Errorf("column %q: %d of %d values of row %d were filled: %w", c.Name,
					r.Cells, width, r.Row, ErrNotStored)
			}
			runs[i].Cells = 1
		}
		for i := range features {
			features[i] = runs
		}
		return features, nil
	}
	b, err := d.list(*c.Prepared.Before.Cells)
	if err != nil {
		return nil, err
	}
	_, want := runs.Count()
	for i := range features {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, fmt.Errorf("%w: column %q: the list of filled cells ends in feature %d", ErrTorn, c.Name, i)
		}
		if features[i], err = ParseMissingRows(b[size:][:n], rows, 1); err != nil {
			return nil, err
		}
		b = b[size:][n:]
		_, cells := features[i].Count()
		want -= cells
	}
	if want != 0 || len(b) > 0 {
		return nil, fmt.Errorf("%w: column %q: the list of filled cells is not that of its rows", ErrTorn, c.Name)
	}
	return features, nil
}

// CopyBeforeFill returns a copy of what the generation stores about the cells that were missing
// before the fill, for [Writer.Finish]; nil if there is nothing.
func (d *Data) CopyBeforeFill(c *ManifestColumn) (copied *BeforeFill, err error) {
	if c.Prepared == nil || c.Prepared.Before == nil {
		return nil, nil
	}
	before := c.Prepared.Before
	copied = &BeforeFill{Missing: before.Missing}
	if copied.Runs, err = d.copyList(before.ListFile); err != nil || before.Cells == nil {
		return copied, err
	}
	copied.Cells = &ListFile{}
	copied.Cells.Runs, err = d.copyList(*before.Cells)
	return copied, err
}

func (d *Data) copyList(f ListFile) ([]byte, error) {
	b, err := d.list(f)
	return bytes.Clone(b), err
}
