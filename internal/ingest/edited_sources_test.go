//go:build faults && unix

package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// filesOfEveryFormat returns files with a column x of the given number of rows, by the suffix of
// their format.
func filesOfEveryFormat(t *testing.T, rows int) map[string]string {
	t.Helper()
	var text strings.Builder
	text.WriteString("x\n")
	floats, records := make([]float64, rows), make([][]byte, rows)
	type row struct {
		X float64 `parquet:"x"`
	}
	table := make([]row, rows)
	for i := range rows {
		x := float64(i) + 0.25
		fmt.Fprintln(&text, x)
		floats[i], table[i].X = x, x
		records[i] = loadtest.Example(false, map[string]any{"x": []float32{float32(x)}})
	}
	var pq bytes.Buffer
	w := parquet.NewGenericWriter[row](&pq, parquet.MaxRowsPerRowGroup(int64(rows/4)))
	if _, err := w.Write(table); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Float64Builder).AppendValues(floats, nil)
	var stream bytes.Buffer
	s := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	if err := errors.Join(s.Write(b.NewRecord()), s.Close()); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"csv": text.String(), "csv.gz": loadtest.Compressed(t, ".gz", text.String()),
		"parquet": pq.String(),
		"arrows":  stream.String(),
		"npy": loadtest.NPY("<f8", fmt.Sprintf("(%d,)", rows), false,
			binary.LittleEndian, floats),
		"tfrecord": loadtest.TFRecords(records...),
	}
}

// TestSourcesEditedWhileTheyAreReadAreRefused blocks a load of two files in its child, after both
// are counted and the first is read, and then edits one of them.
func TestSourcesEditedWhileTheyAreReadAreRefused(t *testing.T) {
	edits := map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 1000) },
		"appended": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("7\n")
				err = errors.Join(err, f.Close())
			}
			return err
		},
		"overwritten": func(path string) error { // with the same size
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteAt(bytes.Repeat([]byte("7"), 600), 200)
				err = errors.Join(err, f.Close())
			}
			return err
		},
	}
	for format, good := range filesOfEveryFormat(t, 20_000) {
		for edit, do := range edits {
			// The load has read file 0 and not yet file 1.
			for which, name := range []string{"a." + format, "b." + format} {
				if which == 0 && edit != "truncated" {
					continue
				}
				t.Run(name+" "+edit, func(t *testing.T) {
					dir, earlier := t.TempDir(), time.Now().Add(-time.Hour)
					var paths []string
					for _, file := range []string{"a." + format, "b." + format} {
						path := filepath.Join(dir, file)
						if err := errors.Join(os.WriteFile(path, []byte(good), 0o600),
							os.Chtimes(path, earlier, earlier)); err != nil {
							t.Fatal(err)
						}
						paths = append(paths, path)
					}
					leftover, err := whileBlocked(t.Context(), t, "ingest.read#2",
						option.Options{Sources: paths},
						func() error { return do(paths[which]) })
					var s *loaderr.SourceError
					if !errors.As(err, &s) || s.Path != paths[which] ||
						s.Reason != "the file was changed while it was loaded" {
						t.Errorf("%v is %+v", err, s)
					}
					if len(leftover) > 0 {
						t.Errorf("%v is left", leftover)
					}
				})
			}
		}
	}
}

// whileBlocked starts a load in a child and calls act while the load is blocked at a fault point.
// leftover is the contents of the load's directory at the end.
func whileBlocked(ctx context.Context, t *testing.T, point string, o option.Options,
	act func() error) (leftover []os.DirEntry, err error) {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "hold")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TENSORCACHE_FAULT", "HOLD@"+point)
	t.Setenv("TENSORCACHE_HOLD", fifo)
	acted := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // blocks until the child opens it for reading
		select {
		case <-ended:
			err = errors.New("the load was not blocked")
		default:
			err = errors.Join(err, act())
		}
		acted <- errors.Join(err, f.Close())
	}()
	j := job(t, o)
	_, err = Run(ctx, os.Args[0], j, nil, nil)
	close(ended)
	// Unblock the goroutine if it still waits for a reader.
	f, openErr := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if openErr != nil {
		t.Fatal(openErr)
	}
	defer f.Close()
	if err := <-acted; err != nil {
		t.Fatal(err)
	}
	leftover, readErr := os.ReadDir(j.Dir)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return leftover, err
}
