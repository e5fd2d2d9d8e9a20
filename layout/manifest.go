package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tensorcache/tensorcache/internal/fault"
)

// maxManifest is the largest size of a manifest, in bytes.
const maxManifest = 16 << 20

// Manifest lists the content of a generation and its offsets. docs/FORMAT.md describes every field.
type Manifest struct {
	Format  int       `json:"format"`
	Layout  string    `json:"layout"`
	Rows    int64     `json:"rows"`
	Digest  string    `json:"digest"`
	XXH64   string    `json:"xxh64,omitempty"` // of the manifest's text, with zeros here
	Created time.Time `json:"created"`
	Boot    string    `json:"boot"`
	ItemID  []string  `json:"item_id"`
	Time    string    `json:"time"`
	// TimeStep is nil without a time column, and if no item has two rows.
	TimeStep *TimeStep            `json:"time_step,omitempty"`
	Columns  []ManifestColumn     `json:"columns"`
	Items    ManifestItems        `json:"items"`
	Vocab    map[string]Words     `json:"vocab"`
	Files    map[string]FileBytes `json:"files"`
	Recipe   json.RawMessage      `json:"recipe"`
	Sources  []Source             `json:"sources"`
	// Appended are the loads that appended rows, in order; empty for a generation of one load.
	Appended []Appended `json:"appended,omitempty"`
	// ScaledOf is set for a scaled copy of another generation; otherwise it is nil.
	ScaledOf *ScaledOf `json:"scaled_of,omitempty"`
	// Dialect is what the load found out about its text files, which have no such options; nil if they
	// are plain. Appends use it.
	Dialect *Dialect `json:"dialect,omitempty"`
	// Notes say what the load assumed or left out.
	Notes []Note `json:"notes,omitempty"`
}

// Dialect is the encoding of text files, the sign between their cells, and the decimal mark of
// numbers. "" is that of plain files. If Mixed is true, other files have another dialect.
type Dialect struct {
	Encoding  string `json:"encoding,omitempty"`
	Delimiter string `json:"delimiter,omitempty"`
	Decimal   string `json:"decimal,omitempty"`
	Mixed     bool   `json:"mixed,omitempty"`
}

// Or returns d with what it leaves open from another dialect. Mixed is that of d.
func (d Dialect) Or(other Dialect) Dialect {
	return Dialect{
		Encoding:  cmp.Or(d.Encoding, other.Encoding),
		Delimiter: cmp.Or(d.Delimiter, other.Delimiter),
		Decimal:   cmp.Or(d.Decimal, other.Decimal), Mixed: d.Mixed,
	}
}

// IsPlain reports whether files are UTF-8 with commas (tabs in .tsv files) and decimal points.
func (d Dialect) IsPlain() bool { return d.Encoding+d.Delimiter+d.Decimal == "" }

// Note is something that a load assumed or left out and its user may not have meant. Options in
// Detail and Hint are in backticks, their values in JSON: `time="date"`.
type Note struct {
	Field  string `json:"field"` // the load option that it is about
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

// ManifestColumn is one column, with the offset of its first value and its strides.
type ManifestColumn struct {
	Name        string  `json:"name"`
	Role        Role    `json:"role"`
	DType       DType   `json:"dtype"`
	Unit        string  `json:"unit,omitempty"`
	Zone        string  `json:"zone,omitempty"`
	NamedOnly   bool    `json:"named_only,omitempty"` // see InDefaultWindows
	Calendar    string  `json:"calendar,omitempty"`   // the feature of the load option that it is
	Shape       []int64 `json:"shape"`
	Field       string  `json:"field"`
	Offset      int64   `json:"offset"`
	Strides     []int64 `json:"strides"`
	XXH64       string  `json:"xxh64"`
	Missing     int64   `json:"missing"`
	SourceDType string  `json:"source_dtype,omitempty"`
	// DTypeError is the error of storing the source's floats with fewer bits; nil if they were not
	// narrowed.
	DTypeError *DTypeError `json:"dtype_error,omitempty"`
	// Prepared and Scale are the steps that the load applied to the values, in this order; nil if
	// none.
	Prepared *Prepared `json:"prepared,omitempty"`
	Scale    *Scale    `json:"scale,omitempty"`
	// StepsOf is set if the steps are those of another dataset's column; nil if they are the load's.
	StepsOf *StepsOf `json:"steps_of,omitempty"`
	// PartOfFilled is the column in which a load filled values, if these are a part or a cast of it, or
	// come from another daemon, so that the generation does not store which were filled. Otherwise it
	// is nil.
	PartOfFilled *PartOf `json:"part_of_filled,omitempty"`
	// Statistics is nil if the column is not numeric.
	Statistics *Statistics `json:"statistics,omitempty"`
}

// InDefaultWindows reports whether a window that names no columns includes the column. It is true
// for value columns of numbers and booleans that were not stored as NamedOnly.
func (c ManifestColumn) InDefaultWindows() bool {
	return c.Role == RoleValue && c.DType.IsNumeric() && !c.NamedOnly
}

// Width returns the number of features of a row, or 0 for a column of shape [rows].
func (c ManifestColumn) Width() int64 {
	if len(c.Shape) == 2 {
		return c.Shape[1]
	}
	return 0
}

// rowBytes returns the number of bytes of the values of a row.
func (c ManifestColumn) rowBytes() int64 { return max(c.Width(), 1) * c.DType.Size() }

// DTypeError is the largest difference between a column's values in the source and as stored:
// absolute, and as a fraction of the value.
type DTypeError struct {
	Abs float64 `json:"abs"`
	Rel float64 `json:"rel"`
}

// Scale is a fitted scaling: stored = (value − Shift) / Scale.
type Scale struct {
	Kind  string    `json:"kind"` // standard, minmax, robust, maxabs
	Per   string    `json:"per"`  // column: one number per feature; item: per item and feature
	Shift []float64 `json:"shift"`
	Scale []float64 `json:"scale"`
}

// TimeStep describes the differences between the times of consecutive rows of an item, in units of
// the time column.
type TimeStep struct {
	Step    int64 `json:"step"`    // the most common difference
	Jumps   int64 `json:"jumps"`   // number of differences that are not Step
	Largest int64 `json:"largest"` // the largest difference
}

// ManifestItems gives the offsets of the items in items.arrow.
type ManifestItems struct {
	Count     int64       `json:"count"`
	RowOffset Place       `json:"row_offset"`
	Rows      Place       `json:"rows"`
	Values    []ItemPlace `json:"values"`
	XXH64     string      `json:"xxh64"`
}

// Place is the byte offset of int64 values in a file.
type Place struct {
	Offset int64 `json:"offset"`
}

// ItemPlace is one item_id column in items.arrow: int64 at Offset, or text in an Arrow Utf8 array.
type ItemPlace struct {
	Name  string `json:"name"`
	DType DType  `json:"dtype"`
	Place
	TextPlace
}

// TextPlace is an Arrow Utf8 array: int32 offsets and the bytes.
type TextPlace struct {
	Offsets   int64 `json:"offsets,omitempty"`
	Data      int64 `json:"data,omitempty"`
	DataBytes int64 `json:"data_bytes,omitempty"`
}

// Words is the vocabulary of a text column.
type Words struct {
	File  string `json:"file"`
	Count int64  `json:"count"`
	TextPlace
	XXH64 string `json:"xxh64"`
}

// FileBytes is the size of a file. Frame is the checksum of the bytes of an Arrow file before its
// first buffer and after its last one.
type FileBytes struct {
	Bytes int64  `json:"bytes"`
	Frame string `json:"frame_xxh64,omitempty"`
}

// Source is a file that a generation was loaded from, with its state at the load. That of a remote
// file has the URL as its path and no inode.
type Source struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	MtimeNs int64  `json:"mtime_ns"`
	Inode   uint64 `json:"inode"`
	XXH64   string `json:"xxh64,omitempty"` // of its bytes, if the load was asked to hash them
	// Origin is set if the source is a remote file.
	Origin *Origin `json:"origin,omitempty"`
}

// Appended is one load that appended rows: the number of rows, and of the sources that it read. The
// sources follow those of the loads before it.
type Appended struct {
	Rows    int64 `json:"rows"`
	Sources int   `json:"sources"`
}

// SameFile reports whether the file seems unchanged: path, size, modification time and inode are
// equal. For a remote file, see [Origin.Same].
func (s Source) SameFile(o Source) bool {
	if s.Origin != nil && o.Origin != nil {
		return s.Origin.Same(*o.Origin)
	}
	s.XXH64, o.XXH64 = "", ""
	return s == o
}

// SameContent reports whether path and content are equal. Without hashes it returns false.
func (s Source) SameContent(o Source) bool {
	return s.Path == o.Path && s.Bytes == o.Bytes && s.XXH64 != "" && s.XXH64 == o.XXH64
}

// DTypeErrors returns the errors of columns that were stored with fewer bits, by column; nil if
// there are none.
func (m *Manifest) DTypeErrors() map[string]DTypeError {
	var out map[string]DTypeError
	for _, c := range m.Columns {
		if c.DTypeError != nil {
			if out == nil {
				out = map[string]DTypeError{}
			}
			out[c.Name] = *c.DTypeError
		}
	}
	return out
}

// Column returns a column by name. The error wraps ErrColumn.
func (m *Manifest) Column(name string) (*ManifestColumn, error) {
	for i := range m.Columns {
		if m.Columns[i].Name == name {
			return &m.Columns[i], nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrColumn, name)
}

// write writes the manifest into the directory.
func (m *Manifest) write(dir string) error {
	if err := fault.At("manifest"); err != nil {
		return fmt.Errorf("write %s: %w", ManifestFile, err)
	}
	m.XXH64 = blankChecksum
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	m.XXH64 = setChecksum(b)
	if len(b) > maxManifest {
		hint := "load fewer columns, or with `melt` if they are series"
		if slices.ContainsFunc(m.Columns, func(c ManifestColumn) bool {
			return c.Scale != nil && c.Scale.Per == "item"
		}) {
			hint = "load fewer columns, or scale per column"
		}
		return fmt.Errorf("%w: the manifest takes %d bytes, at most %d: %s", ErrSchema, len(b),
			maxManifest, hint)
	}
	return os.WriteFile(filepath.Join(dir, ManifestFile), b, 0o600)
}

// ReadManifest reads a generation's manifest without opening its data. The error wraps ErrTorn or
// ErrFormat, unless the file cannot be read.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing", ErrTorn, path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, err
	}
	return parseManifest(path, b)
}

func parseManifest(path string, b []byte) (*Manifest, error) {
	var version struct{ Format int }
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTorn, path, err)
	}
	if version.Format < oldestFormat || version.Format > FormatVersion {
		return nil, fmt.Errorf("%w: %s: format %d, this program reads %d to %d",
			ErrFormat, path, version.Format, oldestFormat, FormatVersion)
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTorn, path, err)
	}
	if !checksumMatches(b) {
		return nil, fmt.Errorf("%w: %s: not what was written", ErrTorn, path)
	}
	return &m, nil
}
