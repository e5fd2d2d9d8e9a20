package layout

import (
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

// BeforeFill names the file that lists the cells that were missing before a fill.
type BeforeFill struct {
	Missing int64  `json:"missing"` // cells
	File    string `json:"file"`
	XXH64   string `json:"xxh64"` // of the file's bytes
	// Runs are the file's bytes, from [MissingRows.AppendBinary], for [Writer.Finish]; otherwise
	// nil.
	Runs []byte `json:"-"`
}

// write writes the file into a generation's directory.
func (b *BeforeFill) write(dir, column string) error {
	b.File, b.XXH64 = BeforeFillFile(column), formatHash(xxhash.Sum64(b.Runs))
	err := os.WriteFile(filepath.Join(dir, b.File), b.Runs, 0o600)
	b.Runs = nil
	return err
}

// BeforeFill returns a column's cells that were missing before the load filled them, or nil if it
// filled none.
func (d *Data) BeforeFill(c *ManifestColumn) (MissingRows, error) {
	if c.Prepared == nil || c.Prepared.Before == nil {
		return nil, nil
	}
	m := d.before[c.Name]
	b, err := m.Bytes(0, m.Len())
	if err != nil {
		return nil, err
	}
	return ParseMissingRows(b, c.Shape[0], max(c.Width(), 1))
}
