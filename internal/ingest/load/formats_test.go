package load

import (
	"archive/zip"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestEveryFormatHasAReader compares the table of formats with the table of readers, which refer to
// a format by its name.
func TestEveryFormatHasAReader(t *testing.T) {
	readers := map[string]bool{}
	for _, r := range fileReaders {
		readers[r.format] = true
	}
	for _, f := range files.Formats {
		if readers[f.Name] == f.Text {
			t.Errorf("format %s: text %v, in the table of readers %v", f.Name, f.Text,
				readers[f.Name])
		}
		delete(readers, f.Name)
	}
	if len(readers) > 0 {
		t.Errorf("readers of formats that are not in the table of formats: %v", readers)
	}
}

func TestTextOptionsAreRefusedForOtherFormats(t *testing.T) {
	array := loadtest.NPY("<i8", "(2,)", false, binary.LittleEndian, []int64{1, 2})
	for name, text := range map[string]string{
		"x.npy":      array,
		"x.tfrecord": loadtest.TFRecords(loadtest.Example(false, map[string]any{"a": []int64{1}})),
	} {
		path := loadtest.File(t, name, text)
		_, _, err := loadInProcess(t, option.Options{Sources: []string{path}, Delimiter: ";"})
		if err == nil || !strings.Contains(err.Error(), "delimiter: want it only for CSV and TSV "+
			"files, not for "+path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPartitionsOfNumPyFilesAlone loads no array: only their numbers of rows count.
func TestPartitionsOfNumPyFilesAlone(t *testing.T) {
	one, two := loadtest.NPY("<i8", "(1,)", false, binary.LittleEndian, []int64{7}),
		loadtest.NPY("<i8", "(2,)", false, binary.LittleEndian, []int64{1, 2})
	root := writeTree(t, map[string]string{"k=5/x.npy": two, "k=6/x.npy": one})
	l := mustLoad(t, option.Options{Sources: []string{root}, Columns: []string{"k"}})
	if got := loadtest.Values[int64](l, "k"); !slices.Equal(got, []int64{5, 5, 6}) {
		t.Errorf("k %v, want 5 5 6", got)
	}
	uneven := loadtest.NPZ(t, zip.Store, map[string]string{"a.npy": one, "b.npy": two})
	root = writeTree(t, map[string]string{"k=5/x.npz": uneven})
	_, _, err := loadInProcess(t, option.Options{Sources: []string{root}, Columns: []string{"k"}})
	if err == nil || !strings.Contains(err.Error(), `has 2 rows, column "a" has 1`) {
		t.Errorf("arrays of 1 and 2 rows: %v", err)
	}
}

// TestTextThatBeginsLikeJSONIsRead loads CSV files whose first names are in brackets or braces.
func TestTextThatBeginsLikeJSONIsRead(t *testing.T) {
	for _, text := range []string{"[time],[a]\n1,2\n", "{a},b\n1,2\n", "<a>,b\n1,2\n",
		"CDF,BZh\n1,2\n", "Obj,ORC\n1,2\n"} {
		mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", text)}})
	}
	for name, text := range map[string]string{"x.json": "[1, 2]", "x": "  {\n \"a\": 1}",
		"x.txt": "\ufeff[ {\"a\": 1}]"} {
		_, _, err := loadInProcess(t, option.Options{
			Sources: []string{loadtest.File(t, name, text)}})
		loadtest.Refused(t, err, "is JSON, but not JSON Lines", "put the frame")
	}
}
