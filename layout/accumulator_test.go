package layout

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

// TestChecksumAndStatisticsDescribeTheStoredValues writes the rows of a column in any order and in
// several goroutines. The accumulated checksum and statistics must be those of the stored values,
// also if a caller stores rows by other means or twice.
func TestChecksumAndStatisticsDescribeTheStoredValues(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.Int64Range(1, 9_000).Draw(r, "rows")
		width := rapid.SampledFrom([]int64{0, 1, 3}).Draw(r, "width")
		table := Table{Rows: rows, Layout: rapid.SampledFrom([]string{Columns, Packed}).Draw(r,
			"layout"), Columns: []Column{
			{Name: "a", Role: RoleValue, DType: Float64, Width: width},
			{Name: "b", Role: RoleValue, DType: Float64},
		}}
		w, err := Create(t.TempDir(), table)
		if err != nil {
			r.Fatal(err)
		}
		defer w.Abort()
		values := make([]float64, rows*max(1, width))
		for i := range values {
			if values[i] = float64(i * i % 1009); i%97 == 5 {
				values[i] = math.NaN()
			}
		}
		cuts := rapid.SliceOfNDistinct(rapid.Int64Range(0, rows), 0, 12, rapid.ID[int64]).
			Draw(r, "cuts")
		cuts = append(cuts, 0, rows)
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		pieces := rapid.Permutation(cuts[:len(cuts)-1]).Draw(r, "order")
		mapped := rapid.IntRange(0, 1).Draw(r, "mapped") // ranges stored through the mapping
		once, workers := w.Column(0, WriteOnce), rapid.IntRange(1, 3).Draw(r, "workers")
		end := func(from int64) int64 {
			at, _ := slices.BinarySearch(cuts, from+1)
			return cuts[at]
		}
		todo := make(chan int64, len(pieces))
		for i, from := range pieces {
			if i < mapped {
				storeMapped(w.Column(0, Random), from,
					values[from*max(1, width):end(from)*max(1, width)])
				continue
			}
			todo <- from
		}
		close(todo)
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for from := range todo {
					WriteAt(once, from, values[from*max(1, width):end(from)*max(1, width)])
				}
			})
		}
		group.Wait()
		// A caller that stores rows of a WriteOnce column twice.
		if again := rapid.SampledFrom([]string{"", "put", "values"}).Draw(r, "again"); again != "" {
			from := pieces[0]
			part := values[from*max(1, width) : end(from)*max(1, width)]
			for i := range part {
				part[i] = 7
			}
			if again == "put" {
				WriteAt(once, from, part)
			} else {
				storeMapped(once, from, part)
			}
		}
		storeMapped(w.Column(1, Random), 0, make([]float64, rows))
		m, err := w.Finish(Final{Items: Items{Offsets: []int64{0, rows}}})
		if err != nil {
			r.Fatal(err)
		}
		c, want := m.Columns[0], Column{DType: Float64}
		naive := newColumnStatistics(want.DType, int64(len(values)))
		missing := naive.add(bytesOf(values))
		if sum := formatHash(xxhash.Sum64(bytesOf(values))); c.XXH64 != sum ||
			c.Missing != missing {
			r.Fatalf("%s and %d missing, want %s and %d", c.XXH64, c.Missing, sum, missing)
		}
		if got, want := c.Statistics, naive.result(); got.Count != want.Count ||
			*got.Min != *want.Min || *got.Max != *want.Max ||
			math.Abs(*got.Mean-*want.Mean) > 1e-9**want.Mean {
			r.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// storeMapped stores rows through the mapping.
func storeMapped(d ColumnWriter, row int64, values []float64) {
	to := Values[float64](d)
	for i, width := 0, int(to.Width); i < len(values); i += width {
		copy(to.Row(row+int64(i/width)), values[i:i+width])
	}
}

// TestRowsInManyPiecesHaveAChecksum writes every second row, and then the others.
func TestRowsInManyPiecesHaveAChecksum(t *testing.T) {
	const rows = 4 * maxPending
	w, err := Create(t.TempDir(), Table{Rows: rows, Columns: []Column{
		{Name: "a", Role: RoleValue, DType: Float64}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	values := make([]float64, rows)
	for i := range values {
		values[i] = float64(i)
	}
	once := w.Column(0, WriteOnce)
	for _, first := range []int{1, 0} {
		for i := first; i < rows; i += 2 {
			WriteAt(once, int64(i), values[i:i+1])
		}
	}
	m, err := w.Finish(Final{Items: Items{Offsets: []int64{0, rows}}})
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Columns[0]; c.XXH64 != formatHash(xxhash.Sum64(bytesOf(values))) ||
		*c.Statistics.Max != rows-1 {
		t.Errorf("%+v", c)
	}
}

// TestChecksumsOfManyColumnsUseLittleMemory writes a table of thousands of columns from values that
// are not aligned to the block of the checksum, and measures the heap before Finish.
func TestChecksumsOfManyColumnsUseLittleMemory(t *testing.T) {
	const columns, rows = maxAccumulators + 26, 4 << 10
	table := Table{Rows: rows}
	for i := range columns {
		table.Columns = append(table.Columns,
			Column{Name: strconv.Itoa(i), Role: RoleItemID, DType: Float32})
	}
	w, err := Create(t.TempDir(), table)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	heapBytes := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	values := make([]float32, rows+1)
	for i := range values {
		values[i] = float32(i)
	}
	before := heapBytes()
	for i := range columns {
		WriteAt(w.Column(i, WriteOnce), 0, values[1:]) // aligned to four bytes only
	}
	if used := heapBytes() - before; used > 14<<20 {
		t.Errorf("%d bytes are in use for %d columns", used, columns)
	}
	m, err := w.Finish(Final{Items: Items{Offsets: []int64{0, rows}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range columns {
		if first, last := m.Columns[0], m.Columns[i]; last.XXH64 != first.XXH64 {
			t.Fatalf("column %d has %s, column 0 %s", i, last.XXH64, first.XXH64)
		}
	}
}

// TestSingleValuesReachTheAccumulatorInBlocks writes values one by one, as readers of records do,
// in ascending and in descending order. The accumulator must receive them in blocks of minAddBytes.
func TestSingleValuesReachTheAccumulatorInBlocks(t *testing.T) {
	const rows, many = 3000, minAddBytes / 8
	w, err := Create(t.TempDir(),
		Table{Rows: rows, Columns: []Column{{Name: "a", Role: RoleValue, DType: Float64}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	once, values := w.Column(0, WriteOnce), make([]float64, rows)
	for i := range values {
		values[i] = float64(i)
	}
	put := func(row int64) { WriteAt(once, row, values[row:row+1]) }
	for row := range int64(many - 1) {
		put(row)
	}
	if n := w.accumulators[0].rows; n != 0 {
		t.Errorf("%d rows were added before the block was complete", n)
	}
	if put(many - 1); w.accumulators[0].rows != many {
		t.Errorf("%d rows were added, want %d", w.accumulators[0].rows, many)
	}
	for row := int64(2*many - 1); row >= many; row-- { // the last row joins all pending ranges
		put(row)
	}
	if n := w.accumulators[0].rows; n != 2*many {
		t.Errorf("%d rows were added, want %d", n, 2*many)
	}
	WriteAt(once, 2*many, values[2*many:])
	m, err := w.Finish(Final{Items: Items{Offsets: []int64{0, rows}}})
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Columns[0]; c.XXH64 != formatHash(xxhash.Sum64(bytesOf(values))) ||
		c.Statistics.Count != rows || *c.Statistics.Mean != (rows-1)/2. {
		t.Errorf("%+v", c)
	}
}

// TestBufferedValuesReachTheAccumulatorAtClose writes values one by one to a buffered column.
func TestBufferedValuesReachTheAccumulatorAtClose(t *testing.T) {
	const rows = 2 * minAddBytes / 8
	w, err := Create(t.TempDir(),
		Table{Rows: rows, Columns: []Column{{Name: "a", Role: RoleValue, DType: Float64}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	once := w.Column(0, WriteOnce).Buffered()
	for row := range int64(rows) {
		WriteAt(once, row, []float64{float64(row)})
	}
	if n := len(w.accumulators[0].pending); n != 0 || w.accumulators[0].rows != 0 {
		t.Errorf("%d ranges and %d rows were added before Close", n, w.accumulators[0].rows)
	}
	once.Close()
	if n := w.accumulators[0].rows; n != rows {
		t.Errorf("%d rows were added, want %d", n, rows)
	}
	m, err := w.Finish(Final{Items: Items{Offsets: []int64{0, rows}}})
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Columns[0]; c.Statistics.Count != rows || *c.Statistics.Mean != (rows-1)/2. {
		t.Errorf("%+v", c)
	}
}
