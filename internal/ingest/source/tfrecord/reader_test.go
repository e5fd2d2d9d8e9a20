package tfrecord

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// opened writes a file of records and opens it, with spans of about blockBytes.
func opened(t *testing.T, name, text string, blockBytes int64) (*file, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(path, files.NewFile(f), source.Settings{Workers: 2, BlockBytes: blockBytes,
		Text: textvalue.DefaultDialect})
	if err != nil {
		f.Close()
		return nil, err
	}
	t.Cleanup(func() { r.Close() })
	return r.(*file), nil
}

// TestTheTypeOfAFeatureDoesNotDependOnSpans describes all combinations of three records: in one
// span, in a span each, and with the first or the last record in a span of its own.
func TestTheTypeOfAFeatureDoesNotDependOnSpans(t *testing.T) {
	describe := func(text string, blockBytes int64) string {
		f, err := opened(t, "x.tfrecord", text, blockBytes)
		if err != nil {
			return err.Error()
		}
		columns, err := f.Describe([]column.Want{{Index: 0}, {Index: 1}})
		if err != nil {
			return "refused"
		}
		return fmt.Sprint(columns)
	}
	values := []any{nil, []int64{}, []int64{1}, []int64{1, 2}, []float32{}, []float32{1},
		[]string{"a"}}
	for _, a := range values {
		for _, b := range values {
			for _, c := range values {
				var records [][]byte
				for _, x := range []any{a, b, c} {
					records = append(records,
						loadtest.Example(false, map[string]any{"always": []int64{1}, "x": x}))
				}
				text, first := loadtest.TFRecords(records...), len(loadtest.TFRecords(records[0]))
				want := describe(text, 1<<20)
				for _, blockBytes := range []int64{1, int64(first), int64(first) + 1} {
					if got := describe(text, blockBytes); got != want {
						t.Errorf("%v, %v, %v in spans of %d bytes: %s, want %s", a, b, c,
							blockBytes, got, want)
					}
				}
			}
		}
	}
}

func TestFeaturesAreCountedOverAllSpans(t *testing.T) {
	var records [][]byte
	for first := 0; first <= maxFeatures; first += maxFeatures / 2 {
		features := map[string]any{}
		for i := range maxFeatures / 2 {
			features[fmt.Sprint("f", first+i)] = []int64{1}
		}
		records = append(records, loadtest.Example(false, features))
	}
	_, err := opened(t, "many.tfrecord", loadtest.TFRecords(records...), 1)
	var refused *loaderr.SourceError
	if !errors.As(err, &refused) || refused.Row != 3 {
		t.Errorf("got %v, want row 3 refused", err)
	}
}

func TestAFileThatChangesIsRefusedAndNotDecoded(t *testing.T) {
	one := loadtest.Example(false, map[string]any{"x": []int64{1}, "pad": []string{"0123456789"}})
	text := loadtest.TFRecords(one, one)
	f, err := opened(t, "x.tfrecord", text, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	longer := ""
	for pad := 0; len(longer) < len(text); pad++ { // one record with as many bytes as text
		longer = loadtest.TFRecords(
			loadtest.Example(false, map[string]any{"pad": []string{strings.Repeat("0", pad)}}))
	}
	if len(longer) != len(text) {
		t.Fatalf("%d bytes, want %d", len(longer), len(text))
	}
	if err := os.WriteFile(f.name, []byte(longer), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := 0
	err = f.records(f.spans[0], func(int64, feature) error { return nil },
		func(int64) error { rows++; return nil })
	var refused *loaderr.SourceError
	if !errors.As(err, &refused) || rows != 1 {
		t.Errorf("%d rows and error %v, want the second row refused", rows, err)
	}
}
