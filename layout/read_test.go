package layout

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// streamNames are the types of columns of everyDType that differ between a stream and the file.
var streamNames = map[string]string{
	"symbol": "utf8", "e": "bool", "q": "utf8", "f": "fixed_size_list<item: float32, nullable>[3]",
	"i": "fixed_size_list<item: int16, nullable>[5]",
	"n": "fixed_size_list<item: int8, nullable>[2]",
}

// TestAStreamOfRowsEqualsTheFile reads ranges of rows from WriteStream with Arrow's reader, and
// compares them with Dense.
func TestAStreamOfRowsEqualsTheFile(t *testing.T) {
	const rows = 40
	for _, name := range []string{Columns, Packed} {
		d := writeEdgeCases(t, name, rows)
		columns := make([]*ManifestColumn, len(d.Manifest.Columns))
		for i := range columns {
			columns[i] = &d.Manifest.Columns[i]
		}
		for _, slice := range [][2]int64{{0, rows}, {7, 8}, {13, 29}, {5, 5}} {
			var b bytes.Buffer
			if err := d.WriteStream(&b, columns, slice[0], slice[1]); err != nil {
				t.Fatal(err)
			}
			r, err := ipc.NewReader(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Next() || r.Record().NumRows() != slice[1]-slice[0] {
				t.Fatalf("%v: %v", slice, r.Err())
			}
			for i, c := range columns {
				a, typ := r.Record().Column(i), arrowNames[c.Name]
				if s, ok := streamNames[c.Name]; ok {
					typ = s
				}
				if r.Schema().Field(i).Name != c.Name || a.DataType().String() != typ {
					t.Errorf("%q is %q of type %s, want %s", c.Name, r.Schema().Field(i).Name,
						a.DataType(), typ)
				}
				if got, want := arrowCells(a), wantCells(t, d, c, slice[0], slice[1]); fmt.Sprint(
					got) != fmt.Sprint(want) {
					t.Errorf("%s, %q, rows %v: %v, want %v", name, c.Name, slice, got, want)
				}
			}
			r.Release()
		}
	}
}

// arrowCells returns the values of an array like [Cells], but texts instead of codes. Lists are
// flattened.
func arrowCells(a arrow.Array) (out []any) {
	if list, ok := a.(*array.FixedSizeList); ok {
		return arrowCells(list.ListValues())
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			out = append(out, nil)
			continue
		}
		var v any
		switch a := a.(type) {
		case *array.String:
			v = a.Value(i)
		case *array.Boolean:
			v = a.Value(i)
		case *array.Float16:
			v = a.Value(i).Float32()
		case *array.Float32:
			v = a.Value(i)
		case *array.Float64:
			v = a.Value(i)
		case *array.Timestamp:
			v = int64(a.Value(i))
		case *array.Duration:
			v = int64(a.Value(i))
		default:
			v = a.GetOneForMarshal(i)
		}
		switch f := v.(type) {
		case float32:
			v = floatCell(f)
		case float64:
			v = floatCell(f)
		}
		out = append(out, v)
	}
	return out
}

// wantCells returns rows from to to-1 of a column like arrowCells.
func wantCells(t *testing.T, d *Data, c *ManifestColumn, from, to int64) (out []any) {
	b, err := d.Dense(c, from, to)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Cells(c.DType, b) {
		if c.DType == Text {
			code := v.(int32)
			if v = nil; code >= 0 {
				v = []string{"MSFT", "AAPL"}[code]
				if c.Name == "q" {
					v = []string{"tech", "food"}[code]
				}
			}
		}
		out = append(out, v)
	}
	return out
}

func TestCellsReplaceFloatsThatJSONLacks(t *testing.T) {
	if got := fmt.Sprint(
		Cells(Float64,
			bytesOf([]float64{1.5, math.NaN(), math.Inf(1),
				math.Inf(-1)}))); got != "[1.5 <nil> Infinity -Infinity]" {
		t.Error(got)
	}
}

func TestRowsOutsideTheDatasetAreRefused(t *testing.T) {
	d := writeEdgeCases(t, Columns, 10)
	for _, slice := range [][2]int64{{-1, 5}, {5, 4}, {0, 11}, {1 << 62, 1 << 62}} {
		if _, err := d.Dense(&d.Manifest.Columns[2], slice[0], slice[1]); err == nil {
			t.Errorf("rows %v were read", slice)
		}
	}
}
