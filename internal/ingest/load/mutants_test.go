package load

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/internal/testseed"
	"github.com/tensorcache/tensorcache/layout"
)

// mutantCount returns the number of damaged files over all formats: TENSORCACHE_MUTANTS, or 1,000.
func mutantCount(t *testing.T) int {
	n := 1000
	if text := os.Getenv("TENSORCACHE_MUTANTS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// cellTexts has the values of a table as texts, by column name.
type cellTexts map[string][]string

// cellTextsOf returns the values of a generation.
func cellTextsOf(l loadtest.Loaded) cellTexts {
	out := cellTexts{}
	for _, c := range l.Manifest.Columns {
		var cells []string
		switch c.DType.Plain() {
		case "int64":
			cells = sprintAll(loadtest.Values[int64](l, c.Name))
		case "int32":
			cells = sprintAll(loadtest.Values[int32](l, c.Name))
		case "int16":
			cells = sprintAll(loadtest.Values[int16](l, c.Name))
		case "int8":
			cells = sprintAll(loadtest.Values[int8](l, c.Name))
		case "uint64":
			cells = sprintAll(loadtest.Values[uint64](l, c.Name))
		case "uint32":
			cells = sprintAll(loadtest.Values[uint32](l, c.Name))
		case "uint16":
			cells = sprintAll(loadtest.Values[uint16](l, c.Name))
		case "uint8", "bool":
			cells = sprintAll(loadtest.Values[uint8](l, c.Name))
		case "float16":
			cells = sprintAll(loadtest.Values[layout.Half](l, c.Name))
		case "float32":
			cells = sprintAll(loadtest.Values[float32](l, c.Name))
		case "float64":
			cells = sprintAll(loadtest.Values[float64](l, c.Name))
		default:
			l.Fatalf("column %q is %s", c.Name, c.DType)
		}
		if c.DType == "text" {
			cells = loadtest.Texts(l, c.Name)
		}
		out[c.Name] = cells
	}
	return out
}

// sprintAll formats each value with fmt.Sprint.
func sprintAll[T any](values []T) []string {
	out := make([]string, len(values))
	for i, x := range values {
		out[i] = fmt.Sprint(x)
	}
	return out
}

// same reports whether two tables have the same columns with the same texts.
func (a cellTexts) same(b cellTexts) bool {
	for name, cells := range a {
		if other, ok := b[name]; !ok || !slices.Equal(cells, other) {
			return false
		}
	}
	return len(a) == len(b)
}

// readCSV reads a CSV file with encoding/csv and strconv, as the reference for loads. ok is false
// if encoding/csv refuses the file or finds no rows.
func readCSV(b []byte) (table cellTexts, ok bool) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	rows, err := csv.NewReader(bytes.NewReader(markCRLF(b))).ReadAll()
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], markOfCRLF, "\r\n")
		}
	}
	if err != nil || len(rows) < 2 {
		return nil, false
	}
	out := cellTexts{}
	for c, name := range rows[0] {
		for _, row := range rows[1:] {
			cell := row[c]
			if trimmed := strings.Trim(cell, " \t"); name != "id" {
				if v, err := strconv.ParseFloat(trimmed, 64); err == nil {
					cell = fmt.Sprint(v)
				} else if textvalue.IsMissing([]byte(trimmed)) {
					cell = "NaN"
				}
			}
			out[name] = append(out[name], cell)
		}
	}
	return out, true
}

// markOfCRLF stands for CRLF in a quoted cell, which encoding/csv would change to a line feed.
const markOfCRLF = "<CRLF>"

// markCRLF returns a CSV file with markOfCRLF for each CRLF inside quotes.
func markCRLF(b []byte) []byte {
	parts := bytes.Split(b, []byte{'"'})
	for i := 1; i < len(parts); i += 2 {
		parts[i] = bytes.ReplaceAll(parts[i], []byte("\r\n"), []byte(markOfCRLF))
	}
	return bytes.Join(parts, []byte{'"'})
}

// numbersAsFloats formats all numbers as floats, so that an integer equals the same float. Names of
// items stay as they are.
func (a cellTexts) numbersAsFloats() cellTexts {
	out := cellTexts{}
	for name, cells := range a {
		for _, cell := range cells {
			if v, err := strconv.ParseFloat(cell, 64); err == nil && name != "id" {
				cell = fmt.Sprint(v)
			}
			out[name] = append(out[name], cell)
		}
	}
	return out
}

// mutantFile is a valid file and the check of its mutants that are loaded.
type mutantFile struct {
	name  string
	bytes []byte
	o     option.Options
	// check reports whether the mutant b may load as got. good is the table of the valid file.
	// check is nil if the format has no checksums and Go has no reference reader.
	check func(b []byte, got, good cellTexts) bool
}

func mutantFiles(t *testing.T) []mutantFile {
	unchanged := func(_ []byte, got, good cellTexts) bool { return got.same(good) }
	// Whole records and arrays may be removed or renamed, because no checksum covers them. All
	// other cells must be cells of the valid file.
	known := func(_ []byte, got, good cellTexts) bool {
		var goodCells []string
		for _, cells := range good {
			goodCells = append(goodCells, cells...)
		}
		for _, cells := range got {
			for _, cell := range cells {
				if !slices.Contains(goodCells, cell) {
					return false
				}
			}
		}
		return true
	}
	var text strings.Builder
	var records [][]byte
	var floats []float64
	type row struct {
		ID string  `parquet:"id,dict"`
		A  int64   `parquet:"a,delta"`
		X  float64 `parquet:"x"`
	}
	var rows []row
	text.WriteString("id,a,x\n")
	for i := range 300 {
		id, x := "s"+strconv.Itoa(i/100), math.Sqrt(float64(i))
		fmt.Fprintf(&text, "%s,%d,%v\n", id, i, x)
		records = append(records,
			loadtest.Example(false, map[string]any{"id": []string{id}, "a": []int64{int64(i)},
				"x": []float32{float32(x), 1}}))
		rows, floats = append(rows, row{id, int64(i), x}), append(floats, x)
	}
	var pq bytes.Buffer
	w := parquet.NewGenericWriter[row](&pq, parquet.Compression(&parquet.Snappy))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	item := option.Options{ItemID: []string{"id"}}
	file, stream := puttest.ArrowFileBytes(t)
	matrix := loadtest.NPY("<f8", "(150, 2)", false, binary.LittleEndian, floats)
	arrays := map[string]string{"a.npy": matrix,
		"b.npy": loadtest.NPY(">i4", "(150,)", false, binary.BigEndian, make([]int32, 150))}
	// The values are all bytes after the header.
	values := func(b []byte, got, _ cellTexts) bool {
		end := 9 + int(binary.LittleEndian.Uint16(b[8:])) // the last byte of a version 1 header
		if b[6] > 1 {
			end = 11 + int(binary.LittleEndian.Uint32(b[8:]))
		}
		cells := got["value"]
		for i, cell := range cells {
			if at := end + 1 + 8*i; at+8 > len(b) ||
				fmt.Sprint(math.Float64frombits(binary.LittleEndian.Uint64(b[at:]))) != cell {
				return false
			}
		}
		return len(cells)*8 == len(b)-end-1
	}
	return []mutantFile{
		{"x.csv", []byte(text.String()), item, func(b []byte, got, _ cellTexts) bool {
			want, ok := readCSV(b)
			return ok && got.numbersAsFloats().same(want.numbersAsFloats())
		}},
		{"x.csv.gz", []byte(loadtest.Compressed(t, ".gz", text.String())), item, unchanged},
		{"x.csv.zst", []byte(loadtest.Compressed(t, ".zst", text.String())), item, unchanged},
		{"x.tfrecord", []byte(loadtest.TFRecords(records...)), item, known},
		{"x.npy", []byte(matrix), option.Options{}, func(b []byte, got, good cellTexts) bool {
			return bytes.Contains(b, []byte("<f8")) && bytes.Contains(b, []byte("False")) &&
				values(b, got, good) ||
				!bytes.Contains(b[:128], []byte("'<f8', 'fortran_order': False"))
		}},
		{"x.npz", []byte(loadtest.NPZ(t, zip.Store, arrays)), option.Options{}, known},
		{"d.npz", []byte(loadtest.NPZ(t, zip.Deflate, arrays)), option.Options{}, known},
		{"x.parquet", pq.Bytes(), item, nil},
		{"x.arrow", file, arrowOptions(), nil},
		{"x.arrows", stream, arrowOptions(), nil},
	}
}

// TestMutantsAreRefusedOrReadCorrectly loads damaged files of every format. A load must end within
// 10 s of CPU time and allocate little memory. An error must name the file.
//
// Loaded values are compared with a reference if Go has one: encoding/csv, checksums, or the bytes
// of the file. clients/python/tests/test_mutants.py compares Parquet and Arrow files with pyarrow,
// and .npy files with damaged headers with numpy.
func TestMutantsAreRefusedOrReadCorrectly(t *testing.T) {
	seed := testseed.Seed()
	files := mutantFiles(t)
	n := max(1, mutantCount(t)/len(files))
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, f.name)
			load := func(b []byte) (cellTexts, error) {
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				f.o.Sources = []string{path}
				out, err := os.MkdirTemp(dir, "out")
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(out)
				if _, err := Run(t.Context(), Request{Dir: out, Options: f.o},
					&progress.Meter{}); err != nil {
					return nil, err
				}
				if f.check == nil {
					return nil, nil
				}
				l := loadtest.OpenDir(t, out)
				defer l.Close()
				return cellTextsOf(l), nil
			}
			good, err := load(f.bytes)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(seed, 0))
			read := 0
			for i := range n {
				b := loadtest.Mutate(random, f.bytes)
				if bytes.Equal(b, f.bytes) || len(b) == 0 {
					continue
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := cpuTime(t)
				got, err := load(b)
				took := cpuTime(t) - start
				runtime.ReadMemStats(&after)
				if used, limit := after.TotalAlloc-before.TotalAlloc,
					uint64(64<<20+4*len(b)); used > limit {
					t.Errorf("seed %d, mutant %d: %d bytes were allocated, want at most %d: %v",
						seed, i, used, limit, err)
				}
				if took > 10*time.Second {
					t.Errorf("seed %d, mutant %d: took %s", seed, i, took)
				}
				if err != nil {
					if text := panicIn(err); text != "" {
						t.Errorf("seed %d, mutant %d: the message has the text of a panic: %s",
							seed, i, text)
					}
					if !strings.Contains(err.Error(), path) && !errors.Is(err, loaderr.ErrOption) {
						t.Errorf("seed %d, mutant %d: the message does not name the file: %v",
							seed, i, err)
					}
					continue
				}
				if read++; f.check != nil && !f.check(b, got, good) {
					t.Errorf("seed %d, mutant %d: values differ from the reference: %v",
						seed, i, got)
					_ = os.WriteFile(filepath.Join(os.TempDir(), "mutant-"+f.name), b, 0o600)
				}
			}
			t.Logf("%d of %d mutants were read", read, n)
		})
	}
}

// cpuTime returns the CPU time of this process. The test limits CPU time instead of elapsed time,
// because elapsed time depends on other processes.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// panicIn returns the message of an error if it has the text of a recovered panic.
func panicIn(err error) string {
	for _, text := range []string{"runtime error", "index out of range", "bounds out of range",
		"nil pointer", "goroutine", "unknown error while reading"} {
		if strings.Contains(err.Error(), text) {
			return err.Error()
		}
	}
	return ""
}
