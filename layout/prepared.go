package layout

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
)

// Prepared says what a load did to a column's values before it scaled them, in this order: fill, clip, log1p, diff.
type Prepared struct {
	// Fill is value, mean, forward, backward, linear or "".
	Fill string `json:"fill,omitempty"`
	// FillValue is what value and mean filled with: one number; for mean one per feature, or per item and feature where FillPer is
	// item. A manifest of an earlier version may have integers beyond 2^53 here and as bounds: they
	// are read as the nearest float64.
	FillValue Floats   `json:"fill_value,omitempty"`
	FillPer   string   `json:"fill_per,omitempty"`
	ClipLow   *float64 `json:"clip_low,omitempty"`
	ClipHigh  *float64 `json:"clip_high,omitempty"`
	Log1p     bool     `json:"log1p,omitempty"`
	Diff      bool     `json:"diff,omitempty"`
	// First is, per item and feature, the value that the first difference is above (after log1p); nil where there are too many to be
	// kept.
	First Floats `json:"first,omitempty"`
	// Last is, kept like First, the last row's value (after log1p): the first difference of rows that are appended is above it.
	Last Floats `json:"last,omitempty"`
	// Before says which cells were missing before the fill; nil where none was.
	Before *BeforeFill `json:"before,omitempty"`
}

// BeforeFill is where the cells that were missing before a fill are listed.
type BeforeFill struct {
	Missing int64  `json:"missing"` // cells
	File    string `json:"file"`
	XXH64   string `json:"xxh64"` // of the file's bytes
	// Runs are the file's bytes, as [MissingRows.AppendBinary] writes them, for [Writer.Finish]; nil otherwise.
	Runs []byte `json:"-"`
}

// write writes the file into a generation's directory.
func (b *BeforeFill) write(dir, column string) error {
	b.File, b.XXH64 = BeforeFillFile(column), formatHash(xxhash.Sum64(b.Runs))
	err := os.WriteFile(filepath.Join(dir, b.File), b.Runs, 0o600)
	b.Runs = nil
	return err
}

// BeforeFill are a column's cells that were missing before the load filled them; none where it filled none.
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

// Floats are float64 values of which some may be NaN: null in JSON.
type Floats []float64

// MarshalJSON writes numbers, and null for what is no finite one.
func (f Floats) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, v := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		if math.IsInf(v, 0) || v != v {
			b.WriteString("null")
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// UnmarshalJSON reads null as NaN.
func (f *Floats) UnmarshalJSON(b []byte) error {
	var in []*float64
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*f = make(Floats, len(in))
	for i, v := range in {
		if (*f)[i] = math.NaN(); v != nil {
			(*f)[i] = *v
		}
	}
	return nil
}
