package load

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// loadInBlocks loads like loadInProcess, with text blocks of the given number of bytes.
func loadInBlocks(t *testing.T, o option.Options, block int64) (*layout.Manifest, string, error) {
	t.Helper()
	dir := t.TempDir()
	l := newLoad(dir, o, &progress.Meter{})
	l.BlockBytes = block
	m, err := l.run(context.Background())
	if err != nil {
		err = l.cleanUp(err)
	}
	return m, dir, err
}

// drawTable draws the records of a CSV file, the header first. The column id has texts, some of
// which need quotes, and the others have numbers.
func drawTable(r *rapid.T) (records [][]string) {
	columns := rapid.IntRange(1, 4).Draw(r, "columns")
	head := []string{"id"}
	for c := range columns {
		head = append(head,
			rapid.SampledFrom([]string{"c%d", "a, %d", "a \"q\" %d", "ö%d"}).Draw(r, "name"))
		head[c+1] = fmt.Sprintf(head[c+1], c)
	}
	records = append(records, head)
	for row := range rapid.IntRange(1, 60).Draw(r, "rows") {
		record := []string{fmt.Sprintf("%s%d",
			rapid.SampledFrom([]string{"x", "a,b", "q\"q", "line\nbreak", "ö", " "}).Draw(
				r, "id"), row)}
		for range columns {
			text := loadtest.Number.Draw(r, "number")
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				text = "NaN" // out of range
			}
			record = append(record, text)
		}
		records = append(records, record)
	}
	return records
}

func TestCSVEqualsWhatWasWrittenBitForBit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		records := drawTable(r)
		var b bytes.Buffer
		if rapid.Bool().Draw(r, "bom") {
			b.WriteString("\ufeff")
		}
		w := csv.NewWriter(&b)
		w.UseCRLF = rapid.Bool().Draw(r, "crlf") // writes CRLF for line feeds inside quotes, too
		for _, record := range records {
			if err := w.Write(record); err != nil {
				r.Fatal(err)
			}
			w.Flush()
			for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(r, "empty lines") {
				b.WriteString(rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "line"))
			}
		}
		text := b.String()
		if rapid.Bool().Draw(r, "no end of line") {
			text = strings.TrimRight(text, "\r\n")
		}
		path := loadtest.File(t, "x.csv", text)
		o := option.Options{Sources: []string{path}, ItemID: []string{"id"}}
		_, dir, err := loadInBlocks(t, o, rapid.Int64Range(1, 300).Draw(r, "block"))
		if err != nil {
			r.Fatalf("%v\n%s", err, text)
		}
		l := loadtest.OpenDir(t, dir)
		defer l.Close()
		if int(l.Manifest.Rows) != len(records)-1 {
			r.Fatalf("%d rows, want %d", l.Manifest.Rows, len(records)-1)
		}
		for c, name := range records[0] {
			got := loadtest.Texts(l, name)
			for i, record := range records[1:] {
				want := record[c]
				if w.UseCRLF {
					want = strings.ReplaceAll(want, "\n", "\r\n")
				}
				if !sameCell(l, name, got[i], want) {
					r.Fatalf("column %q, row %d: %s, want %q", name, i+1, got[i], want)
				}
			}
		}
		if err := l.Verify(); err != nil {
			r.Fatal(err)
		}
	})
}

// sameCell reports whether got, from loadtest.Texts, is the value of a cell, parsed with strconv.
func sameCell(l loadtest.Loaded, name, got, cell string) bool {
	c, err := l.Manifest.Column(name)
	if err != nil {
		return false
	}
	if c.DType == layout.Float64 {
		v, err := strconv.ParseFloat(cell, 64)
		return err == nil && got == loadtest.FloatText(v)
	}
	if c.DType == layout.Int64 {
		v, err := strconv.ParseInt(cell, 10, 64)
		return err == nil && got == strconv.FormatInt(v, 10)
	}
	return got == cell
}

func TestDTypesOfCellsAreInferred(t *testing.T) {
	many := func(n int, cell string) string { return strings.Repeat(cell+",0\n", n) }
	for _, c := range []struct {
		name, text string
		dtype      layout.DType
		unit, zone string
		want       []string
	}{
		{"integers", "a,x\n1,0\n-2,0\n+3,0\n", layout.Int64, "", "", []string{"1", "-2", "3"}},
		{"decimals", "a,x\n1,0\n2.5,0\n", layout.Float64, "", "", []string{"0x1p+0", "0x1.4p+1"}},
		{"missing make integers floats", "a,x\n1,0\n,0\nNA,0\nNaN,0\nnan,0\nnull,0\nNone,0\n",
			layout.Float64, "", "", []string{"0x1p+0", "nan", "nan", "nan", "nan", "nan", "nan"}},
		{"missing first", "a,x\n,0\n2,0\n", layout.Float64, "", "", []string{"nan", "0x1p+1"}},
		{"nothing but missing", "a,x\n,0\n,0\n", layout.Float64, "", "", []string{"nan", "nan"}},
		{"booleans", "a,x\ntrue,0\nFalse,0\n", layout.Bool, "", "", []string{"1", "0"}},
		{"quoted numbers", "a,x\n\"1.5\",0\n\" 2\",0\n", layout.Float64, "", "",
			[]string{"0x1.8p+0", "0x1p+1"}},
		{"beyond int64", "a,x\n1,0\n9223372036854775808,0\n", layout.Float64, "", "",
			[]string{"0x1p+0", "0x1p+63"}},
		{"dates", "a,x\n1970-01-02,0\n", layout.Timestamp, "s", "", []string{"86400"}},
		{"times", "a,x\n1970-01-01 00:00:01,0\n1970-01-01T00:00:02.5,0\n", layout.Timestamp, "ms",
			"", []string{"1000", "2500"}},
		{"zones", "a,x\n1970-01-01 01:00:01+01:00,0\n1970-01-01T00:00:02Z,0\n", layout.Timestamp,
			"s", "UTC", []string{"1", "2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", c.text)}})
			col, _ := l.Manifest.Column("a")
			if col.DType != c.dtype || col.Unit != c.unit || col.Zone != c.zone {
				t.Errorf("%s %s %s, want %s %s %s", col.DType, col.Unit, col.Zone, c.dtype,
					c.unit, c.zone)
			}
			for i, got := range loadtest.Texts(l, "a") {
				if !sameText(got, c.want[i], col.DType.IsFloat()) {
					t.Errorf("row %d: %s, want %s", i+1, got, c.want[i])
				}
			}
		})
	}
	// Late rows widen the dtype that the load infers from the first rows.
	for _, c := range []struct {
		name, first, late string
		dtype             layout.DType
		id                []string
	}{
		{"decimals", "1", "2.5", layout.Float64, nil},
		{"missing", "1", "", layout.Float64, nil},
		{"finer times", "1970-01-01 00:00:01", "1970-01-01 00:00:01.000001", layout.Timestamp, nil},
		{"times after nothing", "1970-01-01", "1970-01-02 00:00:00.5", layout.Timestamp, nil},
		{"words", "7", "seven", layout.Text, []string{"a"}},
		{"leading zeros", "7", "007", layout.Text, []string{"a"}},
	} {
		for _, block := range []int64{100, 1 << 20} {
			t.Run(fmt.Sprint("late ", c.name, block), func(t *testing.T) {
				text := "a,x\n" + many(1500, c.first) + many(1500, c.late)
				_, dir, err := loadInBlocks(t,
					option.Options{Sources: []string{loadtest.File(t, "x.csv", text)},
						ItemID: c.id}, block)
				if err != nil {
					t.Fatal(err)
				}
				l := loadtest.OpenDir(t, dir)
				col, _ := l.Manifest.Column("a")
				if got := loadtest.Texts(l, "a"); col.DType != c.dtype || len(got) != 3000 ||
					got[0] == got[2999] || got[0] != got[1499] || got[1500] != got[2999] {
					t.Errorf("%s: %s … %s", col.DType, got[0], got[2999])
				}
			})
		}
	}
}

// TestBlocksOfAnySizeLoadTheSameValues loads a file in blocks that split lines at any byte.
func TestBlocksOfAnySizeLoadTheSameValues(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,t,a,b\n")
	for i := range 500 {
		fmt.Fprintf(&b, "item %d,%d,%d.5,%d\n", i/100, i, i, -i)
	}
	path := loadtest.File(t, "x.csv", b.String())
	for _, block := range []int64{1, 7, 64, 1000, 1 << 20} {
		for _, l := range []string{layout.Columns, layout.Packed} {
			_, dir, err := loadInBlocks(t, option.Options{Sources: []string{path},
				ItemID: []string{"id"}, Time: "t", Layout: l}, block)
			if err != nil {
				t.Fatal(err)
			}
			got := loadtest.OpenDir(t, dir)
			for i, v := range loadtest.Values[float64](got, "a") {
				if v != float64(i)+0.5 {
					t.Fatalf("block %d, %s: row %d is %v", block, l, i, v)
				}
			}
			if o, _ := got.ItemOffsets(); len(o) != 6 || o[1] != 100 {
				t.Errorf("items at %v", o)
			}
		}
	}
}

func FuzzCSV(f *testing.F) {
	f.Add("a,b\n1,2\n", int64(3))
	f.Add("a,b\n\"1\",\"x\"\"y\"\r\n\r\n,\n", int64(5))
	f.Add("\ufeffa\n2016-07-01 00:00:00\n2016-07-01 00:00:00.5Z", int64(100))
	f.Fuzz(func(t *testing.T, text string, block int64) {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, dir, err := loadInBlocks(t, option.Options{Sources: []string{path}}, 1+(block&0xff))
		if err != nil {
			if !strings.Contains(err.Error(), "x.csv") {
				t.Errorf("the message does not name the file: %v", err)
			}
			return
		}
		want, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).ReadAll()
		if err != nil {
			t.Fatalf("loaded, but encoding/csv returns %v", err)
		}
		if l := loadtest.OpenDir(t, dir); int(l.Manifest.Rows) != len(want)-1 {
			t.Errorf("%d rows, encoding/csv has %d", l.Manifest.Rows, len(want)-1)
		}
	})
}
