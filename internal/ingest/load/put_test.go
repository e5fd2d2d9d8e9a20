package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
	"github.com/tensorcache/tensorcache/layout"
)

// loadPut loads a put of the sent bytes into a new directory, without a child process.
func loadPut(t *testing.T, o option.Options, p put.Header, sent []byte) (string, error) {
	t.Helper()
	dir := t.TempDir()
	_, err := Run(context.Background(),
		Request{Dir: dir, Options: o, Put: &p, Conn: bytes.NewReader(sent)}, &progress.Meter{})
	return dir, err
}

func TestArraysOfEveryDTypeAreLoaded(t *testing.T) {
	p, sent := puttest.EveryArray(t)
	for _, o := range []option.Options{{ItemID: []string{"id"}, Time: "t"},
		{ItemID: []string{"id"}, Time: "t", Layout: layout.Packed}} {
		dir, err := loadPut(t, o, p, sent)
		if err != nil {
			t.Fatal(err)
		}
		l := loadtest.OpenDir(t, dir)
		puttest.CheckValues(t, l)
		puttest.CheckTexts(t, l,
			map[string][]string{"u1": {"0", "1", "255"}, "i2": {"-1", "0", "1", "2", "3", "-32768"},
				"d": {"-5", "0", "7"}, "w": {"tech", "", "food"}})
		if c, err := l.Manifest.Column("d"); err != nil || c.Unit != "us" ||
			c.DType != layout.Duration {
			t.Errorf("d is %+v, %v", c, err)
		}
		if got := loadtest.Texts(l, "id"); !slices.Equal(got, []string{"b", "b", "ünï"}) {
			t.Errorf("id is %q", got)
		}
		if c, _ := l.Manifest.Column("f8"); c.Width() != 2 {
			t.Errorf("f8 has shape %v", c.Shape)
		}
		if c, _ := l.Manifest.Column("t"); c.Unit != "ms" || c.DType != layout.Timestamp {
			t.Errorf("t is %s %s", c.DType, c.Unit)
		}
	}
	// Only some columns, with narrowed floats. The load skips the bytes of the other columns.
	dir, err := loadPut(t, option.Options{Columns: []string{"u4", "f8"},
		DType: option.Floats("float32"), Scale: option.All("minmax")}, p, sent)
	if err != nil {
		t.Fatal(err)
	}
	l := loadtest.OpenDir(t, dir)
	if got := loadtest.Values[float32](l, "f8"); !slices.Equal(got,
		[]float32{0, 0, 0.5, 0.5, 1, 1}) {
		t.Errorf("f8 scaled is %v", got)
	}
}

// TestNegativeOffsetsAreMissingTexts loads texts with negative offsets. A negative offset means
// that the text that ends there is missing.
func TestNegativeOffsetsAreMissingTexts(t *testing.T) {
	c, b := puttest.ColumnBytes(t, "w", "utf8", []int64{4}, []string{"", "b", "", "b"})
	missing := func(at ...int) []byte {
		out := slices.Clone(b)
		for _, i := range at {
			o := int64(binary.LittleEndian.Uint64(out[8*i:]))
			binary.LittleEndian.PutUint64(out[8*i:], uint64(-o-1))
		}
		return out
	}
	p := put.Header{Format: put.FormatColumns, Columns: []put.Column{c}}
	dir, err := loadPut(t, option.Options{}, p, missing(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	l := loadtest.OpenDir(t, dir)
	if got := loadtest.Values[int32](l, "w"); !slices.Equal(got, []int32{-1, 0, -1, 0}) ||
		l.Manifest.Columns[0].Missing != 2 || l.Manifest.Vocab["w"].Count != 1 {
		t.Errorf("codes %v, %+v, %+v", got, l.Manifest.Columns[0], l.Manifest.Vocab)
	}
	_, err = loadPut(t, option.Options{ItemID: []string{"w"}}, p, missing(1, 3))
	loadtest.Refused(t, err, `row 1, column "w": the value is missing, but an item needs a name`,
		"")
	_, err = loadPut(t, option.Options{}, p, missing(2))
	loadtest.Refused(t, err, `row 2, column "w": a text from byte 0 to 1`, "")
}

func TestInvalidArraysAreRefused(t *testing.T) {
	complete := func(name, dtype string, shape []int64, values any) func(*testing.T) (put.Header,
		[]byte) {
		return func(t *testing.T) (put.Header, []byte) {
			c, b := puttest.ColumnBytes(t, name, dtype, shape, values)
			return put.Header{Format: put.FormatColumns, Columns: []put.Column{c}}, b
		}
	}
	headerOnly := func(c ...put.Column) func(*testing.T) (put.Header, []byte) {
		return func(*testing.T) (put.Header, []byte) {
			return put.Header{Format: put.FormatColumns, Columns: c}, nil
		}
	}
	for _, c := range []struct {
		name, want string
		make       func(*testing.T) (put.Header, []byte)
		o          option.Options
	}{
		{"early end", "the connection ended after 10 of 24 bytes",
			func(t *testing.T) (put.Header, []byte) {
				p, b := complete("a", "int64", []int64{3}, []int64{1, 2, 3})(t)
				return p, b[:10]
			}, option.Options{}},
		{"early end of a skipped column", "the connection ended after 24 of 48 bytes",
			func(t *testing.T) (put.Header, []byte) {
				a, b := puttest.ColumnBytes(t, "a", "int64", []int64{3}, []int64{1, 2, 3})
				d := a
				d.Name = "d"
				return put.Header{Format: put.FormatColumns, Columns: []put.Column{a, d}}, b
			}, option.Options{Columns: []string{"a"}}},
		{"no columns", "no columns were sent", headerOnly(), option.Options{}},
		{"no rows", "the columns have no rows",
			headerOnly(put.Column{Name: "a", DType: "bool", Shape: []int64{0}}), option.Options{}},
		{"no name", "a column has no name",
			headerOnly(put.Column{DType: "bool", Shape: []int64{1}, Bytes: 1}), option.Options{}},
		{"dtype", `column "a": dtype "complex64" is none of`,
			headerOnly(put.Column{Name: "a", DType: "complex64", Shape: []int64{1}}),
			option.Options{}},
		{"shape", "has shape [1 2 3], want [rows] or [rows, n]",
			headerOnly(put.Column{Name: "a", DType: "bool", Shape: []int64{1, 2, 3}}),
			option.Options{}},
		{"negative", "has shape [-1], which cannot be stored",
			headerOnly(put.Column{Name: "a", DType: "bool", Shape: []int64{-1}}), option.Options{}},
		{"huge", "which cannot be stored",
			headerOnly(put.Column{Name: "a", DType: "float64", Shape: []int64{1 << 60, 8}}),
			option.Options{}},
		{"bytes", "has 9 bytes, want 8 for float64 of shape [1]",
			headerOnly(put.Column{Name: "a", DType: "float64", Shape: []int64{1}, Bytes: 9}),
			option.Options{}},
		{"rows differ", `column "b": has 2 rows, column "a" has 1`,
			headerOnly(put.Column{Name: "a", DType: "bool", Shape: []int64{1}, Bytes: 1},
				put.Column{Name: "b", DType: "bool", Shape: []int64{2}, Bytes: 2}),
			option.Options{}},
		{"unit", `has time unit "h", want one of s, ms, us, ns`,
			headerOnly(put.Column{Name: "a", DType: "timestamp", Unit: "h", Shape: []int64{1},
				Bytes: 8}), option.Options{}},
		{"text of two axes", "is text of shape [1 1], want [rows]",
			headerOnly(put.Column{Name: "a", DType: "utf8", Shape: []int64{1, 1}, Bytes: 8}),
			option.Options{}},
		{"text bytes", "has 8 bytes, want 16 or more for 1 texts",
			headerOnly(put.Column{Name: "a", DType: "utf8", Shape: []int64{1}, Bytes: 8}),
			option.Options{}},
		{"invalid boolean", `row 2, column "a": "7" is not a boolean, want 0 or 1`,
			complete("a", "bool", []int64{2}, []uint8{1, 7}), option.Options{}},
		{"too large", `row 2, column "a": "18446744073709551615" does not fit int64`,
			complete("a", "uint64", []int64{2}, []uint64{1, math.MaxUint64}),
			option.Options{Time: "a"}},
		{"narrow", `row 1, column "a": "1e+300" does not fit float32`,
			complete("a", "float64", []int64{1, 2}, []float64{1, 1e300}),
			option.Options{DType: option.Floats("float32")}},
		{"no number", `row 2, column "a": the value is missing, but only float columns have missing values`,
			complete("a", "float64", []int64{2}, []float64{1, math.NaN()}),
			option.Options{DType: option.DTypes{By: map[string]string{"a": "int8"}}}},
		{"half", `row 2, column "a": "300" does not fit int8`,
			complete("a", "float16", []int64{2}, []uint16{0x3c00, 0x5cb0}),
			option.Options{DType: option.DTypes{By: map[string]string{"a": "int8"}}}},
		{"no time", `row 2, column "a": "NaT" is not a time`, func(t *testing.T) (put.Header, []byte) {
			p, b := complete("a", "int64", []int64{2}, []int64{1, math.MinInt64})(t)
			p.Columns[0].DType, p.Columns[0].Unit = "duration", "ms"
			return p, b
		}, option.Options{}},
		{"empty text", `row 2, column "a": the text is empty`,
			complete("a", "utf8", []int64{2}, []string{"x", ""}),
			option.Options{ItemID: []string{"a"}}},
		{"no such column", `columns: no column is named "b"`,
			complete("a", "bool", []int64{1}, []uint8{1}), option.Options{Columns: []string{"b"}}},
		{"wide time", "a time column holds timestamps, dates or integers, not int64[2]",
			complete("a", "int64", []int64{1, 2}, []int64{1, 2}), option.Options{Time: "a"}},
		{"format", `format: "pickle": want columns or arrow`,
			func(*testing.T) (put.Header, []byte) { return put.Header{Format: "pickle"}, nil },
			option.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, b := c.make(t)
			_, err := loadPut(t, c.o, p, b)
			loadtest.Refused(t, err, c.want, "")
		})
	}
}

func TestAnArrowStreamIsLoaded(t *testing.T) {
	sent := puttest.ArrowBytes(t)
	dir, err := loadPut(t, option.Options{ItemID: []string{"id", "w"}, Time: "t"},
		put.Header{Format: put.FormatArrow}, sent)
	if err != nil {
		t.Fatal(err)
	}
	l := loadtest.OpenDir(t, dir)
	puttest.CheckValues(t, l)
	if got := loadtest.Texts(l, "w"); !slices.Equal(got, []string{"x", "x", "y"}) {
		t.Errorf("w is %q", got)
	}
	if got := loadtest.Values[int64](l, "d"); !slices.Equal(got, []int64{-86400, 0, 86400}) {
		t.Errorf("d is %v", got)
	}
	if c, _ := l.Manifest.Column("t"); c.Unit != "ms" || c.Zone != "UTC" {
		t.Errorf("t is in %s %s", c.Unit, c.Zone)
	}
}

func TestTruncatedArrowStreamsAreRefused(t *testing.T) {
	sent := puttest.ArrowBytes(t)
	for n := range len(sent) {
		if n%7 != 0 && len(sent)-n > 20 {
			continue
		}
		_, err := loadPut(t, option.Options{ItemID: []string{"id", "w"}},
			put.Header{Format: put.FormatArrow}, sent[:n])
		var s *loaderr.SourceError
		if !errors.As(err, &s) {
			t.Errorf("%d of %d bytes: %v", n, len(sent), err)
		}
	}
	_, err := loadPut(t, option.Options{}, put.Header{Format: put.FormatArrow},
		sent[:len(sent)-8])
	loadtest.Refused(t, err, "ended after", "close the stream's writer")
	_, err = loadPut(t, option.Options{}, put.Header{Format: put.FormatArrow},
		[]byte("ARROW1\x00\x00 and more"))
	loadtest.Refused(t, err, "is an Arrow file, want an Arrow IPC stream", "new_stream")
	_, err = loadPut(t, option.Options{}, put.Header{Format: put.FormatArrow},
		[]byte("t,a\n1,2\n"))
	loadtest.Refused(t, err, "byte 0 is not the beginning of an Arrow message", "IPC stream")
}

func TestAPutReportsItsTotalBytes(t *testing.T) {
	header, sent := puttest.EveryArray(t)
	stream := puttest.ArrowBytes(t)
	for name, c := range map[string]struct {
		header put.Header
		sent   []byte
	}{
		"arrays": {header, sent},
		"Arrow":  {put.Header{Format: put.FormatArrow}, stream},
	} {
		m := &progress.Meter{}
		r := Request{Dir: t.TempDir(), Options: option.Options{ItemID: []string{"id"}},
			Put: &c.header, Conn: bytes.NewReader(c.sent)}
		if _, err := Run(t.Context(), r, m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := m.BytesTotal.Load(); got != int64(len(c.sent)) {
			t.Errorf("%s: %d bytes in all, want %d", name, got, len(c.sent))
		}
	}
}
